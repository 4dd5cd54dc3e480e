package metric

import (
	"cmp"
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// axis numbers the different values of an attribute so that whatever can be
// published of a class is a run of numbers: by position where ranges are
// published and in a taxonomy, else so that the values below every node stand
// together. Values off the scale share a number of their own, the last.
type axis struct {
	ranks  []int32 // of each cell of the column
	values int     // how many numbers there are
	cells  []hierarchy.Cell
	ladder ladder           // without levels where nothing asks for nodes
	spans  map[nodeKey]span // of every node below the root
	off    int32            // the number of values off the scale; -1 without such
}

// span is a run of numbers, both ends included.
type span struct{ low, high int32 }

func (s span) include(rank int32) span { return span{min(s.low, rank), max(s.high, rank)} }

// width is how many numbers the span has.
func (s span) width() float64 { return float64(s.high-s.low) + 1 }

// ranges reports whether an attribute of the kind is published as a range of
// its axis; else it is a node of the hierarchy.
func ranges(k hierarchy.Kind) bool {
	return k == hierarchy.Numeric || k == hierarchy.Date || k == hierarchy.Ordered
}

// newAxis numbers the values of the column. Nodes are those over the table's own
// column, which may be a part of it; byLevels says that the release names levels.
func newAxis(a anonymizer.Attribute, own, column []hierarchy.Cell, byLevels bool) *axis {
	x := &axis{cells: column, off: -1}
	byPosition := ranges(a.Hierarchy.Kind())
	if byLevels || !byPosition {
		x.ladder = newLadder(a, own)
	}
	if byPosition {
		x.rankPositions(a.Hierarchy)
	} else {
		x.rankCells(a.Hierarchy)
	}
	if x.off >= 0 {
		x.values++
	}
	if x.ladder.Levels != nil {
		x.spanNodes()
	}
	return x
}

func (x *axis) rankPositions(h hierarchy.Hierarchy) {
	positions := make([]float64, len(x.cells))
	for i, c := range x.cells {
		positions[i] = h.Position(c)
	}
	placed := ranking.Of(context.Background(), positions)
	x.ranks, x.values = placed.Ranks, len(placed.Values)
	if placed.OffScale {
		x.off = int32(x.values)
	}
}

// rankCells orders the values along the leaves of a taxonomy, and else by their
// nodes, from the top of the hierarchy down.
func (x *axis) rankCells(h hierarchy.Hierarchy) {
	ranked := ranking.Of(context.Background(), x.cells)
	cells := ranked.Values
	order := make([]int32, len(cells))
	for i := range order {
		order[i] = int32(i)
	}
	if x.ladder.taxonomy {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(h.Position(cells[a]), h.Position(cells[b]))
		})
	} else {
		height := x.ladder.Height()
		paths := make([]hierarchy.NodeID, 0, len(cells)*height)
		for _, c := range cells {
			for level := height - 1; level >= 0; level-- {
				paths = append(paths, x.ladder.Node(c, level))
			}
		}
		path := func(i int32) []hierarchy.NodeID { return paths[int(i)*height : (int(i)+1)*height] }
		slices.SortStableFunc(order, func(a, b int32) int { return slices.Compare(path(a), path(b)) })
	}
	place := make([]int32, len(cells)+1)
	for rank, i := range order {
		place[i] = int32(rank)
	}
	place[len(cells)] = int32(len(cells)) // off the scale
	x.values = len(cells)
	x.ranks = ranked.Ranks
	for i, rank := range x.ranks {
		x.ranks[i] = place[rank]
	}
	if ranked.OffScale {
		x.off = int32(len(cells))
	}
}

// spanNodes finds what every node below the root spans.
func (x *axis) spanNodes() {
	first := slices.Repeat([]int32{-1}, x.values) // a cell of each rank
	for i, rank := range x.ranks {
		if first[rank] < 0 {
			first[rank] = int32(i)
		}
	}
	x.spans = map[nodeKey]span{}
	for rank, i := range first {
		for level := range x.ladder.depth(x.cells[i]) {
			key, r := x.ladder.key(x.cells[i], level), int32(rank)
			s, known := x.spans[key]
			if !known {
				s = span{r, r}
			}
			x.spans[key] = s.include(r)
		}
	}
}

func (x *axis) everything() span { return span{0, int32(max(x.values, 1) - 1)} }

// cover is what the published class may have: the range of its members or the
// lowest node that holds them.
func (x *axis) cover(class anonymizer.EquivalenceClass) span {
	if x.ladder.Levels != nil {
		c := x.cells[class[0]]
		return x.node(c, x.ladder.depth(c)-x.ladder.common(x.cells, class))
	}
	s := span{x.ranks[class[0]], x.ranks[class[0]]}
	for _, i := range class {
		s = s.include(x.ranks[i])
	}
	if s.high == x.off && s.low < x.off {
		return x.everything()
	}
	return s
}

// node is what the ancestor of a cell spans.
func (x *axis) node(c hierarchy.Cell, level int) span {
	if level >= x.ladder.depth(c) {
		return x.everything()
	}
	return x.spans[x.ladder.key(c, level)]
}

// axesOf are the axes of some attributes, over the table's own cells.
func axesOf(t *anonymizer.Table, r *anonymizer.Release, over []int) []*axis {
	axes := make([]*axis, len(over))
	for i, a := range over {
		axes[i] = newAxis(t.Attributes()[a], t.Cells(a), t.Cells(a), r.Levels != nil)
	}
	return axes
}

// boxes are what each class spans on each of the axes of the attributes.
func boxes(r *anonymizer.Release, axes []*axis, over []int) [][]span {
	covered := make([][]span, len(r.Classes))
	flat := make([]span, len(r.Classes)*len(axes))
	for e, class := range r.Classes {
		covered[e], flat = flat[:len(axes):len(axes)], flat[len(axes):]
		for i, x := range axes {
			if r.Levels != nil {
				covered[e][i] = x.node(x.cells[class[0]], int(r.Levels[e][over[i]]))
			} else {
				covered[e][i] = x.cover(class)
			}
		}
	}
	return covered
}
