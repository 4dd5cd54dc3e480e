package partition

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// rankedColumn is one attribute in a form made for cutting: dense ranks in
// place of positions.
type rankedColumn struct {
	ranks []int32 // one for each place
	// axis holds the position of each rank, scaled to [0, 1] over the table.
	// Records off the scale share the last rank; it lies so far out that a
	// class that mixes it with others has the full width of 1.
	axis []float64
}

// offScaleAxis is where the off-scale rank lies on the scaled axis.
const offScaleAxis = 2

// width is the normalized certainty penalty (Xu et al. 2006) of a class whose
// ranks lie between the two: the share of the domain that it covers.
func (c *rankedColumn) width(low, high int32) float64 {
	return min(1, c.axis[high]-c.axis[low])
}

// contextStride is after how many cells of a long pass the context is looked at.
const contextStride = 1 << 16

// rankColumn ranks cells by their positions. Numbering the different cells by a
// hash table and sorting only these takes a fraction of the time of sorting all;
// where there are more than fewValues of them, all are sorted by radix. What it
// gives is unfinished once the context has ended. The ranks go into numbers, which
// is as long as cells.
func rankColumn(ctx context.Context, cells []hierarchy.Cell, position func(hierarchy.Cell) float64, numbers []int32) rankedColumn {
	different, missing := newNumbering(), false
	for i, c := range cells {
		if i%contextStride == 0 && ctx.Err() != nil {
			return rankedColumn{ranks: numbers}
		}
		if known := different.smallNumber(c); known >= 0 {
			numbers[i] = known
			continue
		}
		if hierarchy.IsOffScale(c) {
			numbers[i], missing = offScaleNumber, true
			continue
		}
		numbers[i] = different.number(c)
		if len(different.values) > fewValues {
			return rankByRadix(ctx, cells, numbers, position)
		}
	}
	c := rankedColumn{ranks: numbers}
	rankOf := c.rankValues(different.values, position)
	offScale := int32(len(c.axis))
	for i, number := range numbers {
		if number != offScaleNumber {
			numbers[i] = rankOf[number]
		} else {
			numbers[i] = offScale
		}
	}
	c.scale(missing || slices.Contains(rankOf, offScale))
	return c
}

// rankValues fills axis with the positions of the values and gives the rank of
// each value. Those without a position get the rank beyond all others.
func (c *rankedColumn) rankValues(values []hierarchy.Cell, position func(hierarchy.Cell) float64) []int32 {
	positions := make([]float64, len(values))
	order := make([]int32, len(values))
	for i, v := range values {
		positions[i], order[i] = position(v), int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		// NaN, which cmp.Compare puts first, comes last.
		return cmp.Compare(-positions[b], -positions[a])
	})
	rankOf := make([]int32, len(values))
	for _, number := range order {
		p := positions[number]
		if last := len(c.axis) - 1; !math.IsNaN(p) && (last < 0 || c.axis[last] != p) {
			c.axis = append(c.axis, p)
		}
		if rankOf[number] = int32(len(c.axis) - 1); math.IsNaN(p) {
			rankOf[number]++
		}
	}
	return rankOf
}

// offScaleNumber stands for a cell off the scale until there are ranks.
const offScaleNumber = -1

// scale maps the ascending positions of axis to [0, 1], in place; halving first
// keeps the span of the largest floats finite.
func (c *rankedColumn) scale(offScale bool) {
	if len(c.axis) > 0 {
		low, span := c.axis[0]/2, c.axis[len(c.axis)-1]/2-c.axis[0]/2
		for i, p := range c.axis {
			if span == 0 {
				c.axis[i] = 0
				continue
			}
			c.axis[i] = (p/2 - low) / span
		}
	}
	if offScale {
		c.axis = append(c.axis, offScaleAxis)
	}
}

// fewValues is the number of different values up to which a numbering is used:
// its table stays within a core's own cache.
const fewValues = 1 << 16

// numbering numbers floats from 0 in the order of their first appearance, by
// open addressing. Values of equal comparison have equal numbers; NaN must not
// come in.
type numbering struct {
	values []float64
	// small holds 1 + number of the whole numbers from 0 on, 0 = new: codes,
	// ages and the like need no search.
	small [1 << 10]int32
	slots []int32 // 1 + number of the value there, 0 = free; a power of two
	shift int     // 64 - log2(len(slots))
}

func newNumbering() *numbering { return &numbering{slots: make([]int32, 1<<8), shift: 64 - 8} }

// smallNumber is the number of a small whole number that was met before, else -1.
func (t *numbering) smallNumber(value float64) int32 {
	if whole := int(value); uint(whole) < uint(len(t.small)) && float64(whole) == value {
		return t.small[whole] - 1
	}
	return -1
}

func (t *numbering) number(value float64) int32 {
	if whole := int(value); uint(whole) < uint(len(t.small)) && float64(whole) == value {
		if t.small[whole] == 0 {
			t.values = append(t.values, value)
			t.small[whole] = int32(len(t.values))
		}
		return t.small[whole] - 1
	}
	for at := t.slot(value); ; at = (at + 1) & (len(t.slots) - 1) {
		known := t.slots[at]
		if known == 0 {
			return t.add(at, value)
		}
		if t.values[known-1] == value {
			return known - 1
		}
	}
}

// factor is another one in each process, so that a table's owner cannot choose
// values that collide. It never reaches the result: numbers follow the order of
// first appearance.
var factor = maphash.String(maphash.MakeSeed(), "factor") | 1

// slot is where the search for a value begins: multiplicative hashing (Knuth,
// volume 3, 6.4). The low bits, in which whole numbers are all alike, are folded
// with the high ones first.
func (t *numbering) slot(value float64) int {
	bits := math.Float64bits(value)
	return int((bits ^ bits>>32) * factor >> t.shift)
}

func (t *numbering) add(at int, value float64) int32 {
	t.values = append(t.values, value)
	t.slots[at] = int32(len(t.values))
	if 4*len(t.values) > len(t.slots) {
		size := len(t.slots)
		for ; 4*len(t.values) > size; size *= 2 { // small values came without a slot
			t.shift--
		}
		t.slots = make([]int32, size)
		for i, v := range t.values { // small ones too, which nobody looks for here
			at := t.slot(v)
			for t.slots[at] != 0 {
				at = (at + 1) & (len(t.slots) - 1)
			}
			t.slots[at] = int32(i + 1)
		}
	}
	return int32(len(t.values) - 1)
}
