package hilbert

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kproxy/kproxy/anonymizer"
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
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(axes), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for a := int(next.Add(1)) - 1; a < len(axes); a = int(next.Add(1)) - 1 {
				axes[a] = newAxis(ctx, positions(ctx, t, a))
			}
		})
	}
	workers.Wait()
	return axes
}

func positions(ctx context.Context, t *anonymizer.Table, attribute int) []float64 {
	position, cells := t.Attributes()[attribute].Hierarchy.Position, t.Cells(attribute)
	places := make([]float64, len(cells))
	for i, c := range cells {
		if i%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		places[i] = position(c)
	}
	return places
}

func newAxis(ctx context.Context, positions []float64) axis {
	distinct := make([]float64, 0, len(positions))
	for _, p := range positions {
		if !math.IsNaN(p) {
			distinct = append(distinct, p)
		}
	}
	x := axis{ranks: make([]int32, len(positions)), offScale: len(distinct) < len(positions)}
	mergeSort(ctx, distinct, cmp.Compare)
	distinct = slices.Clone(slices.Compact(distinct))
	for i, p := range positions {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return x
		}
		x.ranks[i] = int32(len(distinct))
		if !math.IsNaN(p) {
			rank, _ := slices.BinarySearch(distinct, p)
			x.ranks[i] = int32(rank)
		}
	}
	x.scaled = scale(distinct)
	if x.offScale {
		x.scaled = append(x.scaled, offScaleAxis)
	}
	return x
}

// scale maps ascending positions to [0, 1]; halving first keeps the span of the
// largest floats finite.
func scale(positions []float64) []float64 {
	scaled := make([]float64, len(positions), len(positions)+1)
	if len(positions) < 2 {
		return scaled
	}
	low, span := positions[0]/2, positions[len(positions)-1]/2-positions[0]/2
	for i, p := range positions {
		if span > 0 { // the least of floats have no half
			scaled[i] = (p/2 - low) / span
		}
	}
	return scaled
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
