package nested_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// limited are attributes of which coarser releases show less, where the kind has limits.
func limited(t *testing.T, attributes []anonymizer.Attribute, specs []hierarchy.Spec) (all []anonymizer.Attribute, shown []hierarchy.Spec) {
	t.Helper()
	for a, attribute := range attributes {
		limit := limitOf(specs[a])
		h, err := hierarchy.Coarser(attribute.Hierarchy, specs[a], limit)
		if err != nil {
			t.Fatalf("%+v: %v", specs[a], err)
		}
		all, shown = append(all, anonymizer.Attribute{Name: attribute.Name, Hierarchy: h}), append(shown, limit.Of(specs[a]))
	}
	return all, shown
}

// limitOf is the coarser half of what a hierarchy may show, or a limit of its own.
func limitOf(s hierarchy.Spec) hierarchy.Coarseness {
	switch {
	case s.Kind == hierarchy.Numeric && len(s.Steps) > 0:
		return hierarchy.Coarseness{Steps: s.Steps[len(s.Steps)/2:]}
	case s.Kind == hierarchy.Numeric:
		return hierarchy.Coarseness{Steps: []float64{10, 1000, 100_000}}
	case s.Kind == hierarchy.Date && len(s.Units) > 0:
		return hierarchy.Coarseness{Units: s.Units[len(s.Units)/2:]}
	case s.Kind == hierarchy.Date:
		return hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Century}}
	case s.Kind == hierarchy.Prefix && len(s.Keep) > 0:
		return hierarchy.Coarseness{Keep: s.Keep[len(s.Keep)/2:]}
	case s.Kind == hierarchy.Prefix:
		return hierarchy.Coarseness{Keep: []int{2, 1}}
	}
	if depth := (hierarchy.Coarseness{Depth: 1}); s.Kind == hierarchy.Categorical && depth.Within(s, 0) == nil {
		return depth
	}
	return hierarchy.Coarseness{}
}

// sameLabel compares labels, of which masked prefixes may have asterisks for one length or for any: see
// hierarchy.Union.
func sameLabel(a, b hierarchy.Generalization) bool {
	masked := strings.HasSuffix(a.Value, "*") && strings.HasSuffix(b.Value, "*")
	return a == b || masked && strings.TrimRight(a.Value, "*") == strings.TrimRight(b.Value, "*")
}

// TestGroupsWithLimits has groups show less of each attribute than their classes, through random histories.
func TestGroupsWithLimits(t *testing.T) {
	t.Parallel()
	kinds := make(map[hierarchy.Kind]int)
	for _, name := range []string{"k", "l", "beta"} {
		for seed := range uint64(3) {
			shape := workload.Shape{Attributes: 4 + 5*int(seed), Distinct: []int{3, 20, 500}[seed], Nulls: 0.01, Sensitive: 5}
			m := newModel(t, seed, shape, 0, chains()[name])
			m.limit(seed)
			for a := range m.specs {
				if !limitOf(m.data.Specs[a]).IsZero() {
					kinds[m.specs[a].Kind]++
				}
			}
			for round := range 20 {
				for range []int{1, 3, 10, 60}[m.random.IntN(4)] {
					m.step([]int{25, 6, 1}[round*3/20])
				}
				m.settle()
				if m.random.IntN(6) == 0 {
					m.restart(seed, chains()[name][0])
					m.settle()
				}
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("only these kinds have limits: %v", kinds)
	}
}
