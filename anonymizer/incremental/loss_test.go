package incremental_test

import (
	"math"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// classesOf are the partition's classes as a release of the records 0 to n-1.
func classesOf(p *incremental.Partition, n int) *anonymizer.Release {
	r := &anonymizer.Release{}
	places := map[incremental.ClassID]int{}
	for i := range n {
		class := p.ClassOf(incremental.RecordID(i))
		if class == 0 {
			r.Withheld = append(r.Withheld, int32(i))
			continue
		}
		if _, known := places[class]; !known {
			places[class] = len(r.Classes)
			r.Classes = append(r.Classes, nil)
		}
		r.Classes[places[class]] = append(r.Classes[places[class]], int32(i))
	}
	return r
}

// TestLossIsThatOfTheRelease: it is metric.TaxonomyGCP where nothing is hidden, no
// value is an inner node and no code is abbreviated, and metric.PublishedLoss of fixed
// intervals.
func TestLossIsThatOfTheRelease(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		data := workload.Generate(seed, workload.Shape{Records: 150, Attributes: 14, Distinct: 6, Sensitive: 4})
		var kept, fixed []int
		for a, spec := range data.Specs {
			switch {
			case hierarchy.Grain(data.Attributes[a].Hierarchy) != nil:
				fixed = append(fixed, a)
			case spec.Kind != hierarchy.Prefix:
				kept = append(kept, a)
			}
		}
		compareLoss(t, seed, data.Table().Project(kept), metric.TaxonomyGCP)
		compareLoss(t, seed, data.Table().Project(fixed), metric.PublishedLoss)
	}
}

// compareLoss inserts the records of a table, and compares the loss with a measure of the classes.
func compareLoss(t *testing.T, seed uint64, table *anonymizer.Table, measure func(*anonymizer.Table, *anonymizer.Release) float64) {
	t.Helper()
	p := incremental.New(table.Attributes(), privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, partition.RoundedPartition{}, incremental.Options{})
	for i := range table.Len() {
		r := incremental.Record{ID: incremental.RecordID(i)}
		for a := range table.Attributes() {
			r.Cells = append(r.Cells, table.Cells(a)[i])
		}
		if err := p.Insert(r); err != nil {
			t.Fatal(err)
		}
		if i%40 == 39 {
			p.Settle()
		}
	}
	if waiting := p.Loss(); waiting <= 10.0/150 {
		t.Errorf("seed %d: %v before 30 records have a class", seed, waiting)
	}
	p.Settle()
	want := measure(table, classesOf(p, table.Len()))
	if got := p.Loss(); math.Abs(got-want) > 1e-12 {
		t.Errorf("seed %d: a loss of %v, %v expected", seed, got, want)
	}
}

// TestLossAtTheEnds: nothing, everything and NULL.
func TestLossAtTheEnds(t *testing.T) {
	t.Parallel()
	number := workload.Attribute("n", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	for _, test := range []struct {
		name  string
		cells []float64
		want  float64
	}{
		{"empty", nil, 0},
		{"too few", []float64{1}, 1},
		{"equal", []float64{1, 1, 2, 2}, 0},
		{"one class", []float64{1, 2}, 1},
		{"half", []float64{1, 2, 3}, 1},
		{"NULL", []float64{math.NaN(), math.NaN()}, 1},
		{"huge", []float64{-math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, math.MaxFloat64 / 2}, 0.125},
	} {
		p := incremental.New([]anonymizer.Attribute{number}, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{})
		for i, cell := range test.cells {
			if err := p.Insert(incremental.Record{ID: incremental.RecordID(i), Cells: []hierarchy.Cell{cell}}); err != nil {
				t.Fatal(err)
			}
		}
		if p.Settle(); p.Loss() != test.want {
			t.Errorf("%s: a loss of %v, %v expected", test.name, p.Loss(), test.want)
		}
	}
}

// TestLossAllocatesNothingForAClass: only the measure of each attribute.
func TestLossAllocatesNothingForAClass(t *testing.T) {
	small, large := maintained(t, 200), maintained(t, 2000)
	few := testing.AllocsPerRun(5, func() { small.Loss() })
	if many := testing.AllocsPerRun(5, func() { large.Loss() }); many > few {
		t.Errorf("%v allocations for %d classes, %v for %d", many, large.Classes(), few, small.Classes())
	}
}
