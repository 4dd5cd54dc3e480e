package partition

import (
	"math"
	"slices"
)

// rankedColumn is one attribute in a form made for cutting: dense ranks in
// place of positions.
type rankedColumn struct {
	ranks []int32 // one for each record
	// axis holds the position of each rank, scaled to [0, 1] over the table.
	// Records off the scale share the last rank; it lies so far out that a
	// class that mixes it with others has the full width of 1.
	axis []float64
}

// offScaleAxis is where the off-scale rank lies on the scaled axis.
const offScaleAxis = 2

// width is the normalized certainty penalty (Xu et al. 2006) of a class whose
// ranks lie between the two: the share of the domain that it covers.
func (c *rankedColumn) width(part interval) float64 {
	return min(1, c.axis[part.high]-c.axis[part.low])
}

func rankColumn(positions []float64) rankedColumn {
	distinct := make([]float64, 0, len(positions))
	for _, p := range positions {
		if !math.IsNaN(p) {
			distinct = append(distinct, p)
		}
	}
	offScale := len(distinct) < len(positions)
	slices.Sort(distinct)
	distinct = slices.Clip(slices.Compact(distinct))

	ranks := make([]int32, len(positions))
	for i, p := range positions {
		if math.IsNaN(p) {
			ranks[i] = int32(len(distinct))
			continue
		}
		rank, _ := slices.BinarySearch(distinct, p)
		ranks[i] = int32(rank)
	}
	scaleAxis(distinct)
	if offScale {
		distinct = append(distinct, offScaleAxis)
	}
	return rankedColumn{ranks: ranks, axis: distinct}
}

// scaleAxis maps ascending positions to [0, 1], in place; halving first keeps
// the span of the largest floats finite.
func scaleAxis(positions []float64) {
	if len(positions) == 0 {
		return
	}
	low, span := positions[0]/2, positions[len(positions)-1]/2-positions[0]/2
	for i, p := range positions {
		if span == 0 {
			positions[i] = 0
			continue
		}
		positions[i] = (p/2 - low) / span
	}
}
