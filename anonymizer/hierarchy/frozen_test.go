package hierarchy_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// same compares two positions; two of them off the scale are the same.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// TestFrozen: a frozen hierarchy says of the cells met so far what the other one
// says, with the same levels, while that one goes on learning.
func TestFrozen(t *testing.T) {
	t.Parallel()
	const early = 40
	data := workload.Generate(5, workload.Shape{Records: 80, Attributes: 14, Distinct: 60, Nulls: 0.05})
	for a, spec := range data.Specs {
		t.Run(data.Attributes[a].Name, func(t *testing.T) {
			t.Parallel()
			h := workload.Attribute("", spec).Hierarchy
			var cells []hierarchy.Cell
			for _, text := range data.Raw[a][:early] {
				cells = append(cells, workload.Encode(h, text))
			}
			frozen := hierarchy.Frozen(h)
			before := fmt.Sprint(told(h, cells), told(frozen, cells))
			var learning sync.WaitGroup
			learning.Go(func() {
				for _, text := range data.Raw[a][early:] {
					workload.Encode(h, text)
				}
			})
			during := told(frozen, cells)
			learning.Wait()
			if after := fmt.Sprint(during, told(hierarchy.Frozen(frozen), cells)); before != after {
				t.Errorf("%s while the hierarchy learns, %s before", after, before)
			}
		})
	}
}

// told is all that a hierarchy says of a column.
func told(h hierarchy.Hierarchy, column []hierarchy.Cell) []any {
	levels := hierarchy.LevelsOf(h, column)
	all := []any{h.Kind(), h.Generalize(column), levels.Height()}
	for i, c := range column {
		all = append(all, h.Position(c), h.Generalize(column[:i+1]))
		for level := range levels.Height() + 1 {
			all = append(all, levels.Node(c, level), levels.Share(c, level), levels.Label(c, level))
		}
	}
	return all
}

// TestFrozenLearnsNothing: a text of a dictionary is off the scale.
func TestFrozenLearnsNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []hierarchy.Kind{hierarchy.Categorical, hierarchy.Prefix, hierarchy.Suppression} {
		h := workload.Attribute("", hierarchy.Spec{Kind: kind, Domain: hierarchy.DomainText}).Hierarchy
		h.Encode("a")
		frozen := hierarchy.Frozen(h)
		later := h.Encode("b")
		if c := frozen.Encode("b"); !hierarchy.IsOffScale(c) || !same(frozen.Position(later), math.NaN()) {
			t.Errorf("%v: b is %v, and its cell lies at %v", kind, c, frozen.Position(later))
		}
	}
}
