package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

// TestLinkByHand: classes of 0 to 4 and 3 to 9 overlap, so that a target at 3 or 4 fits both.
func TestLinkByHand(t *testing.T) {
	t.Parallel()
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		t.Fatal(err)
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: "age", Hierarchy: h}},
		[][]hierarchy.Cell{{0, 4, 3, 9, 9}}, [][]uint32{{1, 1, 2, 1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	r := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3, 4}}}
	l := metric.Link(table, r, 100, 1)
	if l.Targets != 5 || l.Highest != 0.5 || math.Abs(l.Average-(1./2+1./5+1./5+1./3+1./3)/5) > 1e-12 {
		t.Errorf("%+v", l)
	}
	// Of 0: 1 is certain. Of 4 and 3: 1, three of five. Of both 9: three values, each once.
	if g := l.Guesses[0]; math.Abs(g.Right-(1+1+0+1./3+1./3)/5) > 1e-12 || g.Baseline != 0.6 {
		t.Errorf("%+v", g)
	}
}

// TestLinkIsNoBetterThanProsecutor compares a random release with the bound, and with counting by brute force.
func TestLinkIsNoBetterThanProsecutor(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		t.Fatal(err)
	}
	const n = 600
	cells := make([][]hierarchy.Cell, 2)
	subjects := make([]uint32, n)
	for i := range n {
		cells[0], cells[1] = append(cells[0], hierarchy.Cell(random.IntN(40))), append(cells[1], hierarchy.Cell(random.IntN(40)))
		subjects[i] = uint32(random.IntN(300))
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: "a", Hierarchy: h}, {Name: "b", Hierarchy: h}}, cells, nil)
	if err == nil {
		table, err = table.WithSubjects(subjects)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &anonymizer.Release{}
	for i := 0; i+6 <= n-60; i += 6 {
		r.Classes = append(r.Classes, anonymizer.EquivalenceClass{int32(i), int32(i + 1), int32(i + 2), int32(i + 3), int32(i + 4), int32(i + 5)})
	}
	l, bound := metric.Link(table, r, n, 7), metric.Prosecutor(table, r)
	average, highest := 0.0, 0.0
	for _, own := range r.Classes {
		for _, target := range own {
			rows := 0
			for _, class := range r.Classes {
				if persons := fitting(cells, subjects, class, target); persons > 0 {
					rows += persons
				}
			}
			average += 1 / float64(rows) / float64(6*len(r.Classes))
			highest = max(highest, 1/float64(rows))
		}
	}
	if l.Targets != 6*len(r.Classes) || math.Abs(l.Average-average) > 1e-12 || l.Highest != highest || l.Highest > bound.Highest || l.Average > bound.Average {
		t.Errorf("%+v, but %v and %v by brute force; prosecutor %+v", l, highest, average, bound)
	}
	if few := metric.Link(table, r, 10, 7); few.Targets != 10 || few.Highest > bound.Highest {
		t.Errorf("of ten targets %+v", few)
	}
}

// fitting is how many persons a class has if the target is within the ranges of its members.
func fitting(cells [][]hierarchy.Cell, subjects []uint32, class anonymizer.EquivalenceClass, target int32) int {
	for _, column := range cells {
		low, high := column[class[0]], column[class[0]]
		for _, i := range class {
			low, high = min(low, column[i]), max(high, column[i])
		}
		if column[target] < low || column[target] > high {
			return 0
		}
	}
	persons := map[uint32]bool{}
	for _, i := range class {
		persons[subjects[i]] = true
	}
	return len(persons)
}
