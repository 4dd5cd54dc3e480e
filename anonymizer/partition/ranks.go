package partition

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
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
// where there are more than ranking.FewValues of them, all are sorted by radix. What it
// gives is unfinished once the context has ended. The ranks go into numbers, which
// is as long as cells.
func rankColumn(ctx context.Context, cells []hierarchy.Cell, position func(hierarchy.Cell) float64, numbers []int32) rankedColumn {
	different, missing := ranking.NewNumbering(), false
	for i, c := range cells {
		if i%contextStride == 0 && ctx.Err() != nil {
			return rankedColumn{ranks: numbers}
		}
		if known := different.Small(c); known >= 0 {
			numbers[i] = known
			continue
		}
		if hierarchy.IsOffScale(c) {
			numbers[i], missing = offScaleNumber, true
			continue
		}
		numbers[i] = different.Number(c)
		if len(different.Values) > ranking.FewValues {
			return rankByRadix(ctx, cells, numbers, position)
		}
	}
	c := rankedColumn{ranks: numbers}
	rankOf := c.rankValues(different.Values, position)
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
