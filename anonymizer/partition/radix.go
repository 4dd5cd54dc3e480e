package partition

import (
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// radixBits is the size of a digit: its counters stay within a core's cache.
const radixBits = 11

const radix = 1 << radixBits

// keyedCell is a cell's position as a number in the same order, and its place.
type keyedCell struct {
	key  uint64
	cell int32
}

// offScaleKey is above the keys of all floats that are not NaN.
const offScaleKey = math.MaxUint64

// orderedKey maps floats to integers of the same order.
func orderedKey(p float64) uint64 {
	if math.IsNaN(p) {
		return offScaleKey
	}
	bits := math.Float64bits(p + 0)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func positionOf(key uint64) float64 {
	if key>>63 == 0 {
		return math.Float64frombits(^key)
	}
	return math.Float64frombits(key &^ (1 << 63))
}

// rankByRadix is rankColumn for many different values: the positions are sorted
// digit by digit, in a linear number of steps. The ranks go into the given slice.
func rankByRadix(ctx context.Context, values []hierarchy.Cell, ranks []int32, position func(hierarchy.Cell) float64) rankedColumn {
	c := rankedColumn{ranks: ranks}
	cells := make([]keyedCell, len(ranks))
	differ := uint64(0)
	for i := range cells {
		if i%contextStride == 0 && ctx.Err() != nil {
			return c
		}
		cells[i] = keyedCell{orderedKey(position(values[i])), int32(i)}
		differ |= cells[i].key ^ cells[0].key
	}
	other := make([]keyedCell, len(ranks))
	for shift := 0; shift < 64; shift += radixBits {
		if differ>>shift%radix == 0 {
			continue
		}
		if ctx.Err() != nil {
			return c
		}
		sortDigit(cells, other, shift)
		cells, other = other, cells
	}
	offScale := len(cells) > 0 && cells[len(cells)-1].key == offScaleKey
	last := uint64(0) // no float has this key
	rank := int32(-1)
	for _, cell := range cells {
		if cell.key != last {
			last = cell.key
			rank++
			if last != offScaleKey {
				c.axis = append(c.axis, positionOf(last))
			}
		}
		ranks[cell.cell] = rank
	}
	c.axis = slices.Clip(c.axis)
	c.scale(offScale)
	return c
}

// sortDigit writes the cells to sorted, by one digit of their keys; stable.
func sortDigit(cells, sorted []keyedCell, shift int) {
	var next [radix]int32
	for i := range cells {
		next[cells[i].key>>shift%radix]++
	}
	sum := int32(0)
	for digit, count := range next {
		next[digit] = sum
		sum += count
	}
	for _, cell := range cells {
		at := &next[cell.key>>shift%radix]
		sorted[*at] = cell
		*at++
	}
}
