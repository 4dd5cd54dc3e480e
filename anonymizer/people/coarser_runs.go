package people

import (
	"cmp"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// shownCells are finer cells of one attribute, by what is published of them.
type shownCells struct {
	labels []hierarchy.Generalization
	rows   []int
	owners [][]uint32 // who of each cell count: persons, or classes
}

func (c *shownCells) add(values []hierarchy.Generalization, rows int, owners []uint32) {
	if len(values) > 0 {
		c.labels = append(c.labels, values[0])
	}
	c.rows, c.owners = append(c.rows, rows), append(c.owners, owners)
}

// runsOf unites cells, which have k owners or more together, into runs of at least k owners: in the order of their beginnings, their middles or
// their ends, whichever loses least. In one order, dynamic programming finds the runs that lose least together. It gives nil unless there is
// one attribute, which shows ranges.
func runsOf(attributes []anonymizer.Attribute, cells shownCells, k int) (runs [][]int) {
	if len(attributes) != 1 {
		return nil
	}
	spans, lost := hierarchy.SpansOf(attributes[0].Hierarchy, cells.labels), math.Inf(1)
	if !spans.Ranged {
		return nil
	}
	for _, share := range [...]float64{0, 0.5, 1} {
		order := make([]int, len(cells.labels))
		for i := range order {
			order[i] = i
		}
		key := func(i int) float64 {
			if spans.Of[i].Hidden {
				return math.Inf(1)
			}
			return spans.Of[i].Least + share*(spans.Of[i].Greatest-spans.Of[i].Least)
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(key(x), key(y)) })
		r := runsIn{spans: spans, cells: cells, k: k, order: order}
		if found, loss := r.best(); loss < lost || runs == nil {
			runs, lost = found, loss
		}
	}
	return runs
}

// runsIn divides cells in an order.
type runsIn struct {
	spans hierarchy.Spans
	cells shownCells
	k     int
	order []int
}

// best gives the runs that lose least, and what they lose. A run that has twice as many owners as it needs, and as many more as a cell has,
// could be divided, so that longer ones are not tried.
func (r *runsIn) best() (runs [][]int, lost float64) {
	n, most := len(r.order), 2*r.k
	for _, owners := range r.cells.owners {
		most = max(most, 2*r.k+len(owners))
	}
	least, from := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		least[end] = math.Inf(1)
		owners, rows, covered := make(map[uint32]struct{}), 0, r.spans.Of[r.order[end-1]]
		for start := end - 1; start >= 0 && len(owners) < most; start-- {
			at := r.order[start]
			rows, covered = rows+r.cells.rows[at], covered.Join(r.spans.Of[at])
			for _, owner := range r.cells.owners[at] {
				owners[owner] = struct{}{}
			}
			if loss := least[start] + r.spans.Lost(covered)*float64(rows); len(owners) >= r.k && loss < least[end] {
				least[end], from[end] = loss, start
			}
		}
	}
	for end := n; end > 0; end = from[end] {
		runs = append(runs, slices.Clone(r.order[from[end]:end]))
	}
	slices.Reverse(runs)
	return runs, least[n]
}

// runs unites finer cells as runsOf does; nil where it gives none.
func (u *coarserUnit) runs(table int, of []*atom) [][]*atom {
	t, cells := &u.of.tables[table], shownCells{}
	for _, a := range of {
		var owners []uint32
		for id := range a.rows {
			person, _ := u.of.person(table, t.find(id))
			owners = append(owners, uint32(person))
		}
		cells.add(a.values, len(a.rows), owners)
	}
	return pick(of, runsOf(u.attributes[table+1], cells, u.k))
}

// pick gives what stands at some places.
func pick[T any](of []T, places [][]int) (picked [][]T) {
	for _, run := range places {
		part := make([]T, len(run))
		for i, at := range run {
			part[i] = of[at]
		}
		picked = append(picked, part)
	}
	return picked
}
