package metric

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Run is what another program publishes of an attribute of a class: the value lies between
// two positions on the attribute's axis (hierarchy.Hierarchy.Position), both included.
// Numbers, dates, ordered values and those of a taxonomy have positions; the values below a
// node of a taxonomy are a run.
type Run struct{ Low, High float64 }

// Anything is the run that says nothing.
var Anything = Run{math.Inf(-1), math.Inf(1)}

// RunsLoss is PublishedLoss of a release that publishes runs, for each class and attribute,
// in place of what Hierarchy.Generalize says of the members: 1 for Anything, the part of the
// width for numbers and dates, else the column's values in the run by all its values, 0 for
// one. The table has no NULL.
func RunsLoss(t *anonymizer.Table, r *anonymizer.Release, published [][]Run) float64 {
	return mean(t, r, func(a int) func(e int) float64 {
		kind := t.Attributes()[a].Hierarchy.Kind()
		measured := kind == hierarchy.Numeric || kind == hierarchy.Date
		positions := positionsOf(t, a)
		return func(e int) float64 {
			run := published[e][a]
			if run == Anything {
				return 1
			}
			if !measured {
				first, beyond := run.among(positions)
				return countShare(beyond-first, len(positions))
			}
			domain, covered := emptyExtent, emptyExtent
			domain.include(positions[0])
			domain.include(positions[len(positions)-1])
			covered.include(max(run.Low, domain.low))
			covered.include(min(run.High, domain.high))
			return covered.share(domain)
		}
	})
}

// RunsQueryError is QueryError of a release that publishes runs. The table has no NULL.
func RunsQueryError(t *anonymizer.Table, r *anonymizer.Release, published [][]Run, q Queries) float64 {
	return median(q.errorsOf(t, r, func(s *scale, a int) []interval {
		positions := positionsOf(t, a)
		covered := make([]interval, len(published))
		for e := range published {
			first, beyond := published[e][a].among(positions)
			covered[e] = s.place(span{int32(first), int32(beyond - 1)})
			if s.measured {
				run, all := published[e][a], s.place(span{0, int32(len(positions) - 1)})
				covered[e] = interval{max(run.Low, all.low), min(run.High, all.high)}
			}
		}
		return covered
	}))
}

// positionsOf are the different positions of a column's values, in order.
func positionsOf(t *anonymizer.Table, a int) []float64 {
	h := t.Attributes()[a].Hierarchy
	different := map[float64]bool{}
	for _, c := range t.Cells(a) {
		different[h.Position(c)] = true
	}
	positions := make([]float64, 0, len(different))
	for position := range different {
		positions = append(positions, position)
	}
	slices.Sort(positions)
	return positions
}

// among are the places of the first of the positions in the run, and of the first beyond it.
func (r Run) among(positions []float64) (first, beyond int) {
	first, _ = slices.BinarySearch(positions, r.Low)
	beyond, found := slices.BinarySearch(positions, r.High)
	if found {
		beyond++
	}
	return first, beyond
}
