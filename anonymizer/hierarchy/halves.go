package hierarchy

import (
	"math"
	"math/bits"
	"slices"
)

// halves are the levels of an axis for which nobody has named intervals: the
// highest divides the distinct values in two, the one below in four, and so on,
// each interval with as many distinct values as the others, give or take one. An
// interval covers exactly what its values cover.
//
// Intervals of equal width would be the alternative. One value far away then
// puts all others into one interval, so that levels are climbed without any
// effect but the last; and cuts by number of records put frequent values, such
// as zero, into intervals of their own. Counting distinct values, no interval is
// ever empty and each level halves the number of nodes.
type halves struct {
	h            Hierarchy
	starts, ends []Cell // of the intervals of level 1, ascending
	between      int    // levels between the values and the root
}

// maxHalvings bounds the height of the ladder: level 1 has at most 128 intervals.
const maxHalvings = 8

// newHalves divides different cells in ascending order.
func newHalves(h Hierarchy, cells []Cell) (halves, int) {
	v := halves{h: h}
	if len(cells) == 0 {
		return v, 0
	}
	if len(cells) > 2 {
		v.between = min(maxHalvings, bits.Len(uint(len(cells)-1))) - 1
	}
	intervals := 1 << v.between
	for i := range intervals {
		v.starts = append(v.starts, cells[ceilDiv(i*len(cells), intervals)])
		v.ends = append(v.ends, cells[ceilDiv((i+1)*len(cells), intervals)-1])
	}
	return v, v.between
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// distinct returns the different cells that are on the scale, ascending.
func distinct(column []Cell) []Cell {
	cells := make([]Cell, 0, len(column))
	for _, c := range column {
		if !IsOffScale(c) && !math.IsInf(c, 0) {
			cells = append(cells, c)
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}

// place is the interval of level 1 that covers the cell.
func (v halves) place(c Cell) (at int64, ok bool) {
	low, high := 0, len(v.ends)
	for low < high {
		if mid := (low + high) / 2; v.ends[mid] < c {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return int64(low), low < len(v.ends) && v.starts[low] <= c
}

func (v halves) node(at int64, level int) NodeID { return NodeID(at >> (level - 1)) }

// interval gives the least and the greatest value of a node.
func (v halves) interval(at int64, level int) (low, high Cell) {
	first := at >> (level - 1) << (level - 1)
	return v.starts[first], v.ends[first+1<<(level-1)-1]
}

func (v halves) share(at int64, level int) float64 {
	if level == 0 {
		return 0
	}
	low, high := v.interval(at, level)
	return widthShare(low, high, v.starts[0], v.ends[len(v.ends)-1])
}

func (v halves) label(at int64, level int) Generalization {
	low, high := v.interval(at, level)
	return v.h.Generalize([]Cell{low, high})
}

// widthShare is the part of a domain from least to greatest that lies between
// low and high; none of a domain without width.
func widthShare(low, high, least, greatest float64) float64 {
	low, high = max(low, least), min(high, greatest)
	if least >= greatest || low >= high {
		return 0
	}
	// Halves keep the span of the largest floats finite.
	return min(1, (high/2-low/2)/(greatest/2-least/2))
}

func (h integers) rungs(column []Cell) (rungs, int) { return newHalves(h, distinct(column)) }
func (h decimals) rungs(column []Cell) (rungs, int) { return newHalves(h, distinct(column)) }
