package agglomerative

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// axis holds the different values of a column: cells or positions.
type axis struct {
	codes  []int32   // of each record: the rank of its value
	values []float64 // of each rank, ascending
	counts []int     // records of each rank
	// offScale is the code that records off the scale share, -1 where there are
	// none. It is the last one and has no entry in values.
	offScale int32
}

func newAxis(column []float64) axis {
	x := axis{codes: make([]int32, len(column)), offScale: -1}
	for _, v := range column {
		if !math.IsNaN(v) {
			x.values = append(x.values, v)
		}
	}
	distinct := len(x.values)
	slices.Sort(x.values)
	x.values = slices.Clip(slices.Compact(x.values))
	x.counts = make([]int, len(x.values), len(x.values)+1)
	if distinct < len(column) {
		x.offScale = int32(len(x.values))
		x.counts = append(x.counts, 0)
	}
	for i, v := range column {
		code := x.offScale
		if !math.IsNaN(v) {
			rank, _ := slices.BinarySearch(x.values, v)
			code = int32(rank)
		}
		x.codes[i] = code
		x.counts[code]++
	}
	return x
}

// positionAxis is the axis of an attribute's positions, scaled to [0, 1] over
// the table; without any width all are 0.
func positionAxis(t *anonymizer.Table, attribute int) axis {
	h, cells := t.Attributes()[attribute].Hierarchy, t.Cells(attribute)
	positions := make([]float64, len(cells))
	for i, c := range cells {
		positions[i] = h.Position(c)
	}
	x := newAxis(positions)
	x.scale()
	return x
}

func (x *axis) scale() {
	if len(x.values) == 0 {
		return
	}
	// Halves keep the span of the largest floats finite.
	low, span := x.values[0]/2, x.values[len(x.values)-1]/2-x.values[0]/2
	for i, v := range x.values {
		x.values[i] = 0
		if span > 0 {
			x.values[i] = (v/2 - low) / span
		}
	}
}
