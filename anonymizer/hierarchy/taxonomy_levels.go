package hierarchy

import "math"

// taxonomyLevels are the levels of a taxonomy, aligned at the leaves: level i is
// i steps up, at most the root, so a leaf that hangs higher than others reaches
// the root earlier. A value that is an inner node stays this node until the
// nearest of its leaves has come up to it, and goes on with that leaf; else a
// node of one level could have several nodes of the next above it.
type taxonomyLevels struct {
	labels  []string
	parents []int32
	nearest []int // steps down to the nearest leaf
	leaves  []int // leaves below or equal
	all     int   // leaves
}

// rungs covers all values met so far; later ones are off the ladder.
func (t *taxonomy) rungs([]Cell) (rungs, int) {
	size := len(t.labels)
	l := taxonomyLevels{
		labels: t.labels[:size:size], parents: t.parents[:size:size],
		nearest: make([]int, size), leaves: make([]int, size), all: t.leaves,
	}
	for _, parent := range l.parents {
		if parent != root {
			l.nearest[parent] = math.MaxInt
		}
	}
	highest := 1
	for code, steps := range l.nearest {
		if steps > 0 {
			continue // an inner node
		}
		for at := int32(code); at != root; at = l.parents[at] {
			l.leaves[at]++
			l.nearest[at] = min(l.nearest[at], steps)
			steps++
		}
		highest = max(highest, steps)
	}
	return l, highest - 1
}

func (l taxonomyLevels) place(c Cell) (at int64, ok bool) {
	if !(c >= 0 && c < float64(len(l.labels))) {
		return 0, false
	}
	return int64(c), true
}

func (l taxonomyLevels) ancestor(at int64, level int) int32 {
	code := int32(at)
	for steps := level - l.nearest[at]; steps > 0 && code != root; steps-- {
		code = l.parents[code]
	}
	return code
}

func (l taxonomyLevels) node(at int64, level int) NodeID {
	return NodeID(l.ancestor(at, level) - root)
}

func (l taxonomyLevels) share(at int64, level int) float64 {
	code := l.ancestor(at, level)
	if code == root {
		return 1
	}
	return countShare(l.leaves[code], l.all)
}

func (l taxonomyLevels) label(at int64, level int) Generalization {
	code := l.ancestor(at, level)
	if code == root {
		return Generalization{Value: Root}
	}
	return Generalization{Value: l.labels[code]}
}
