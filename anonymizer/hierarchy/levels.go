package hierarchy

import (
	"math"
	"slices"
)

// NodeID names a node of a value generalization hierarchy among the nodes of
// the same level. Cells with equal ids at a level are generalized alike there.
type NodeID uint64

// Levels is a value generalization hierarchy (VGH) with its domain
// generalization hierarchy (DGH): ever coarser divisions of an attribute's
// domain, from the values themselves at level 0 to one node for everything at
// level Height. A node lies in exactly one node of the next level. A cell off the
// scale has, below the root, a node of its own kind. Safe for concurrent use
// once no more values are encoded.
type Levels interface {
	// Height is the level of the root, |DGH|; at least 1, at most 255.
	Height() int
	// Node is the cell's ancestor at a level between 0 and Height.
	Node(c Cell, level int) NodeID
	// Share is the part of the domain that the ancestor covers, between 0 (one
	// value) and 1 (the root): width by the domain's width for numbers and dates,
	// leaves by all leaves for categories, values by all values else.
	Share(c Cell, level int) float64
	// Label is what stands for the ancestor in a publication. Two nodes of a
	// level above 0 never have the same one.
	Label(c Cell, level int) Generalization
}

// LevelsOf is the ladder of a hierarchy over the cells of a column:
//
//   - Numeric: the fixed intervals of Spec.Steps; without them, at most 8 levels
//     that halve the number of intervals, each with as many distinct values as
//     the others (see halves).
//   - Date: the calendar intervals of Spec.Units; without them, those units that
//     divide the column.
//   - Categorical: at level i the ancestor i steps up, at most the root.
//   - Prefix: as many characters as Spec.Keep says; without it, one less at each
//     level, starting from the longest value.
//   - Ordered: the order, halved like numbers.
//   - Suppression: the values, then the root.
//
// Label at level 0 is what Generalize says of the cell alone: where Spec limits
// what may be published, level 0 keeps to it and covers no less than level 1.
// The root is hidden for numbers and dates, since their least and greatest value
// belong to single records, and wherever the column has cells off the scale;
// else it is "*". A cell that was not in the column and that no node of level 1
// covers is treated as off the scale. Levels below 0 and above Height mean these
// two.
func LevelsOf(h Hierarchy, column []Cell) Levels {
	r, between := rungsOf(h, column)
	l := ladder{h: h, rungs: r, height: between + 1, top: Generalization{Value: Root}}
	if k := h.Kind(); k == Numeric || k == Date || slices.ContainsFunc(column, l.misplaced) {
		l.top = Generalization{Hidden: true}
	}
	return l
}

// rungsOf gives the levels between the values and the root and their number;
// none for a hierarchy that is not of this package.
func rungsOf(h Hierarchy, column []Cell) (r rungs, between int) {
	if stepped, ok := h.(interface {
		rungs(column []Cell) (r rungs, between int)
	}); ok {
		return stepped.rungs(column)
	}
	cells := distinct(column)
	if n := len(cells); n > 2 {
		cells = []Cell{cells[0], cells[n-1]}
	}
	return newHalves(h, cells)
}

// rungs are the levels of a ladder between the values and the root, for cells
// that have a place.
type rungs interface {
	// place is where the cell lies on the ladder, if anywhere.
	place(c Cell) (at int64, ok bool)
	// node, share and label are those of Levels at a level from 1 to below the
	// root; share is also asked at level 0.
	node(at int64, level int) NodeID
	share(at int64, level int) float64
	label(at int64, level int) Generalization
}

// ladder adds the values, the root and the cells off the scale to rungs.
type ladder struct {
	h      Hierarchy
	rungs  rungs
	height int
	top    Generalization
}

const (
	topNode NodeID = 0
	// offScaleNode is the bits of negative zero, which no cell is, and out of
	// reach for whatever else numbers nodes.
	offScaleNode NodeID = 1 << 63
)

func (l ladder) misplaced(c Cell) bool {
	_, ok := l.rungs.place(c)
	return !ok
}

func (l ladder) Height() int { return l.height }

func (l ladder) Node(c Cell, level int) NodeID {
	if level >= l.height {
		return topNode
	}
	at, ok := l.rungs.place(c)
	switch {
	case !ok:
		return offScaleNode
	case level <= 0:
		return NodeID(math.Float64bits(c + 0)) // turns negative zero into zero
	default:
		return l.rungs.node(at, level)
	}
}

func (l ladder) Share(c Cell, level int) float64 {
	if level >= l.height {
		return 1
	}
	at, ok := l.rungs.place(c)
	if !ok {
		return 0
	}
	return l.rungs.share(at, max(level, 0))
}

func (l ladder) Label(c Cell, level int) Generalization {
	if level >= l.height {
		return l.top
	}
	at, ok := l.rungs.place(c)
	switch {
	case !ok:
		return Generalization{Hidden: true}
	case level <= 0:
		return l.h.Generalize([]Cell{c})
	default:
		return l.rungs.label(at, level)
	}
}
