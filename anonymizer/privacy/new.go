package privacy

import (
	"errors"
	"fmt"
	"slices"
)

// New makes the constraint that a valid specification describes: on a sensitive
// attribute, it is Restricted exactly where the specification has an Over. The error
// is that of Spec.Validate, or names what the schema does not have. Values that a
// bound names get a code in the schema's dictionary, so that they are bound from
// their first appearance on.
func New(s Spec, schema Schema) (Constraint, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	over, err := places(s, schema)
	if err != nil {
		return nil, err
	}
	if s.Model == K {
		return KAnonymity{K: s.K, Over: over}, nil
	}
	c, err := newSensitive(s, schema)
	if err != nil || over == nil {
		return c, err
	}
	return Restricted{Constraint: c, Over: over}, nil
}

// places are the attributes that the specification is over, ascending; nil for all.
func places(s Spec, schema Schema) ([]int, error) {
	var over []int
	for _, name := range s.Over {
		a := slices.Index(schema.Attributes, name)
		if a < 0 {
			return nil, fmt.Errorf("%v: %q is no quasi-identifying attribute", s, name)
		}
		over = append(over, a)
	}
	slices.Sort(over)
	return over, nil
}

// newSensitive makes the constraint on a sensitive attribute, over all attributes.
func newSensitive(s Spec, schema Schema) (Constraint, error) {
	a := slices.IndexFunc(schema.Sensitive, func(c Sensitive) bool { return c.Name == s.Of })
	if a < 0 {
		return nil, fmt.Errorf("%v: there is no sensitive attribute of that name", s)
	}
	switch s.Model {
	case DistinctL:
		return DistinctDiversity{L: int(s.L), Attribute: a, Name: s.Of}, nil
	case EntropyL:
		return EntropyDiversity{L: s.L, Attribute: a, Name: s.Of}, nil
	case RecursiveCL:
		return RecursiveDiversity{C: s.C, L: int(s.L), Attribute: a, Name: s.Of}, nil
	case AlphaK:
		return newAlphaBound(s, a, schema.Sensitive[a])
	case TClose:
		return newTCloseness(s, a, schema.Sensitive[a])
	case BetaLike:
		return BetaLikeness{Beta: s.Beta, Enhanced: s.Enhanced, Attribute: a, Name: s.Of}, nil
	default:
		return DeltaDisclosurePrivacy{Delta: s.Delta, Attribute: a, Name: s.Of}, nil
	}
}

// NewSet makes the constraints of all specifications, in their order; the error
// joins those of New.
func NewSet(specs []Spec, schema Schema) (ConstraintSet, error) {
	var set ConstraintSet
	var errs []error
	for i, s := range specs {
		c, err := New(s, schema)
		if err != nil {
			errs = append(errs, fmt.Errorf("constraint %d: %w", i+1, err))
			continue
		}
		set = append(set, c)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return set, nil
}

func newAlphaBound(s Spec, attribute int, of Sensitive) (Constraint, error) {
	c := AlphaBound{Alpha: s.Alpha, Attribute: attribute, Name: s.Of}
	if len(s.Values) > 0 && of.Values == nil {
		return nil, fmt.Errorf("%v: the attribute has no dictionary to look values up in", s)
	}
	for _, text := range s.Values {
		c.Values = append(c.Values, of.Values.Code(text))
	}
	return c, nil
}

func newTCloseness(s Spec, attribute int, of Sensitive) (Constraint, error) {
	c := TCloseness{T: s.T, Attribute: attribute, Name: s.Of, Distance: s.Distance}
	if s.Distance == EqualDistance {
		return c, nil
	}
	if of.Hierarchy == nil || of.Values == nil {
		return nil, fmt.Errorf("%v: the attribute has no order or taxonomy; give it a hierarchy, or take the equal distance", s)
	}
	c.Scale = NewScale(of.Values, of.Hierarchy)
	return c, nil
}
