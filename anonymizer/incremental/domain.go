package incremental

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// domain is the range of positions of each attribute, over all records since the
// partition was empty.
type domain []extent

func (d domain) clear() {
	for a := range d {
		d[a] = emptyExtent
	}
}

// widen includes the cells of a record; those off the scale have no position.
func (d domain) widen(attributes []anonymizer.Attribute, cells []hierarchy.Cell) {
	for a, attribute := range attributes {
		if position := attribute.Hierarchy.Position(cells[a]); !math.IsNaN(position) {
			d[a] = d[a].include(position)
		}
	}
}

// smoothing is delta as a share of the domain's width.
const smoothing = 4.0

// leastDelta is the least number that has an inverse: below it a domain is as good
// as one value.
const leastDelta = 0x1p-1022

// delta is the smoothing distance of an attribute; 1 where the domain has next to no width.
func (d domain) delta(attribute int) float64 {
	delta := (d[attribute].high - d[attribute].low) * smoothing
	if !(delta >= leastDelta) || math.IsInf(delta, 1) {
		return 1
	}
	return delta
}
