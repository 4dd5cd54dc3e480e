package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// checkQuasiIdentifiers checks that constraints are over quasi-identifying columns only, and that
// a k-anonymity constraint is over each of them: a column in none would be published without
// protection.
func (b *builder) checkQuasiIdentifiers() {
	policy := b.publication.Policy
	misnamed, sized := false, false
	for _, constraint := range policy.Constraints {
		sized = sized || constraint.Model == privacy.K
		for _, name := range constraint.Over {
			if c, named := policy.Column(name); !named || c.Role != QuasiIdentifying {
				b.problem(name, fmt.Sprintf("the constraint %v is over it, but it is not a quasi-identifying column of the policy", constraint),
					"give it the role quasi-identifying and a hierarchy, or remove it from over")
				misnamed = true
			}
		}
	}
	if misnamed || !sized {
		return
	}
	_, uncovered := b.publication.divide()
	for _, a := range uncovered {
		b.problem(b.publication.Attributes[a].Column, "is quasi-identifying, but no k-anonymity constraint is over it",
			"name it in the over of one, or add one over all columns")
	}
}

// checkMethod checks that the method supports the constraints. The publication must be complete
// otherwise.
func (b *builder) checkMethod() {
	for _, constraint := range b.publication.Policy.Constraints {
		if err := constraint.Validate(); err != nil {
			b.problem(constraint.Of, fmt.Sprintf("the constraint %v cannot be: %s", constraint, joined(err)), "correct the constraint")
		}
	}
	method, err := methods.Trying(b.publication.Policy.Method, b.publication.Policy.Effort)
	switch {
	case errors.Is(err, methods.ErrOneEffort):
		b.problem("", joined(err), "choose method lookahead-partition, or leave effort out")
	case err != nil:
		b.problem("", joined(err), "choose one of them")
	}
	if len(b.problems) > 0 || b.member {
		return
	}
	attributes, set, err := b.publication.demands()
	if err != nil {
		b.problem("", joined(err), "correct the policy")
		return
	}
	if err := methods.Refusal(method, attributes, set); err != nil {
		fix := "loosen the constraints: no method honors them all"
		if accepting := methods.Accepting(attributes, set); len(accepting) > 0 {
			fix = "choose a method that does: " + strings.Join(accepting, ", ")
		}
		b.problem("", fmt.Sprintf("method %s %s", method.Name(), joined(err)), fix)
	}
}

// demands are the requirements for a method, before there are data.
func (p Publication) demands() ([]anonymizer.Attribute, privacy.ConstraintSet, error) {
	attributes, err := p.NewAttributes()
	if err != nil {
		return nil, nil, err
	}
	schema, err := p.NewSchema()
	if err != nil {
		return nil, nil, err
	}
	set, err := p.ConstraintSet(schema)
	return attributes, set, err
}
