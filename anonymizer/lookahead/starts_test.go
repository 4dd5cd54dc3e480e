package lookahead

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/agglomerative"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/hilbert"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/recoding"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// numbers is a table of numeric attributes.
func numbers(t *testing.T, records, attributes int, value func(record, attribute int) float64) *anonymizer.Table {
	t.Helper()
	list, cells := []anonymizer.Attribute{}, [][]hierarchy.Cell{}
	for a := range attributes {
		list = append(list, workload.Attribute(fmt.Sprint("n", a), hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}))
		column := make([]hierarchy.Cell, records)
		for i := range column {
			column[i] = value(i, a)
		}
		cells = append(cells, column)
	}
	table, err := anonymizer.NewTable(list, cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// tables are such as one method or the other suits.
func tables(t *testing.T) map[string]*anonymizer.Table {
	random := rand.New(rand.NewPCG(8, 1))
	return map[string]*anonymizer.Table{
		"uniform":  numbers(t, 1000, 2, func(int, int) float64 { return random.Float64() }),
		"clusters": numbers(t, 1000, 4, func(i, a int) float64 { return float64(i%7*37+a*91%100) + 3*random.NormFloat64() }),
		"ties":     numbers(t, 1000, 2, func(_, a int) float64 { return float64(random.IntN(20 + 30*a)) }),
		"census":   workload.Census(3, 600).Table(),
		"mixed":    workload.Generate(1, workload.Shape{Records: 700, Attributes: 5, Distinct: 60}).Table(),
	}
}

// TestNoMethodLosesLess: whatever method suits a table, no other loses less.
func TestNoMethodLosesLess(t *testing.T) {
	t.Parallel()
	others := []anonymizer.Method{
		partition.RoundedPartition{}, hilbert.Hilbert{}, recoding.Classfly{}, partition.Mondrian{}, recoding.Datafly{}, agglomerative.BottomUp{},
	}
	for name, table := range tables(t) {
		for _, k := range []int{5, 30} {
			own := metric.PublishedLoss(table, run(t, table, kAnonymous(k), anonymizer.Best))
			for _, other := range others {
				r, err := other.Anonymize(t.Context(), table, kAnonymous(k), anonymizer.Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				if loss := metric.PublishedLoss(table, r); loss < own {
					t.Errorf("%s, k = %d: %s loses %.4f, and lookahead-partition %.4f", name, k, other.Name(), loss, own)
				}
			}
		}
	}
}

// TestCutsOfRanges: the cuts alone lose about as little as those of RoundedPartition where all
// attributes are ranges, which it is made for.
func TestCutsOfRanges(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"uniform", "clusters"} {
		table := tables(t)[name]
		for _, k := range []int{5, 30} {
			d := newDivision(t.Context(), table, kAnonymous(k), anonymizer.Fast, anonymizer.Options{})
			newCutter(d).divide(t.Context(), 0, d.records)
			rounded, err := partition.RoundedPartition{}.Anonymize(t.Context(), table, kAnonymous(k), anonymizer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if own, other := d.lossOf(d.classes()), metric.PublishedLoss(table, rounded); own > 1.08*other {
				t.Errorf("%s, k = %d: cuts lose %.4f, RoundedPartition %.4f", name, k, own, other)
			}
			if least := len(rounded.Classes) * 19 / 20; len(d.classes()) < least {
				t.Errorf("%s, k = %d: %d classes, of %d that there can be", name, k, len(d.classes()), len(rounded.Classes))
			}
		}
	}
}

// TestWithheld: what another method withholds is in a class.
func TestWithheld(t *testing.T) {
	t.Parallel()
	table := numbers(t, 20, 1, func(i, _ int) float64 { return float64(i) })
	d := newDivision(t.Context(), table, kAnonymous(5), anonymizer.Fast, anonymizer.Options{})
	some := func(from, to int32) (class anonymizer.EquivalenceClass) {
		for i := from; i < to; i++ {
			class = append(class, i)
		}
		return class
	}
	for _, c := range []struct {
		r     anonymizer.Release
		sizes string
		all   bool
	}{
		{anonymizer.Release{Classes: []anonymizer.EquivalenceClass{some(0, 10), some(10, 20)}}, "[10 10]", true},
		{anonymizer.Release{Classes: []anonymizer.EquivalenceClass{some(0, 14)}, Withheld: some(14, 20)}, "[14 6]", true},
		{anonymizer.Release{Classes: []anonymizer.EquivalenceClass{some(0, 11), some(11, 17)}, Withheld: some(17, 20)}, "[11 9]", true},
		{anonymizer.Release{Withheld: some(0, 4)}, "[]", false},
	} {
		classes, all := d.withWithheld(&c.r)
		sizes := []int{}
		for _, class := range classes {
			sizes = append(sizes, len(class))
		}
		if all != c.all || fmt.Sprint(sizes) != c.sizes {
			t.Errorf("classes of %v, all records: %t; expected %v and %t", sizes, all, c.sizes, c.all)
		}
	}
}
