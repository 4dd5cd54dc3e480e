package metric

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// ladder are the levels of an attribute, read from the root down: a value is
// depth steps below the root, and all steps above it are nodes that hold it.
// The values of a taxonomy can lie at different depths. Those of other
// hierarchies have the ladder's height.
type ladder struct {
	hierarchy.Levels
	taxonomy bool
}

func newLadder(a anonymizer.Attribute, column []hierarchy.Cell) ladder {
	return ladder{hierarchy.LevelsOf(a.Hierarchy, column), a.Hierarchy.Kind() == hierarchy.Categorical}
}

// depth is the number of levels between the value and the root.
func (l ladder) depth(c hierarchy.Cell) int {
	height := l.Height()
	if !l.taxonomy {
		return height
	}
	root := l.Node(c, height)
	for level := 1; level < height; level++ {
		if l.Node(c, level) == root {
			return level
		}
	}
	return height
}

// common is the depth of the lowest node that holds all of the class.
func (l ladder) common(cells []hierarchy.Cell, class anonymizer.EquivalenceClass) int {
	first := cells[class[0]]
	own := l.depth(first)
	depth := own
	node := l.Node(first, 0)
	for _, i := range class[1:] {
		below := l.depth(cells[i])
		for depth > 0 && (depth > below || l.Node(cells[i], below-depth) != node) {
			depth--
			node = l.Node(first, own-depth)
		}
	}
	return depth
}

// nodeKey names a node. A taxonomy's node is the same at every level above the
// values at which it is met.
type nodeKey struct {
	id    hierarchy.NodeID
	level int
}

func (l ladder) key(c hierarchy.Cell, level int) nodeKey {
	k := nodeKey{l.Node(c, level), level}
	if l.taxonomy {
		k.level = min(level, 1)
	}
	return k
}
