package people

import (
	"cmp"
	"math"
	"slices"
)

// divider cuts rows of one table into cells of at least k persons that lose little.
// Each goroutine has its own.
type divider struct {
	*releasing
	table  *branch
	window int32   // whose values count for the constraints; -1: of all windows
	seen   []int32 // of each person: the mark of the last count
	mark   int32
	boxes  []box
}

func newDivider(r *releasing, table *branch, window int32) *divider {
	return &divider{releasing: r, table: table, window: window, seen: make([]int32, r.data.Root.Len())}
}

// cells returns the rows that keep their keys and are published alike. Rows that no outsider
// knows are not hidden among those of others.
func (d *divider) cells(rows []int32) [][]int32 {
	switch {
	case !d.table.Unknown:
		return d.divide(rows)
	case len(rows) == 0:
		return nil
	}
	return [][]int32{rows}
}

// divide returns the cells, or nil where all rows together are no cell.
func (d *divider) divide(rows []int32) [][]int32 {
	if !d.cell(rows) {
		return nil
	}
	return d.cut(slices.Clone(rows))
}

// cell reports whether rows may be a cell: enough persons who satisfy the constraints.
func (d *divider) cell(rows []int32) bool {
	if d.persons(rows) < d.k {
		return false
	}
	return d.sizeDecides() || d.holds(d.personsOf(rows), d.window)
}

// persons counts the persons of some rows.
func (d *divider) persons(rows []int32) int {
	d.mark++
	n := 0
	for _, row := range rows {
		if p := d.table.person[row]; d.seen[p] != d.mark {
			d.seen[p] = d.mark
			n++
		}
	}
	return n
}

func (d *divider) personsOf(rows []int32) []int32 {
	d.mark++
	var persons []int32
	for _, row := range rows {
		if p := d.table.person[row]; d.seen[p] != d.mark {
			d.seen[p] = d.mark
			persons = append(persons, p)
		}
	}
	return persons
}

// runsSize bounds the rows that runs looks at.
const runsSize = 512

// cut divides rows that are a cell into smaller ones: by the best line across one
// attribute and so on, or, where they are few, into runs along one, whichever loses
// less. Rows are sorted.
func (d *divider) cut(rows []int32) [][]int32 {
	best, loss := [][]int32{rows}, d.lossOf(rows)
	if loss == 0 {
		return best
	}
	if len(rows) <= runsSize && d.sizeDecides() {
		for a := range d.table.positions {
			if cells, l := d.runs(d.sorted(rows, a)); l < loss {
				best, loss = cells, l
			}
		}
	}
	if len(rows) > runsSize || len(d.table.positions) > 1 || !d.sizeDecides() {
		if left, right := d.line(rows); left != nil {
			cells := slices.Concat(d.cut(left), d.cut(right))
			if len(rows) > runsSize || d.lossOfCells(cells) < loss {
				return cells
			}
		}
	}
	return best
}

func (d *divider) lossOf(rows []int32) float64 {
	return d.table.lossOfRows(rows) * float64(len(rows))
}

func (d *divider) lossOfCells(cells [][]int32) float64 {
	sum := 0.0
	for _, rows := range cells {
		sum += d.lossOf(rows)
	}
	return sum
}

// sorted returns the rows in the order of an attribute.
func (d *divider) sorted(rows []int32, attribute int) []int32 {
	positions := d.table.positions[attribute]
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(x, y int32) int {
		return cmp.Or(compareOffLast(positions[x], positions[y]), cmp.Compare(x, y))
	})
	return sorted
}

// runs divides sorted rows into runs of k to 2k-1 persons each that lose least
// together, by dynamic programming: a run of 2k persons can always be divided. Where
// it cannot, the loss is infinite.
func (d *divider) runs(rows []int32) ([][]int32, float64) {
	least := make([]float64, len(rows)+1) // loss of the first rows
	from := make([]int, len(rows)+1)
	for end := 1; end <= len(rows); end++ {
		least[end] = math.Inf(1)
		d.mark++
		d.boxes = d.table.reset(d.boxes)
		persons := 0
		for start := end - 1; start >= 0; start-- {
			if p := d.table.person[rows[start]]; d.seen[p] != d.mark {
				d.seen[p] = d.mark
				if persons++; persons == 2*d.k {
					break
				}
			}
			d.table.include(d.boxes, rows[start])
			if persons < d.k || math.IsInf(least[start], 1) {
				continue
			}
			if loss := least[start] + d.table.loss(d.boxes)*float64(end-start); loss < least[end] {
				least[end], from[end] = loss, start
			}
		}
	}
	if math.IsInf(least[len(rows)], 1) {
		return nil, math.Inf(1)
	}
	var cells [][]int32
	for end := len(rows); end > 0; end = from[end] {
		cells = append(cells, rows[from[end]:end])
	}
	slices.Reverse(cells)
	return cells, least[len(rows)]
}

// line finds the line across one attribute that leaves the least loss with a cell on
// both sides; nil where there is none.
func (d *divider) line(rows []int32) (left, right []int32) {
	least := math.Inf(1)
	for a := range d.table.positions {
		sorted := d.sorted(rows, a)
		at, loss := d.lineAcross(sorted, a, least)
		if at > 0 {
			least, left, right = loss, sorted[:at], sorted[at:]
		}
	}
	return left, right
}

// lineAcross returns where to cut sorted rows for a loss below some, 0 for nowhere.
func (d *divider) lineAcross(rows []int32, attribute int, below float64) (at int, loss float64) {
	n := len(rows)
	lossBefore, personsBefore := d.prefixes(rows)
	backward := slices.Clone(rows)
	slices.Reverse(backward)
	lossAfter, personsAfter := d.prefixes(backward)
	type candidate struct {
		at   int
		loss float64
	}
	var candidates []candidate
	for i := 1; i < n; i++ {
		if personsBefore[i] < d.k || personsAfter[n-i] < d.k {
			continue
		}
		if l := lossBefore[i] + lossAfter[n-i]; l < below {
			candidates = append(candidates, candidate{i, l})
		}
	}
	slices.SortStableFunc(candidates, func(x, y candidate) int { return cmp.Compare(x.loss, y.loss) })
	for tries, c := range candidates {
		if tries == linesTried {
			break
		}
		if d.sizeDecides() || d.cell(rows[:c.at]) && d.cell(rows[c.at:]) {
			return c.at, c.loss
		}
	}
	return 0, 0
}

// linesTried bounds how many lines are tried where constraints beyond k may refuse
// the sides.
const linesTried = 16

// prefixes gives the loss and the number of persons of the first rows, for each
// number of rows.
func (d *divider) prefixes(rows []int32) (loss []float64, persons []int) {
	loss, persons = make([]float64, len(rows)+1), make([]int, len(rows)+1)
	d.mark++
	d.boxes = d.table.reset(d.boxes)
	for i, row := range rows {
		persons[i+1] = persons[i]
		if p := d.table.person[row]; d.seen[p] != d.mark {
			d.seen[p] = d.mark
			persons[i+1]++
		}
		d.table.include(d.boxes, row)
		loss[i+1] = d.table.loss(d.boxes) * float64(i+1)
	}
	return loss, persons
}
