package lookahead

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// newTestSearch is over classes made by chance.
func newTestSearch(t *testing.T, table *anonymizer.Table, k int, random *rand.Rand) *search {
	t.Helper()
	d := newDivision(context.Background(), table, kAnonymous(k), anonymizer.Fast, anonymizer.Options{})
	s := &search{division: d, of: make([]*class, table.Len()), lane: make([]int32, table.Len()), place: make([]int32, table.Len()), order: append([]int32(nil), d.records...)}
	for from := 0; from < table.Len(); {
		to := from + k + random.IntN(k)
		if table.Len()-to < k {
			to = table.Len()
		}
		s.classes = append(s.classes, s.newClass(append([]int32(nil), d.records[from:to]...), 0))
		from = to
	}
	return s
}

func (s *search) release() *anonymizer.Release {
	r := &anonymizer.Release{}
	for _, k := range s.classes {
		r.Classes = append(r.Classes, k.members)
	}
	return r
}

// TestPassesLoseLess: from classes made by chance, every pass lessens the loss, keeps all
// records and sizes, and what is known of the classes is true.
func TestPassesLoseLess(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 1))
	table := workload.AdultLike(6, 2*laneRecords+100)
	s := newTestSearch(t, table, 5, random)
	before := metric.PublishedLoss(table, s.release())
	first := before
	for pass := range 4 {
		s.pass(t.Context(), random, pass == 2)
		lost := metric.PublishedLoss(table, s.release())
		if lost > before {
			t.Errorf("pass %d: %.4f is lost, %.4f before", pass, lost, before)
		}
		before = lost
		seen := make([]bool, table.Len())
		for _, k := range s.classes {
			if n := len(k.members); n < 5 || n >= 10 {
				t.Fatalf("pass %d: a class of %d", pass, n)
			}
			for _, r := range k.members {
				if seen[r] || s.of[r] != k {
					t.Fatalf("pass %d: record %d is in two classes, or in another", pass, r)
				}
				seen[r] = true
			}
			known := k.loss
			if s.measure(k); math.Abs(float64(known-k.loss)) > 1e-5 {
				t.Fatalf("pass %d: a class loses %v, not %v", pass, k.loss, known)
			}
		}
		for r, there := range seen {
			if !there {
				t.Fatalf("pass %d: record %d is lost", pass, r)
			}
		}
	}
	if before > 0.7*first {
		t.Errorf("%.4f is lost after four passes, %.4f before", before, first)
	}
}

// TestLargeClassesStay: of two classes, each has a record that suits the other. They are exchanged, unless
// the classes are large: that would take the square of their members.
func TestLargeClassesStay(t *testing.T) {
	t.Parallel()
	for _, k := range []int{5, mostMembers, mostMembers + 1} {
		cells := make([]hierarchy.Cell, 2*k)
		for i := range k - 1 {
			cells[i+1] = 1000
		}
		cells[k] = 1000
		number := workload.Attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
		table, err := anonymizer.NewTable([]anonymizer.Attribute{number}, [][]hierarchy.Cell{cells}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := newTestSearch(t, table, k, rand.New(rand.NewPCG(3, 3)))
		all := s.order
		slices.Sort(all)
		s.classes = []*class{s.newClass(slices.Clone(all[:k]), 0), s.newClass(slices.Clone(all[k:]), 0)}
		s.pass(t.Context(), rand.New(rand.NewPCG(1, 1)), false)
		if lost := metric.PublishedLoss(table, s.release()); lost != 0 && k <= mostMembers || lost != 1 && k > mostMembers {
			t.Errorf("k=%d: %v is lost", k, lost)
		}
	}
}

// TestChangedClasses compares what a class would lose after a change with what it then loses.
func TestChangedClasses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 6))
	table := workload.Generate(3, workload.Shape{Records: 300, Attributes: 14, Distinct: 6, Nulls: 0.1}).Table()
	s := newTestSearch(t, table, 3, random)
	for range 500 {
		k := s.classes[random.IntN(len(s.classes))]
		member, other := k.members[random.IntN(len(k.members))], s.order[random.IntN(len(s.order))]
		of := func(members []int32) float32 {
			c := s.newClass(members, 0)
			for _, r := range members {
				s.of[r] = k
			}
			return c.loss
		}
		var rest []int32
		for _, r := range k.members {
			if r != member {
				rest = append(rest, r)
			}
		}
		for name, pair := range map[string][2]float32{
			"with":      {s.with(k, other), of(append(append([]int32(nil), k.members...), other))},
			"without":   {s.without(k, member), of(rest)},
			"exchanged": {s.exchanged(k, member, other), of(append(append([]int32(nil), rest...), other))},
		} {
			if math.Abs(float64(pair[0]-pair[1])) > 1e-4 {
				t.Fatalf("%s: %v, true is %v", name, pair[0], pair[1])
			}
		}
	}
}
