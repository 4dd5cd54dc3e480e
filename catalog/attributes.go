package catalog

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// valueType is how values of a source type are generalized.
type valueType struct {
	domain    hierarchy.Domain
	rangeType string
}

var valueTypes = map[string]valueType{
	"int2":        {hierarchy.DomainInteger, "int4range"},
	"int4":        {hierarchy.DomainInteger, "int4range"},
	"int8":        {hierarchy.DomainInteger, "int8range"},
	"numeric":     {hierarchy.DomainDecimal, "numrange"},
	"float4":      {hierarchy.DomainDecimal, "numrange"},
	"float8":      {hierarchy.DomainDecimal, "numrange"},
	"date":        {hierarchy.DomainDate, "daterange"},
	"timestamp":   {hierarchy.DomainTimestamp, "tsrange"},
	"timestamptz": {hierarchy.DomainTimestampTZ, "tstzrange"},
}

// naturalKind is the kind of hierarchy over values that are ordered by themselves.
func (v valueType) naturalKind() hierarchy.Kind {
	if v.domain == hierarchy.DomainInteger || v.domain == hierarchy.DomainDecimal {
		return hierarchy.Numeric
	}
	return hierarchy.Date
}

// attributes fills Publication.Attributes and maps column names to its indexes.
func (b *builder) attributes() map[string]int {
	index := make(map[string]int)
	for _, c := range b.publication.Policy.ByRole(QuasiIdentifying) {
		column, exists := b.publication.Relation.Column(c.Name)
		if !exists {
			continue
		}
		if c.Hierarchy == nil {
			b.problem(c.Name, "is quasi-identifying but has no hierarchy", "give it one")
			continue
		}
		spec, ok := b.over(column, *c.Hierarchy)
		if !ok {
			continue
		}
		index[c.Name] = len(b.publication.Attributes)
		b.publication.Attributes = append(b.publication.Attributes, Attribute{Column: c.Name, Spec: spec})
	}
	return index
}

// over gives the hierarchy the domain of its column. It is false, with a problem, where the
// two do not fit.
func (b *builder) over(column Column, spec hierarchy.Spec) (hierarchy.Spec, bool) {
	spec.Domain = hierarchy.DomainText
	if spec.Kind == hierarchy.Numeric || spec.Kind == hierarchy.Date {
		v, known := valueTypes[column.BaseType]
		if !known {
			b.problem(column.Name, fmt.Sprintf("a %s hierarchy does not fit type %s", spec.Kind, column.Type),
				"use another kind, for example categorical or prefix")
			return spec, false
		}
		spec.Domain = v.domain
	}
	if err := spec.Validate(); err != nil {
		b.problem(column.Name, joined(err), fmt.Sprintf("choose another hierarchy for type %s", column.Type))
		return spec, false
	}
	return spec, true
}

// joined is the error's text in one line.
func joined(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
