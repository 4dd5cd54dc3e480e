package seeded

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestBalancedBlocks has a table of many blocks in which every value stands in
// blocks of its own: united and dealt, they hold the bound and all records.
func TestBalancedBlocks(t *testing.T) {
	t.Parallel()
	const records, size, values = 20_000, 100, 4
	d := workload.Generate(1, workload.Shape{Records: records, Attributes: 1, Distinct: 8, Sensitive: 1})
	var blocks []anonymizer.EquivalenceClass
	for i := range records {
		if i%size == 0 {
			blocks = append(blocks, nil)
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], int32(i))
		d.Sensitive[0][i] = uint32(last % values)
	}
	alpha := privacy.AlphaBound{Alpha: 0.3, Name: "s"}
	p := newPlan(d.Table(), privacy.ConstraintSet{privacy.KAnonymity{K: 4}, alpha}, true)
	var all []int32
	balanced := p.balanced(slices.Clone(blocks))
	for _, b := range balanced {
		if !p.bound.holds(b) {
			t.Errorf("a block of %d records exceeds the bound", len(b))
		}
		if len(b) > 2*size {
			t.Errorf("a block of %d records", len(b))
		}
		all = append(all, b...)
	}
	slices.Sort(all)
	if len(all) != records || len(slices.Compact(all)) != records {
		t.Errorf("%d of %d records", len(all), records)
	}
}

// TestTallies compares distances by tallies with those by members while records
// come, go and are exchanged.
func TestTallies(t *testing.T) {
	t.Parallel()
	d := workload.Generate(3, workload.Shape{Records: 200, Attributes: 7, Distinct: 9, Nulls: 0.2})
	s := newSpace(t.Context(), d.Table())
	c := s.newCluster([]int32{1, 50, 77, 119, 3})
	s.count(c)
	s.join(c, 10, 12, 14)
	for i := range int32(8) {
		s.replace(c, c.members[i], 150+i)
		plain := s.newCluster(c.members)
		for r := range int32(200) {
			if got, want := s.distance(r, c), s.distance(r, plain); abs(got-want) > 1e-5 {
				t.Fatalf("after %d exchanges record %d is at %v, %v expected", i+1, r, got, want)
			}
		}
	}
}
