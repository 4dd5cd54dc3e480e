package agglomerative

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// unite makes the release of the blocks' classes. A block that does not satisfy
// the constraints by itself takes the nearest classes of the following blocks,
// which are near in the tree of cuts, until it does; at the end of the table those
// of the blocks before.
func (r *run) unite(blocks [][]anonymizer.EquivalenceClass) *anonymizer.Release {
	var places positions
	var open anonymizer.EquivalenceClass
	attach := func(b int) {
		if places == nil {
			places = newPositions(r.table)
		}
		open, blocks[b] = r.takeNearest(places, open, blocks[b])
		if r.satisfied(open) {
			blocks[b], open = append(blocks[b], open), nil
		}
	}
	for b, classes := range blocks {
		switch {
		case open != nil:
			attach(b)
		case len(classes) == 1 && !r.satisfied(classes[0]):
			open, blocks[b] = classes[0], nil
		}
	}
	for b := len(blocks) - 1; b >= 0 && open != nil; b-- {
		if len(blocks[b]) > 0 {
			attach(b)
		}
	}
	return &anonymizer.Release{Classes: slices.Concat(blocks...), Withheld: open}
}

// takeNearest unites the class with the one that gives the lowest NCP of the
// union, again and again, until it satisfies the constraints or no other is
// left.
func (r *run) takeNearest(p positions, class anonymizer.EquivalenceClass, others []anonymizer.EquivalenceClass) (united anonymizer.EquivalenceClass, left []anonymizer.EquivalenceClass) {
	boxes := make([]box, len(others))
	for i, other := range others {
		boxes[i] = p.cover(other)
	}
	covered := p.cover(class)
	class = slices.Clone(class)
	for len(others) > 0 && !r.satisfied(class) {
		nearest, least := 0, float32(math.Inf(1))
		for i, other := range boxes {
			if loss := penalty(covered, other, least); loss < least {
				nearest, least = i, loss
			}
		}
		class = append(class, others[nearest]...)
		covered.include(boxes[nearest])
		last := len(others) - 1
		others[nearest], boxes[nearest] = others[last], boxes[last]
		others, boxes = others[:last], boxes[:last]
	}
	return class, others
}
