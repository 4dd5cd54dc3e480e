package hierarchy

import (
	"math"
	"strings"
)

// taxonomy is the Categorical hierarchy. A cell is a code into its dictionary:
// first the leaves in taxonomy order, then the inner nodes, then values met
// later, which are leaves directly below the root in order of first appearance.
//
// A value that equals an inner node's label is that node: it lies at the
// middle of the node's leaves and generalizes to the node as soon as it shares
// a class with anything below it, so a label never claims more than is known.
// The text "*" is an ordinary value; alone or generalized it reads as the root.
type taxonomy struct {
	codes     map[string]int32
	labels    []string
	parents   []int32 // code of the node above; root for none
	depths    []int32 // 1 for nodes directly below the root
	positions []float64
	leaves    int // leaves so far; the next one's position
	// configured is how many nodes the specification has, and configuredLeaves how many of them
	// are leaves; these have the codes from 0 on.
	configured, configuredLeaves int
}

// root is the code of the node above all; it has no entry in the dictionary.
const root int32 = -1

func newTaxonomy(nodes []Node) *taxonomy {
	t := &taxonomy{codes: map[string]int32{}}
	t.addLeaves(nodes)
	t.addInner(nodes, root, 1)
	t.configured, t.configuredLeaves = len(t.labels), t.leaves
	return t
}

func (t *taxonomy) add(label string, parent, depth int32, position float64) int32 {
	code := int32(len(t.labels))
	t.codes[label] = code
	t.labels = append(t.labels, label)
	t.parents = append(t.parents, parent)
	t.depths = append(t.depths, depth)
	t.positions = append(t.positions, position)
	return code
}

func (t *taxonomy) addLeaf(label string) int32 {
	code := t.add(label, root, 1, float64(t.leaves))
	t.leaves++
	return code
}

func (t *taxonomy) addLeaves(nodes []Node) {
	for _, n := range nodes {
		if len(n.Children) == 0 {
			t.addLeaf(n.Label)
		}
		t.addLeaves(n.Children)
	}
}

// addInner adds the inner nodes and hangs every leaf below its own; it returns
// the first and the last position below the nodes.
func (t *taxonomy) addInner(nodes []Node, parent, depth int32) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, n := range nodes {
		var low, high float64
		if len(n.Children) == 0 {
			code := t.codes[n.Label]
			t.parents[code], t.depths[code] = parent, depth
			low, high = t.positions[code], t.positions[code]
		} else {
			code := t.add(n.Label, parent, depth, 0)
			low, high = t.addInner(n.Children, code, depth+1)
			t.positions[code] = (low + high) / 2
		}
		first, last = min(first, low), max(last, high)
	}
	return first, last
}

func (t *taxonomy) Kind() Kind { return Categorical }

func (t *taxonomy) Encode(value string) Cell {
	code, known := t.codes[value]
	if !known {
		code = t.addLeaf(strings.Clone(value))
	}
	return Cell(code)
}

func (t *taxonomy) code(c Cell) (int32, bool) {
	if !(c >= 0 && c < float64(len(t.labels))) {
		return 0, false
	}
	return int32(c), true
}

func (t *taxonomy) Position(c Cell) float64 {
	code, ok := t.code(c)
	if !ok {
		return math.NaN()
	}
	return t.positions[code]
}

func (t *taxonomy) Generalize(cells []Cell) Generalization {
	if len(cells) == 0 {
		return Generalization{Hidden: true}
	}
	common := root
	for i, c := range cells {
		code, ok := t.code(c)
		if !ok {
			return Generalization{Hidden: true}
		}
		if i == 0 {
			common = code
		} else {
			common = t.ancestor(common, code)
		}
	}
	if common == root {
		return Generalization{Value: Root}
	}
	return Generalization{Value: t.labels[common]}
}

// ancestor is the lowest node that is above or equal to both.
func (t *taxonomy) ancestor(a, b int32) int32 {
	for a != b {
		if a == root || b == root {
			return root
		}
		if t.depths[a] >= t.depths[b] {
			a = t.parents[a]
		} else {
			b = t.parents[b]
		}
	}
	return a
}
