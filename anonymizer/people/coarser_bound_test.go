package people_test

import (
	"cmp"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// leastOfUnions is what rows of the first table, of one attribute, lose at the least, in whatever way the finer cells of a union of
// classes and window are united to cells of k persons: such a cell covers the least range that holds the finer one and others of
// k persons together. Cells without keys, and those of less than k persons in all, count as they are.
func leastOfUnions(d *people.Data, finer, coarser *people.MaintainedChanges, k int) float64 {
	group := map[incremental.RecordID]int64{} // of persons
	for _, cell := range coarser.Root.Cells {
		for _, r := range cell.Rows {
			group[r.ID] = cell.ID
		}
	}
	cells := finer.Tables[0].Cells
	labels := make([]hierarchy.Generalization, len(cells))
	for i := range cells {
		labels[i] = cells[i].Values[0]
	}
	spans := hierarchy.SpansOf(d.Tables[0].Rows.Attributes()[0].Hierarchy, labels)
	type frame struct {
		group  int64
		window int32
	}
	frames, rows, lost := map[frame][]placedCell{}, 0, 0.0
	for i, cell := range cells {
		rows += len(cell.Rows)
		if cell.Pooled {
			lost += float64(len(cell.Rows)) * spans.Lost(spans.Of[i])
			continue
		}
		at, persons := frame{}, map[int32]bool{}
		for _, r := range cell.Rows {
			person := d.Tables[0].Of[r.ID-1]
			persons[person] = true
			at = frame{group[incremental.RecordID(person+1)], d.Tables[0].Window[r.ID-1]}
		}
		frames[at] = append(frames[at], placedCell{spans.Of[i], persons, len(cell.Rows)})
	}
	for _, of := range frames {
		slices.SortFunc(of, func(a, b placedCell) int { return cmp.Compare(a.Greatest, b.Greatest) })
		for _, cell := range of {
			lost += float64(cell.rows) * leastAround(cell, of, k, spans)
		}
	}
	return lost / float64(rows)
}

// placedCell is a finer cell on the axis.
type placedCell struct {
	hierarchy.Span
	persons map[int32]bool
	rows    int
}

// leastAround is what the least range loses that holds a cell and others of k persons together. All are in the order of their ends.
func leastAround(cell placedCell, all []placedCell, k int, spans hierarchy.Spans) float64 {
	best := math.Inf(1)
	for _, first := range all {
		if first.Least > cell.Least {
			continue
		}
		persons := map[int32]bool{}
		for _, other := range all {
			if other.Least < first.Least {
				continue
			}
			for p := range other.persons {
				persons[p] = true
			}
			if len(persons) >= k && other.Greatest >= cell.Greatest {
				best = min(best, spans.Share(first.Least, other.Greatest))
				break
			}
		}
	}
	if math.IsInf(best, 1) {
		return spans.Lost(cell.Span)
	}
	return best
}
