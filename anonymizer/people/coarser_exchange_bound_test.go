package people_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// finerClass is a class of the finest release, with the cells of its visits.
type finerClass struct {
	root    []hierarchy.Span
	persons int
	windows [][]placedVisits
}

// placedVisits is a finer cell of visits.
type placedVisits struct {
	hierarchy.Span
	persons []int32
	rows    int
}

// exchangedClasses are groups of finer classes that change places between any two groups while the loss of root values, by a weight, and
// of visits in cells of k persons is less then. So they show what visits can gain where one row is known, and what root rows pay for it.
type exchangedClasses struct {
	axes          []hierarchy.Spans // of the root
	dates         hierarchy.Spans
	classes       []finerClass
	groups        [][]int
	least, k      int
	persons, rows int
	weight        float64
}

// newExchangedClasses takes groups as a coarser release has them.
func newExchangedClasses(d *people.Data, finer, coarser *people.MaintainedChanges, windows, least, k int) *exchangedClasses {
	e := &exchangedClasses{least: least, k: k, axes: make([]hierarchy.Spans, len(d.Root.Attributes()))}
	classOf, groupOf := map[incremental.RecordID]int{}, map[incremental.RecordID]int{}
	for i, cell := range coarser.Root.Cells {
		for _, r := range cell.Rows {
			groupOf[r.ID] = i
		}
	}
	e.groups = make([][]int, len(coarser.Root.Cells))
	for class, cell := range finer.Root.Cells {
		for _, r := range cell.Rows {
			classOf[r.ID] = class
		}
		e.persons += len(cell.Rows)
		e.classes = append(e.classes, finerClass{persons: len(cell.Rows), windows: make([][]placedVisits, windows)})
		e.groups[groupOf[cell.Rows[0].ID]] = append(e.groups[groupOf[cell.Rows[0].ID]], class)
	}
	for a, attribute := range d.Root.Attributes() {
		labels := make([]hierarchy.Generalization, len(finer.Root.Cells))
		for i, cell := range finer.Root.Cells {
			labels[i] = cell.Values[a]
		}
		e.axes[a] = hierarchy.SpansOf(attribute.Hierarchy, labels)
		for i := range e.classes {
			e.classes[i].root = append(e.classes[i].root, e.axes[a].Of[i])
		}
	}
	cells := finer.Tables[0].Cells
	labels := make([]hierarchy.Generalization, len(cells))
	for i := range cells {
		labels[i] = cells[i].Values[0]
	}
	e.dates = hierarchy.SpansOf(d.Tables[0].Rows.Attributes()[0].Hierarchy, labels)
	for i, cell := range cells {
		if cell.Pooled {
			continue
		}
		at := placedVisits{Span: e.dates.Of[i], rows: len(cell.Rows)}
		for _, r := range cell.Rows {
			if person := d.Tables[0].Of[r.ID-1]; !slices.Contains(at.persons, person) {
				at.persons = append(at.persons, person)
			}
		}
		e.rows += at.rows
		class, window := &e.classes[classOf[incremental.RecordID(at.persons[0]+1)]], d.Tables[0].Window[cell.Rows[0].ID-1]
		class.windows[window] = append(class.windows[window], at)
	}
	return e
}

// lossOf is what the root rows and the visits of a group lose, summed over rows.
func (e *exchangedClasses) lossOf(group []int) (root, visits float64) {
	for a := range e.axes {
		covered := e.classes[group[0]].root[a]
		for _, class := range group[1:] {
			covered = covered.Join(e.classes[class].root[a])
		}
		root += e.axes[a].Lost(covered)
	}
	var cells []placedVisits
	for window := range e.classes[group[0]].windows {
		cells = cells[:0]
		for _, class := range group {
			cells = append(cells, e.classes[class].windows[window]...)
		}
		visits += e.united(cells)
	}
	return root / float64(len(e.axes)) * float64(e.size(group)), visits
}

// united is the least that cells lose in runs of k persons, in the order of their middles.
func (e *exchangedClasses) united(cells []placedVisits) float64 {
	slices.SortFunc(cells, func(a, b placedVisits) int { return cmp.Compare(a.Least+a.Greatest, b.Least+b.Greatest) })
	least, persons := make([]float64, len(cells)+1), []int32(nil)
	for end := 1; end <= len(cells); end++ {
		least[end], persons = math.Inf(1), persons[:0]
		covered, rows := cells[end-1].Span, 0
		for start := end - 1; start >= 0 && len(persons) < 2*e.k; start-- {
			covered, rows = covered.Join(cells[start].Span), rows+cells[start].rows
			for _, person := range cells[start].persons {
				if !slices.Contains(persons, person) {
					persons = append(persons, person)
				}
			}
			if len(persons) >= e.k {
				least[end] = min(least[end], least[start]+e.dates.Lost(covered)*float64(rows))
			}
		}
	}
	return least[len(cells)]
}

func (e *exchangedClasses) size(group []int) (persons int) {
	for _, class := range group {
		persons += e.classes[class].persons
	}
	return persons
}

// weighed is what a group loses; a row of the root counts as much as all visits of a person do on average, times the weight.
func (e *exchangedClasses) weighed(group []int) float64 {
	root, visits := e.lossOf(group)
	return e.weight*root + visits*float64(e.persons)/float64(e.rows)
}

// exchange runs until nothing gains, or a number of times.
func (e *exchangedClasses) exchange(ctx context.Context, sweeps int) {
	losses := make([]float64, len(e.groups))
	for i, group := range e.groups {
		losses[i] = e.weighed(group)
	}
	for changed := true; changed && sweeps > 0 && ctx.Err() == nil; sweeps-- {
		changed = false
		for i, one := range e.groups {
			for j, other := range e.groups[:i] {
				for at := range len(one) * len(other) {
					x, y := at/len(other), at%len(other)
					one[x], other[y] = other[y], one[x]
					if e.size(one) >= e.least && e.size(other) >= e.least {
						first, second := e.weighed(one), e.weighed(other)
						if first+second < losses[i]+losses[j]-1e-9 {
							losses[i], losses[j], changed = first, second, true
							continue
						}
					}
					one[x], other[y] = other[y], one[x]
				}
			}
		}
	}
}

// losses are the shares of the information that root rows and visits lose.
func (e *exchangedClasses) losses() (root, visits float64) {
	for _, group := range e.groups {
		r, v := e.lossOf(group)
		root, visits = root+r, visits+v
	}
	return root / float64(e.persons), visits / float64(e.rows)
}

// BenchmarkClassesByVisits measures what visits gain, and root rows pay, where one row is known and groups of a release for an audience choose
// their classes by what visits lose in their cells, too.
func BenchmarkClassesByVisits(b *testing.B) {
	d := hospital{persons: *benchmarked, visits: 3, flat: true, windows: 3}.data(1)
	shape := shapeOf(d)
	for _, k := range []int{25, 50} {
		finer, coarser, alone := unitedAndAlone(b, d, people.Knows{}, k)
		aloneRoot, _ := lossOf(shape.Root, alone.Root.Cells)
		aloneVisits, _ := lossOf(shape.Tables[0].Attributes, alone.Tables[0].Cells)
		for _, weight := range []float64{1, 0.2, 0.05, 0.01, 0} {
			b.Run(fmt.Sprintf("k=%d/root=%v", k, weight), func(b *testing.B) {
				for b.Loop() {
					e := newExchangedClasses(d, finer, coarser, 3, 8*k, k)
					e.weight = weight
					root, visits := e.losses()
					b.ReportMetric(100*root, "before-root-%")
					b.ReportMetric(100*visits, "before-visits-%")
					e.exchange(b.Context(), 6)
					root, visits = e.losses()
					b.ReportMetric(100*root, "root-%")
					b.ReportMetric(100*visits, "visits-%")
					b.ReportMetric(100*aloneRoot, "alone-root-%")
					b.ReportMetric(100*aloneVisits, "alone-visits-%")
				}
			})
		}
	}
}
