package recoding

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestMaximalAnonymousSubset: of all subsets of tiny tables, the union of the
// anonymous ones is anonymous, and it is what both ways find.
func TestMaximalAnonymousSubset(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 0))
		d := workload.Generate(seed, workload.Shape{
			Records: 1 + random.IntN(10), Attributes: 3, Distinct: 2 + int(seed%2), Nulls: 0.1, Sensitive: 3,
		})
		if seed%3 == 0 {
			for range d.Cells[0] {
				d.Subjects = append(d.Subjects, random.Uint32N(6))
			}
		}
		c := privacy.ConstraintSet{
			privacy.KAnonymity{K: 1 + random.IntN(4), Over: []int{0, 1}},
			privacy.KAnonymity{K: 1 + random.IntN(4), Over: []int{1, 2}},
		}
		switch seed % 4 {
		case 0:
			c = append(c, privacy.KAnonymity{K: 2, Over: []int{2}})
		case 1:
			c = append(c, privacy.DistinctDiversity{L: 2})
		}
		want := largestSubset(d, c)
		if want&(1<<63) != 0 {
			t.Fatalf("seed %d: the union of anonymous subsets is not anonymous", seed)
		}
		for _, stepwise := range []bool{false, true} {
			if got := foundSubset(t, d.Table(), c, stepwise); got != want {
				t.Fatalf("seed %d, stepwise %v: records %b, %b expected", seed, stepwise, got, want)
			}
		}
	}
}

// largestSubset is the union of all anonymous subsets of the records, as bits;
// the highest bit says that this is not anonymous itself.
func largestSubset(d *workload.Data, c privacy.ConstraintSet) uint64 {
	n := len(d.Cells[0])
	union := uint64(0)
	for subset := range uint64(1) << n {
		if isAnonymous(d, c, subset) {
			union |= subset
		}
	}
	if !isAnonymous(d, c, union) {
		union |= 1 << 63
	}
	return union
}

func isAnonymous(d *workload.Data, c privacy.ConstraintSet, subset uint64) bool {
	var records []int32
	for i := range d.Cells[0] {
		if subset&(1<<i) != 0 {
			records = append(records, int32(i))
		}
	}
	text := func(a int, i int32) string { return d.Raw[a][i] }
	return violators(d, c, records, text) == nil
}

func foundSubset(t *testing.T, table *anonymizer.Table, c privacy.ConstraintSet, stepwise bool) uint64 {
	t.Helper()
	ts, err := newTuples(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := anonymous(context.Background(), table, ts, newDemands(c, 3), stepwise)
	if err != nil {
		t.Fatal(err)
	}
	found := uint64(0)
	for tuple, keep := range kept {
		if keep {
			ts.of(int32(tuple), func(r int32) { found |= 1 << r })
		}
	}
	return found
}

// violators are the first records found that violate a constraint among the
// records given, nil for none; text is what is published of a record.
func violators(d *workload.Data, c privacy.ConstraintSet, records []int32, text func(a int, i int32) string) []int32 {
	for _, constraint := range c {
		if bad := violatorsOf(d, constraint, records, text); bad != nil {
			return bad
		}
	}
	return nil
}

func violatorsOf(d *workload.Data, constraint privacy.Constraint, records []int32, text func(a int, i int32) string) []int32 {
	over := upTo(len(d.Attributes))
	if k, counts := constraint.(privacy.KAnonymity); counts && k.Over != nil {
		over = k.Over
	}
	groups := map[string][]int32{}
	var keys []string
	for _, i := range records {
		key := ""
		for _, a := range over {
			key += text(a, i) + "\x01"
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], i)
	}
	var every []int32
	for i := range d.Table().Len() {
		every = append(every, int32(i))
	}
	whole := groupOf(d, every).Counted()
	for _, key := range keys {
		if anonymizertest.CheckConstraints(groupOf(d, groups[key]), whole, privacy.ConstraintSet{constraint}) != nil {
			return groups[key]
		}
	}
	return nil
}

func groupOf(d *workload.Data, records []int32) anonymizertest.Group {
	g := anonymizertest.Group{Records: len(records), Sensitive: make([][]uint32, len(d.Sensitive))}
	for _, i := range records {
		for s, column := range d.Sensitive {
			g.Sensitive[s] = append(g.Sensitive[s], column[i])
		}
		if d.Subjects != nil {
			g.Subjects = append(g.Subjects, d.Subjects[i])
		}
	}
	return g
}
