package people

import (
	"math"
	"slices"
)

// slot holds one row of each member of a class, which are published alike.
type slot struct {
	rows  []int32 // one for each list, in their order
	boxes []box
}

// aligner aligns lists of rows of one table: it finds slots, in the order of the
// lists, with one row of each list in every slot. Each goroutine has its own.
type aligner struct {
	table   *branch
	members [][]int32
	slots   []slot // reused by the next alignment, as all below
	order   []int
	cost    []float64 // of the best assignment of the first rows to the first slots
	skip    []bool    // whether that leaves the last of these rows out
}

// below lists the rows of the table below each of some parents.
func (a *aligner) below(parents []int32) [][]int32 {
	a.members = a.members[:0]
	for _, parent := range parents {
		a.members = append(a.members, a.table.below.of(parent))
	}
	return a.members
}

// prepare returns empty slots for so many rows each.
func (a *aligner) prepare(slots, rows int) []slot {
	a.slots = slices.Grow(a.slots[:0], slots)[:slots]
	for j := range a.slots {
		s := &a.slots[j]
		s.rows = slices.Grow(s.rows[:0], rows)[:rows]
		s.boxes = a.table.reset(s.boxes)
	}
	return a.slots
}

// refinements is how often the rows of each list are assigned again, to the slots that
// the others have made.
const refinements = 2

// align returns the slots, until it is called again: as many as the shortest list has
// rows. Rows without a slot are left out.
func (a *aligner) align(members [][]int32) []slot {
	shortest := 0
	for i, rows := range members {
		if len(rows) < len(members[shortest]) {
			shortest = i
		}
	}
	slots := a.prepare(len(members[shortest]), len(members))
	if len(slots) == 0 {
		return nil
	}
	order := a.order[:0]
	for i := range members {
		order = append(order, i)
	}
	a.order = order
	slices.SortStableFunc(order, func(x, y int) int { return len(members[x]) - len(members[y]) })
	for _, i := range order {
		a.assign(slots, i, members[i])
	}
	if len(members[order[len(order)-1]]) == len(slots) && a.table.Order >= 0 {
		return slots // there is no choice
	}
	for range refinements {
		for _, i := range order {
			if len(members[i]) == len(slots) {
				continue
			}
			a.without(slots, i)
			a.assign(slots, i, members[i])
		}
	}
	return slots
}

// without makes the boxes of the slots cover all lists but one.
func (a *aligner) without(slots []slot, list int) {
	for j := range slots {
		s := &slots[j]
		s.boxes = a.table.reset(s.boxes)
		for i, row := range s.rows {
			if i != list {
				a.table.include(s.boxes, row)
			}
		}
	}
}

// assign gives every slot a row of the list, in order, for the least added loss:
// cost(j, i), of the first j slots and the first i rows, is the lesser of cost(j, i-1)
// and cost(j-1, i-1) + added(j, i). Time O(slots * (rows - slots + 1)).
func (a *aligner) assign(slots []slot, list int, rows []int32) {
	spare := len(rows) - len(slots)
	width := spare + 1 // row i of slot j lies between j and j+spare
	a.cost = slices.Grow(a.cost[:0], (len(slots)+1)*width)[:(len(slots)+1)*width]
	a.skip = slices.Grow(a.skip[:0], (len(slots)+1)*width)[:(len(slots)+1)*width]
	for s := range width {
		a.cost[s] = 0
	}
	for j := range slots {
		before := a.table.loss(slots[j].boxes)
		last := math.Inf(1)
		for s := range width {
			cost := a.cost[j*width+s] + a.table.lossWith(slots[j].boxes, rows[j+s]) - before
			at := (j+1)*width + s
			a.skip[at] = last <= cost
			last = min(last, cost)
			a.cost[at] = last
		}
	}
	s := spare
	for j := len(slots) - 1; j >= 0; j-- {
		for a.skip[(j+1)*width+s] {
			s--
		}
		slots[j].rows[list] = rows[j+s]
		a.table.include(slots[j].boxes, rows[j+s])
	}
}
