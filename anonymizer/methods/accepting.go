package methods

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Refusal returns nil, or why the method cannot honor the constraints over these
// attributes, as the end of a sentence that starts with its name. Independent
// parts of the constraints are looked at apart from each other, as
// anonymizer.Anonymize runs them; attributes that no constraint is over are
// left out.
func Refusal(m anonymizer.Method, attributes []anonymizer.Attribute, c privacy.ConstraintSet) error {
	components, _ := c.Components(len(attributes))
	for _, component := range components {
		own := make([]anonymizer.Attribute, len(component.Attributes))
		for i, a := range component.Attributes {
			own[i] = attributes[a]
		}
		if err := m.Accepts(own, component.Constraints); err != nil {
			return err
		}
	}
	return nil
}

// Accepting lists the names of the methods that Refusal has nothing against, in
// the order of Names.
func Accepting(attributes []anonymizer.Attribute, c privacy.ConstraintSet) []string {
	var names []string
	for _, m := range all {
		if Refusal(m, attributes, c) == nil {
			names = append(names, m.Name())
		}
	}
	return names
}
