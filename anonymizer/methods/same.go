package methods

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// reducible is a method that makes, under some constraints, the release of another one,
// whatever the table and the seed: a variant that differs by constraints that are absent.
type reducible interface {
	// Reduces is the other method, nil where the method differs from all others.
	Reduces(c privacy.ConstraintSet) anonymizer.Method
}

// SameAs is the name of a method that makes the same release as the one of the name under
// the constraints over so many attributes: the name itself where no simpler one does.
// Names that lead to the same name make the same release.
func SameAs(name string, attributes int, c privacy.ConstraintSet) string {
	m, err := Named(name)
	if err != nil {
		return name
	}
	components, _ := c.Components(attributes)
	for {
		simpler := reduced(m, components)
		if simpler == nil {
			return m.Name()
		}
		m = simpler
	}
}

// reduced is what a method reduces to in all components alike, nil for none.
func reduced(m anonymizer.Method, components []privacy.Component) anonymizer.Method {
	variant, is := m.(reducible)
	if !is {
		return nil
	}
	var simpler anonymizer.Method
	for _, component := range components {
		other := variant.Reduces(component.Constraints)
		if other == nil || simpler != nil && simpler.Name() != other.Name() {
			return nil
		}
		simpler = other
	}
	return simpler
}
