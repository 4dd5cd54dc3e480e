package seeded

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// space measures how unlike records are.
type space struct {
	scales []scale
	trees  []tree
}

// scale is an attribute whose values have differences: numbers, dates, ranks.
type scale struct {
	at []float32 // by record: 0 to 1, NaN off the scale
}

// tree is an attribute whose values have ancestors.
type tree struct {
	codes  []int32 // by record; values are alike where codes are
	nodes  []int32 // by code and level below the root: the number of the ancestor
	height int
	size   int  // number of nodes
	flat   bool // nodes are numbered like codes
}

func newSpace(ctx context.Context, t *anonymizer.Table) *space {
	s := &space{}
	for a, attribute := range t.Attributes() {
		switch attribute.Hierarchy.Kind() {
		case hierarchy.Numeric, hierarchy.Date, hierarchy.Ordered:
			s.scales = append(s.scales, newScale(ctx, attribute.Hierarchy, t.Cells(a)))
		default:
			s.trees = append(s.trees, newTree(ctx, attribute.Hierarchy, t.Cells(a)))
		}
	}
	return s
}

// checkEvery is how many records a loop handles between two looks at the context.
const checkEvery = 1 << 14

func newScale(ctx context.Context, h hierarchy.Hierarchy, cells []hierarchy.Cell) scale {
	low, high := math.Inf(1), math.Inf(-1)
	positions := make([]float64, len(cells))
	for i, c := range cells {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return scale{}
		}
		positions[i] = h.Position(c)
		if !math.IsNaN(positions[i]) {
			low, high = min(low, positions[i]), max(high, positions[i])
		}
	}
	s := scale{make([]float32, len(cells))}
	for i, p := range positions {
		switch {
		case math.IsNaN(p):
			s.at[i] = float32(p)
		case low/2 < high/2: // halves keep the range of the largest floats finite
			s.at[i] = float32((p/2 - low/2) / (high/2 - low/2))
		}
	}
	return s
}

func newTree(ctx context.Context, h hierarchy.Hierarchy, cells []hierarchy.Cell) tree {
	levels := hierarchy.LevelsOf(h, cells)
	t := tree{codes: make([]int32, len(cells)), height: levels.Height()}
	codes, numbers := map[hierarchy.Cell]int32{}, map[node]int32{}
	for i, c := range cells {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return tree{}
		}
		if math.IsNaN(h.Position(c)) {
			c = offScale
		}
		code, known := codes[c]
		if !known {
			code = int32(len(codes))
			codes[c] = code
			t.nodes = append(t.nodes, t.path(c, levels, numbers)...)
		}
		t.codes[i] = code
	}
	t.flat = t.height == 1 && t.size == len(codes)
	return t
}

// offScale stands for all cells off the scale in maps, which cannot find NaN.
var offScale = math.Inf(-1)

// node is a node of a hierarchy below the root.
type node struct {
	level int
	id    hierarchy.NodeID
}

// path numbers the ancestors of a cell. Cells off the scale share none with others.
func (t *tree) path(c hierarchy.Cell, levels hierarchy.Levels, numbers map[node]int32) []int32 {
	path := make([]int32, t.height)
	for level := range path {
		if c == offScale {
			path[level] = int32(t.size)
			t.size++
			continue
		}
		n := node{level, levels.Node(c, level)}
		number, met := numbers[n]
		if !met {
			number = int32(t.size)
			numbers[n] = number
			t.size++
		}
		path[level] = number
	}
	return path
}

// ancestors are the nodes of a code, from the value up.
func (t tree) ancestors(code int32) []int32 {
	return t.nodes[int(code)*t.height : (int(code)+1)*t.height]
}

// distance of two codes is the level of their lowest common ancestor by the
// height of the tree.
func (t tree) distance(v, w int32) float32 {
	if v == w {
		return 0
	}
	others := t.ancestors(w)
	for level, node := range t.ancestors(v) {
		if node == others[level] {
			return float32(level) / float32(t.height)
		}
	}
	return 1
}

// attributes is the number of attributes, at least 1, by which sums become means.
func (s *space) attributes() float32 { return float32(max(1, len(s.scales)+len(s.trees))) }
