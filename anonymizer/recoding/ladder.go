package recoding

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// ladder is the hierarchy of one attribute with the nodes of each level numbered
// from 0. Levels are added as they are reached; each is made from the one below,
// every node of which lies in one node above.
type ladder struct {
	levels  hierarchy.Levels
	cells   [][]hierarchy.Cell // level, node: one of its cells
	parents [][]uint32         // level, node: the node of the next level
}

// newLadder numbers the nodes of level 0 and gives the one of each record.
func newLadder(ctx context.Context, levels hierarchy.Levels, column []hierarchy.Cell, s *numbering) (*ladder, []uint32, error) {
	keys := make([]uint64, len(column))
	for i, c := range column {
		if hierarchy.IsOffScale(c) {
			c = hierarchy.OffScale() // one of the many NaNs
		}
		keys[i] = math.Float64bits(c)
	}
	values, firsts, err := s.number(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	distinct := make([]hierarchy.Cell, len(firsts))
	for v, first := range firsts {
		distinct[v] = column[first]
	}
	l := &ladder{levels: levels}
	nodes, err := l.add(ctx, distinct, 0, s)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range values {
		values[i] = nodes[v]
	}
	return l, values, nil
}

// add numbers the nodes of a level in which the cells lie and returns each
// cell's node.
func (l *ladder) add(ctx context.Context, cells []hierarchy.Cell, level int, s *numbering) ([]uint32, error) {
	keys := make([]uint64, len(cells))
	for i, c := range cells {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		keys[i] = uint64(l.levels.Node(c, level))
	}
	nodes, firsts, err := s.number(ctx, keys)
	if err != nil {
		return nil, err
	}
	of := make([]hierarchy.Cell, len(firsts))
	for node, first := range firsts {
		of[node] = cells[first]
	}
	l.cells = append(l.cells, of)
	return nodes, nil
}

// height is the level of the root.
func (l *ladder) height() int { return l.levels.Height() }

// size is the number of nodes at a level that has been reached.
func (l *ladder) size(level uint8) int { return len(l.cells[level]) }

// climb gives the node of the next level above each node of a level that has
// been reached and is below the height.
func (l *ladder) climb(ctx context.Context, level uint8, s *numbering) ([]uint32, error) {
	if int(level) == len(l.parents) {
		up, err := l.add(ctx, l.cells[level], int(level)+1, s)
		if err != nil {
			return nil, err
		}
		l.parents = append(l.parents, up)
	}
	return l.parents[level], nil
}
