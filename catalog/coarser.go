package catalog

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// AudienceColumn is how an audience sees a quasi-identifying column, where the audience before it, or the table's own
// readers, see it otherwise. It holds for coarser audiences, too.
type AudienceColumn struct {
	Name string
	// Limits are within those of the finer readers.
	Limits hierarchy.Coarseness
	// Publish is the form; nil for the form that the finer readers see.
	Publish *Form `json:",omitempty"`
}

// column is the audience's entry for a column.
func (a AudiencePolicy) column(name string) (of AudienceColumn) {
	if i := slices.IndexFunc(a.Columns, func(c AudienceColumn) bool { return c.Name == name }); i >= 0 {
		of = a.Columns[i]
	}
	return of
}

// seen derives a column's policy for the audience from that for the finer readers.
func (a AudiencePolicy) seen(c ColumnPolicy) ColumnPolicy {
	of := a.column(c.Name)
	if c.Hierarchy != nil && !of.Limits.IsZero() {
		spec := of.Limits.Of(*c.Hierarchy)
		c.Hierarchy = &spec
		c.Depth = max(of.Limits.Depth, 0)
	}
	if of.Publish != nil {
		c.Publish = *of.Publish
	}
	return c
}

// limit derives an attribute as the audience sees it from that of the finer readers.
func (a AudiencePolicy) limit(attribute Attribute) Attribute {
	limits := a.column(attribute.Column).Limits
	attribute.Spec = limits.Of(attribute.Spec)
	if limits.Depth > 0 {
		attribute.Depth = limits.Depth
	}
	return attribute
}

// MayFollow reports whether one form of a column determines another, which coarser readers see: a range
// determines the value in its middle, and not the other way around.
func (f Form) MayFollow(finer Form) bool { return finer != FormValue || f == FormValue }

// AttributesFor derives the attributes that an audience sees from those of the readers before it: the audience
// before, or the table's own readers. It returns no error for a publication in which Publish has found no problem.
func (p Publication) AttributesFor(audience string, finer []anonymizer.Attribute) ([]anonymizer.Attribute, error) {
	place := p.Policy.place(audience)
	if place < 0 {
		return nil, fmt.Errorf("%s is not shown to %s", p.Policy.Table, audience)
	}
	before := p
	if place > 0 {
		before, _ = p.MadeFor(p.Policy.Audiences[place-1].Audience)
	}
	seen := slices.Clone(finer)
	for i, a := range before.Attributes {
		h, err := hierarchy.Coarser(finer[i].Hierarchy, a.Spec, p.Policy.Audiences[place].column(a.Column).Limits)
		if err != nil {
			return nil, fmt.Errorf("limits of %s.%s for %s: %w", p.Policy.Table, a.Column, audience, err)
		}
		seen[i].Hierarchy = h
	}
	return seen, nil
}

// checkLimits refuses audiences that would see more of a column than finer readers do.
func (b *builder) checkLimits() {
	attributes := slices.Clone(b.publication.Attributes)
	forms := make(map[string]Form)
	for _, c := range b.publication.Policy.Columns {
		forms[c.Name] = c.Publish
	}
	for _, a := range b.publication.Policy.Audiences {
		for _, c := range a.Columns {
			i := slices.IndexFunc(attributes, func(of Attribute) bool { return of.Column == c.Name })
			if i < 0 {
				b.problem(c.Name, fmt.Sprintf("audience %s is to see it coarser, and it is not quasi-identifying", a.Audience), "remove it from the audience's columns")
				continue
			}
			if err := c.Limits.Within(attributes[i].Spec, attributes[i].Depth); err != nil {
				b.problem(c.Name, fmt.Sprintf("audience %s cannot see it so: %s", a.Audience, joined(err)), "correct the audience's columns")
				continue
			}
			attributes[i] = a.limit(attributes[i])
			if c.Publish == nil {
				continue
			}
			if kind := attributes[i].Spec.Kind; kind != hierarchy.Numeric && kind != hierarchy.Date {
				b.problem(c.Name, fmt.Sprintf("audience %s is to see it in another form, and it is published as a label only", a.Audience), "remove publish there")
			} else if !c.Publish.MayFollow(forms[c.Name]) {
				b.problem(c.Name, fmt.Sprintf("audience %s is to see ranges of it, and finer readers do not", a.Audience), "write publish: value there, or publish: range for the finer readers")
			}
			forms[c.Name] = *c.Publish
		}
	}
}
