package incremental

import "math"

// frame turns positions into the coordinates of the index, over the domain as it was
// when the index was made. It is made anew before a position can lie beyond its edges.
type frame struct {
	origin []float64
	// unit is the domain's width by attribute. It is infinite where the domain has
	// next to no width, so that all coordinates on the scale are the same, and 0
	// where positions are too large to tell from what is off the scale: then all
	// coordinates are.
	unit []float64
}

const (
	// frameWidth is the width of the domain in lane units; frameEdge leaves room on
	// both sides for a domain that grows.
	frameWidth = 12288
	frameEdge  = 2048
	// farPosition is the size from which positions are too large to compare with
	// those of classes off the scale.
	farPosition = 1e290
	// frameGrowth is how many times its unit a domain may become before the index is
	// made anew: less than the edges have room for.
	frameGrowth = 1.15
)

func newFrame(domain []extent) frame {
	f := frame{make([]float64, len(domain)), make([]float64, len(domain))}
	for a, e := range domain {
		f.origin[a], f.unit[a] = e.low, frameUnit(e)
	}
	return f
}

func frameUnit(e extent) float64 {
	if max(-e.low, e.high) >= farPosition && e.low <= e.high {
		return 0
	}
	if width := e.high - e.low; width >= leastDelta {
		return width
	}
	return math.Inf(1)
}

// fits reports whether coordinates still say enough of positions in the domain.
func (f *frame) fits(domain []extent) bool {
	for a, e := range domain {
		unit := frameUnit(e)
		if unit != f.unit[a] && !(unit > 0 && unit <= f.unit[a]*frameGrowth && !math.IsInf(f.unit[a], 1)) {
			return false
		}
	}
	return true
}

// growth is the greatest quotient of the domain's width and the unit, at least 1.
func (f *frame) growth(domain []extent) float64 {
	growth := 1.0
	for a, e := range domain {
		if unit := frameUnit(e); unit > f.unit[a] && f.unit[a] > 0 {
			growth = max(growth, unit/f.unit[a])
		}
	}
	return growth
}

// lane is the coordinate of a position, not rounded. An additional attribute would have the same
// for all.
func (f *frame) lane(attribute int, position float64) float64 {
	if attribute >= len(f.unit) || f.unit[attribute] == 0 {
		return frameEdge
	}
	switch unit := f.unit[attribute]; {
	case math.IsNaN(position) || position == hiddenAt:
		return offLane
	case math.IsInf(unit, 1):
		return frameEdge
	default:
		return min(max(leastLane, frameEdge+(position-f.origin[attribute])/unit*frameWidth), mostLane)
	}
}

// tells reports whether coordinates of the attribute show where on the scale a value is.
func (f *frame) tells(attribute int) bool {
	return f.unit[attribute] > 0 && !math.IsInf(f.unit[attribute], 1)
}

// halfWidth is half of what an extent covers, in lane units, 0 where coordinates do
// not tell.
func (f *frame) halfWidth(attribute int, e extent) float64 {
	if !f.tells(attribute) || e.low == hiddenAt {
		return 0
	}
	return (e.high/2 - e.low/2) / f.unit[attribute] * frameWidth
}

// rounding bounds what rounding can take off or add to a computed similarity of all
// attributes: where positions are large next to the smoothing distance, that is
// more than the last digits.
func rounding(domain []extent, deltas []float64) float64 {
	sum := 0x1p-40
	for a, e := range domain {
		if unit := frameUnit(e); unit > 0 && !math.IsInf(unit, 1) {
			sum += 0x1p-48 * max(1, max(-e.low, e.high)/deltas[a])
		}
	}
	return sum
}
