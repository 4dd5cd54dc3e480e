package anonymizertest

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Limited are attributes of which coarser releases show less, where the kind has limits, and what they may show.
func Limited(t testing.TB, attributes []anonymizer.Attribute, specs []hierarchy.Spec) (all []anonymizer.Attribute, shown []hierarchy.Spec) {
	t.Helper()
	for a, attribute := range attributes {
		limit := LimitOf(specs[a])
		h, err := hierarchy.Coarser(attribute.Hierarchy, specs[a], limit)
		if err != nil {
			t.Fatalf("%+v: %v", specs[a], err)
		}
		all, shown = append(all, anonymizer.Attribute{Name: attribute.Name, Hierarchy: h}), append(shown, limit.Of(specs[a]))
	}
	return all, shown
}

// LimitOf is the coarser half of what a hierarchy may show, or a limit of its own.
func LimitOf(s hierarchy.Spec) hierarchy.Coarseness {
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
