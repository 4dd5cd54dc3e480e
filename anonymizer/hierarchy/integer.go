package hierarchy

import (
	"math"
	"strconv"
)

// integers is the Numeric hierarchy over smallint, integer and bigint.
type integers struct{}

func (integers) Kind() Kind { return Numeric }

func (integers) Encode(value string) Cell {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return OffScale()
	}
	return Cell(n)
}

func (integers) Position(c Cell) float64 { return c }

func (integers) Generalize(cells []Cell) Generalization {
	low, high, ok := extent(cells)
	if !ok {
		return Generalization{Hidden: true}
	}
	first, last := wholeAtLeast(low), wholeAtMost(high)
	return Generalization{
		Value: strconv.FormatInt(midway(first, last), 10),
		Lower: strconv.FormatInt(first, 10),
		Upper: strconv.FormatInt(last, 10),
	}
}

// extent returns the least and the greatest of the cells, unless there are none
// or one is off the scale.
func extent(cells []Cell) (low, high Cell, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range cells {
		if IsOffScale(c) {
			return 0, 0, false
		}
		low, high = min(low, c), max(high, c)
	}
	return low, high, len(cells) > 0
}

// exactWhole is the magnitude below which every whole number has a float64 of
// its own. From there on a cell stands for all whole numbers that round to it,
// which lie between its neighbors.
const exactWhole = 1 << 53

// wholeAtLeast is a lower bound of all 64-bit whole numbers whose nearest
// float64 is c.
func wholeAtLeast(c Cell) int64 {
	if math.Abs(c) >= exactWhole {
		c = math.Nextafter(c, math.Inf(-1))
	}
	return saturate(c)
}

// wholeAtMost is an upper bound of all 64-bit whole numbers whose nearest
// float64 is c.
func wholeAtMost(c Cell) int64 {
	if math.Abs(c) >= exactWhole {
		c = math.Nextafter(c, math.Inf(1))
	}
	return saturate(c)
}

// saturate converts without overflow: nothing encoded lies outside 64 bits, so
// the ends of the type are honest bounds.
func saturate(c float64) int64 {
	switch {
	case c >= 1<<63:
		return math.MaxInt64
	case c <= -1<<63:
		return math.MinInt64
	default:
		return int64(c)
	}
}

// midway is the middle of two whole numbers, rounded down, without overflow.
func midway(low, high int64) int64 {
	return low + int64((uint64(high)-uint64(low))/2)
}
