package catalog

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// NewAttributes makes the quasi-identifying attributes, in the order of Attributes, each with a
// new hierarchy that has encoded no values yet. There is no error for a publication in which
// Publish has found no problem.
func (p Publication) NewAttributes() ([]anonymizer.Attribute, error) {
	attributes := make([]anonymizer.Attribute, len(p.Attributes))
	for i, a := range p.Attributes {
		h, err := hierarchy.New(a.Spec)
		if err != nil {
			return nil, fmt.Errorf("hierarchy of %s.%s: %w", p.Policy.Table, a.Column, err)
		}
		attributes[i] = anonymizer.Attribute{Name: a.Column, Hierarchy: h}
	}
	return attributes, nil
}

// NewSchema makes what the policy's constraints refer to by name: the
// attributes in the order of Attributes, and the sensitive columns in the order
// of Sensitive, each with an empty dictionary. There is no error for a publication
// in which Publish has found no problem.
func (p Publication) NewSchema() (privacy.Schema, error) {
	var schema privacy.Schema
	for _, a := range p.Attributes {
		schema.Attributes = append(schema.Attributes, a.Column)
	}
	for _, s := range p.Sensitive {
		sensitive := privacy.Sensitive{Name: s.Column, Values: privacy.NewDictionary()}
		if s.Spec != nil {
			h, err := hierarchy.New(*s.Spec)
			if err != nil {
				return privacy.Schema{}, fmt.Errorf("hierarchy of %s.%s: %w", p.Policy.Table, s.Column, err)
			}
			sensitive.Hierarchy = h
		}
		schema.Sensitive = append(schema.Sensitive, sensitive)
	}
	return schema, nil
}

// ConstraintSet makes the policy's constraints over a schema of NewSchema, whose
// dictionaries are of Canonical texts. The error does not occur for what Publish
// has found no problem with.
func (p Publication) ConstraintSet(schema privacy.Schema) (privacy.ConstraintSet, error) {
	return p.constraintSet(p.Policy.Constraints, schema)
}

// ConstraintSetFor is the same of all constraints that hold for what an audience sees.
func (p Publication) ConstraintSetFor(audience string, schema privacy.Schema) (privacy.ConstraintSet, error) {
	return p.constraintSet(p.Policy.ConstraintsFor(audience), schema)
}

func (p Publication) constraintSet(specs []privacy.Spec, schema privacy.Schema) (privacy.ConstraintSet, error) {
	specs = slices.Clone(specs)
	for i, spec := range specs {
		if column, exists := p.Relation.Column(spec.Of); exists {
			specs[i].Values = canonicalAll(column.BaseType, spec.Values)
		}
	}
	set, err := privacy.NewSet(specs, schema)
	if err != nil {
		return nil, fmt.Errorf("constraints of %s: %w", p.Policy.Table, err)
	}
	return set, nil
}

// Components are the parts of the table that are divided into classes apart
// from each other: indexes into Attributes, ascending, in the order in which
// anonymizer.Split has the parts. A table has one, unless each of its constraints
// is over some columns that nothing ties to others.
func (p Publication) Components() [][]int {
	components, _ := p.divide()
	return components
}

// divide also gives the attributes that no k-anonymity constraint is over.
func (p Publication) divide() (components [][]int, uncovered []int) {
	names := make([]string, len(p.Attributes))
	for i, a := range p.Attributes {
		names[i] = a.Column
	}
	return privacy.Divide(p.Policy.Constraints, names)
}
