package hierarchy

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
	// Label is what stands for the ancestor in a publication.
	Label(c Cell, level int) Generalization
}
