package hilbert

import (
	"context"
	"math/bits"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// axis is one attribute of all records.
type axis struct {
	ranks []int32 // dense, one for each record; off the scale is the last rank
	// scaled holds the position of each rank in the units of the attribute's
	// extent over the table, so that widths are normalized certainty penalties.
	scaled   []float64
	offScale bool
}

// offScaleAxis lies so far out that a group which mixes the records there with
// others has more than the full width of 1.
const offScaleAxis = 2

// newAxes ranks all attributes, as many at a time as there are cores: each of them
// needs memory for its positions.
func newAxes(ctx context.Context, t *anonymizer.Table) []axis {
	axes := make([]axis, len(t.Attributes()))
	cores.Each(len(axes), func(a int) { axes[a] = newAxis(ctx, ranking.Positions(ctx, t, a)) })
	return axes
}

func newAxis(ctx context.Context, positions []float64) axis {
	x := ranking.Of(ctx, positions)
	d := axis{ranks: x.Ranks, scaled: x.Scaled(), offScale: x.OffScale}
	if d.offScale {
		d.scaled = append(d.scaled, offScaleAxis)
	}
	return d
}

// gridBits is the number of bits of a coordinate with which each rank of each
// axis gets a cell of its own: 1 to 32.
func gridBits(axes []axis) int {
	most := 1
	for _, x := range axes {
		most = max(most, bits.Len(uint(len(x.scaled)-1)))
		if x.offScale {
			most = max(most, 1+bits.Len(uint(max(0, len(x.scaled)-2))))
		}
	}
	return most
}

// coordinates spreads the ranks evenly over the cells of the grid, so that an
// attribute with two values weighs as much as one with a thousand. Off the scale
// is the last cell, with half of the axis between it and the others.
func (x axis) coordinates(bits int) []uint32 {
	cells := make([]uint32, len(x.scaled))
	ranks, last := len(x.scaled), uint64(1)<<bits-1
	if x.offScale {
		ranks--
		cells[ranks] = uint32(last)
		last /= 2
	}
	for rank := 1; rank < ranks; rank++ {
		cells[rank] = uint32(last * uint64(rank) / uint64(ranks-1))
	}
	return cells
}
