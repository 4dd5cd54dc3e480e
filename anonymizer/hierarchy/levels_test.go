package hierarchy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// checkLadder checks what Levels promises, for the cells of a column.
func checkLadder(l hierarchy.Levels, column []hierarchy.Cell) error {
	height := l.Height()
	if height < 1 || height > 255 {
		return fmt.Errorf("height %d", height)
	}
	for level := 0; level <= height; level++ {
		parents := map[hierarchy.NodeID]hierarchy.NodeID{}
		labels := map[hierarchy.NodeID]hierarchy.Generalization{}
		nodes := map[hierarchy.Generalization]hierarchy.NodeID{}
		cells := map[hierarchy.NodeID]hierarchy.Cell{}
		for _, c := range column {
			node, label, share := l.Node(c, level), l.Label(c, level), l.Share(c, level)
			if parent, seen := parents[node]; seen && parent != l.Node(c, level+1) {
				return fmt.Errorf("level %d: node %d has two parents", level, node)
			}
			parents[node] = l.Node(c, level+1)
			if known, seen := labels[node]; seen && known != label {
				return fmt.Errorf("level %d: node %d is called %+v and %+v", level, node, known, label)
			}
			labels[node] = label
			if known, seen := nodes[label]; seen && known != node && level > 0 {
				return fmt.Errorf("level %d: nodes %d and %d are both called %+v", level, known, node, label)
			}
			nodes[label] = node
			if other, seen := cells[node]; seen && level == 0 && other != c && !(math.IsNaN(other) && math.IsNaN(c)) {
				return fmt.Errorf("cells %v and %v are one node at level 0", other, c)
			}
			cells[node] = c
			if !(share >= 0 && share <= 1) || level > 0 && share < l.Share(c, level-1) || level == height && share != 1 {
				return fmt.Errorf("level %d: cell %v has share %v", level, c, share)
			}
		}
		if level == height && len(nodes) > 1 {
			return fmt.Errorf("%d nodes at the top", len(nodes))
		}
	}
	return nil
}

// checkNodes checks by brute force that each label below the root holds for all
// texts under its node, and that level 0 publishes what a class of one does.
func checkNodes(spec hierarchy.Spec, h hierarchy.Hierarchy, texts []string, column []hierarchy.Cell) error {
	l := hierarchy.LevelsOf(h, column)
	for level := range l.Height() {
		members := map[hierarchy.NodeID][]string{}
		labels := map[hierarchy.NodeID]hierarchy.Generalization{}
		for i, c := range column {
			node := l.Node(c, level)
			members[node] = append(members[node], texts[i])
			labels[node] = l.Label(c, level)
			if g := h.Generalize([]hierarchy.Cell{c}); level == 0 && labels[node] != g {
				return fmt.Errorf("%q is published as %+v alone and as %+v at level 0", texts[i], g, labels[node])
			}
		}
		for node, texts := range members {
			if err := anonymizertest.CheckGeneralization(spec, texts, labels[node]); err != nil {
				return fmt.Errorf("level %d: %w", level, err)
			}
		}
	}
	return nil
}

func TestLevels(t *testing.T) {
	t.Parallel()
	for _, shape := range []workload.Shape{
		{Records: 1, Distinct: 1},
		{Records: 40, Distinct: 2, Nulls: 0.2},
		{Records: 300, Distinct: 150},
		{Records: 300, Distinct: 40_000, Nulls: 0.05},
		{Records: 20, Distinct: 5, Nulls: 1},
		{Records: 0},
	} {
		shape.Attributes = 14
		for seed := range uint64(2) {
			d := workload.Generate(seed, shape)
			for a, spec := range d.Specs {
				h := d.Attributes[a].Hierarchy
				if err := checkLadder(hierarchy.LevelsOf(h, d.Cells[a]), d.Cells[a]); err != nil {
					t.Fatalf("%+v of %+v, seed %d: %v", spec, shape, seed, err)
				}
				if err := checkNodes(spec, h, d.Raw[a], d.Cells[a]); err != nil {
					t.Fatalf("%+v of %+v, seed %d: %v", spec, shape, seed, err)
				}
			}
		}
	}
}

// TestClassesHold: what stands for a class holds for all of its texts.
func TestClassesHold(t *testing.T) {
	t.Parallel()
	d := workload.Generate(6, workload.Shape{Records: 400, Distinct: 2000, Nulls: 0.02, Attributes: 14})
	random := rand.New(rand.NewPCG(7, 8))
	for a, spec := range d.Specs {
		for range 400 {
			first := random.IntN(len(d.Cells[a]))
			end := first + 1 + random.IntN(min(6, len(d.Cells[a])-first))
			g := d.Attributes[a].Hierarchy.Generalize(d.Cells[a][first:end])
			if err := anonymizertest.CheckGeneralization(spec, d.Raw[a][first:end], g); err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
		}
	}
}

// TestClassesLieOnTheLadder: where a specification limits what may be published,
// a class is published as the lowest node that holds all of it.
func TestClassesLieOnTheLadder(t *testing.T) {
	t.Parallel()
	d := workload.Generate(5, workload.Shape{Records: 500, Distinct: 3000, Attributes: 14})
	random := rand.New(rand.NewPCG(1, 2))
	for a, spec := range d.Specs {
		if len(spec.Steps)+len(spec.Units)+len(spec.Keep) == 0 {
			continue
		}
		h := d.Attributes[a].Hierarchy
		l := hierarchy.LevelsOf(h, d.Cells[a])
		at := map[int]int{}
		for range 3000 {
			first := random.IntN(len(d.Cells[a]))
			cells := d.Cells[a][first : first+1+random.IntN(min(4, len(d.Cells[a])-first))]
			level := 1
			for ; ; level++ {
				same := true
				for _, c := range cells {
					same = same && l.Node(c, level) == l.Node(cells[0], level)
				}
				if same {
					break
				}
			}
			at[level]++
			got, want := h.Generalize(cells), l.Label(cells[0], level)
			if spec.Kind == hierarchy.Prefix {
				// Asterisks tell the lengths of a class or of a node.
				got.Value, want.Value = strings.TrimRight(got.Value, "*"), strings.TrimRight(want.Value, "*")
			}
			if got != want {
				t.Fatalf("%+v: a class is published as %+v, its node at level %d as %+v", spec, got, level, want)
			}
		}
		if len(at) < 3 {
			t.Errorf("%+v: classes at levels %v only", spec, at)
		}
	}
}

// TestHalvesHaveEqualParts: at each level, intervals differ by at most one in
// the number of distinct values, and the height is bounded.
func TestHalvesHaveEqualParts(t *testing.T) {
	t.Parallel()
	h := build(t, hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	for _, n := range []int{2, 3, 7, 8, 9, 100, 255, 256, 257, 1000, 5000} {
		column := make([]hierarchy.Cell, n)
		for i := range column {
			column[i] = hierarchy.Cell(i * i)
		}
		l := hierarchy.LevelsOf(h, column)
		if want := min(8, int(math.Ceil(math.Log2(float64(n))))); l.Height() != want {
			t.Errorf("%d values: height %d, %d expected", n, l.Height(), want)
		}
		for level := 1; level <= l.Height(); level++ {
			sizes := map[hierarchy.NodeID]int{}
			for _, c := range column {
				sizes[l.Node(c, level)]++
			}
			least, most := n, 0
			for _, size := range sizes {
				least, most = min(least, size), max(most, size)
			}
			if len(sizes) != 1<<(l.Height()-level) || most-least > 1 {
				t.Errorf("%d values, level %d: %d intervals of %d to %d", n, level, len(sizes), least, most)
			}
		}
	}
}

// foreign is a hierarchy of which the package knows nothing.
type foreign struct{ hierarchy.Hierarchy }

func TestStrangeCells(t *testing.T) {
	t.Parallel()
	specs := []hierarchy.Spec{
		{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger},
		{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal, Steps: []float64{1, 2}},
		{Kind: hierarchy.Date, Domain: hierarchy.DomainTimestamp},
		{Kind: hierarchy.Date, Domain: hierarchy.DomainDate, Units: []hierarchy.Unit{hierarchy.Year}},
		{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
		{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText},
		{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: []string{"a", "b", "c"}},
		{Kind: hierarchy.Suppression, Domain: hierarchy.DomainText},
	}
	column := []hierarchy.Cell{hierarchy.OffScale(), math.Inf(1), math.Inf(-1), -1, 1e300, -1e300, math.Copysign(0, -1), 0, 1.5, 3}
	for _, s := range specs {
		for _, h := range []hierarchy.Hierarchy{build(t, s), foreign{build(t, s)}} {
			h.Encode("a")
			for _, ladder := range []hierarchy.Levels{hierarchy.LevelsOf(h, nil), hierarchy.LevelsOf(h, column)} {
				for level := -1; level <= ladder.Height()+1; level++ {
					for _, c := range column {
						_, _ = ladder.Node(c, level), ladder.Label(c, level)
						if share := ladder.Share(c, level); !(share >= 0 && share <= 1) {
							t.Errorf("%v: share %v", s.Kind, share)
						}
					}
				}
				if !ladder.Label(hierarchy.OffScale(), 0).Hidden || ladder.Node(hierarchy.OffScale(), 0) == ladder.Node(0, 0) && !ladder.Label(0, 0).Hidden {
					t.Errorf("%v: NULL has a label, or shares a node with others", s.Kind)
				}
			}
		}
	}
}

// TestLateCodes: what was encoded after the ladder was made is hidden by it.
func TestLateCodes(t *testing.T) {
	t.Parallel()
	for _, k := range []hierarchy.Kind{hierarchy.Categorical, hierarchy.Prefix, hierarchy.Suppression} {
		h := build(t, hierarchy.Spec{Kind: k, Domain: hierarchy.DomainText})
		l := hierarchy.LevelsOf(h, encode(h, "a", "bc"))
		if late := h.Encode("late"); !l.Label(late, 0).Hidden || l.Node(late, 0) != l.Node(hierarchy.OffScale(), 0) {
			t.Errorf("%v: a later value has a place", k)
		}
	}
}
