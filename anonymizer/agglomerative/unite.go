package agglomerative

import (
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// open is a class that does not satisfy the constraints yet, with its summary.
type open struct {
	class   anonymizer.EquivalenceClass
	summary privacy.Summary
}

// unite makes the release of the blocks' classes. A block that does not satisfy
// the constraints by itself takes the nearest classes of the following blocks,
// which are near in the tree of cuts, until it does; at the end of the table those
// of the blocks before. Its result is void once ctx has ended.
func (r *run) unite(ctx context.Context, blocks [][]anonymizer.EquivalenceClass) *anonymizer.Release {
	var places positions
	var unfinished *open
	attach := func(b int) {
		if places == nil {
			places = newPositions(r.table)
		}
		blocks[b] = r.takeNearest(places, unfinished, blocks[b])
		if r.holds(unfinished) {
			blocks[b], unfinished = append(blocks[b], unfinished.class), nil
		}
	}
	for b, classes := range blocks {
		switch {
		case ctx.Err() != nil:
			return nil
		case unfinished != nil:
			attach(b)
		case len(classes) == 1 && !r.satisfied(classes[0]):
			unfinished, blocks[b] = &open{slices.Clone(classes[0]), r.table.Summarize(classes[0])}, nil
		}
	}
	for b := len(blocks) - 1; b >= 0 && unfinished != nil && ctx.Err() == nil; b-- {
		if len(blocks[b]) > 0 {
			attach(b)
		}
	}
	release := &anonymizer.Release{Classes: slices.Concat(blocks...)}
	if unfinished != nil {
		release.Withheld = unfinished.class
	}
	return release
}

func (r *run) holds(o *open) bool {
	return len(o.class) >= r.k && r.constraints.Satisfied(o.summary, r.table.Population())
}

// takeNearest unites the open class with the one that gives the lowest NCP of the
// union, again and again, until it satisfies the constraints or no other is left.
// It returns the others.
func (r *run) takeNearest(p positions, o *open, others []anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	boxes := make([]box, len(others))
	for i, other := range others {
		boxes[i] = p.cover(other)
	}
	covered := p.cover(o.class)
	for len(others) > 0 && !r.holds(o) {
		nearest, least := 0, float32(math.Inf(1))
		for i, other := range boxes {
			if loss := penalty(covered, other, least); loss < least {
				nearest, least = i, loss
			}
		}
		o.class = append(o.class, others[nearest]...)
		o.summary.Merge(r.table.Summarize(others[nearest]))
		covered.include(boxes[nearest])
		last := len(others) - 1
		others[nearest], boxes[nearest] = others[last], boxes[last]
		others, boxes = others[:last], boxes[:last]
	}
	return others
}
