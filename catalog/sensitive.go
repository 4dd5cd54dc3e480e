package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// checkSensitive fills Publication.Sensitive with the columns that constraints
// speak of.
func (b *builder) checkSensitive() {
	policy := b.publication.Policy
	for _, constraint := range policy.allConstraints() {
		if constraint.Model == privacy.K {
			continue
		}
		c, named := policy.Column(constraint.Of)
		if !named || c.Role != Sensitive {
			b.problem(constraint.Of, fmt.Sprintf("the constraint %v speaks of it, but it is not a sensitive column of the policy", constraint),
				"give it the role sensitive")
			continue
		}
		if slices.ContainsFunc(b.publication.Sensitive, func(s SensitiveColumn) bool { return s.Column == constraint.Of }) {
			continue
		}
		sensitive := SensitiveColumn{Column: constraint.Of}
		if column, exists := b.publication.Relation.Column(constraint.Of); exists {
			b.checkCountable(column, "a constraint speaks of it", "let the constraint speak of")
			sensitive.Spec = b.arrangement(column, c.Hierarchy)
		}
		b.publication.Sensitive = append(b.publication.Sensitive, sensitive)
	}
	for _, c := range policy.ByRole(Sensitive) {
		if c.Hierarchy != nil && len(b.distances(c.Name)) == 0 {
			b.problem(c.Name, "is published as it is; a hierarchy only arranges its values for the distance of t-closeness, and no constraint measures one",
				"remove the hierarchy, or add a t-closeness constraint with an ordered or hierarchical distance")
		}
	}
}

// distances are the ground distances, other than equal, that t-closeness of the
// column uses, each once.
func (b *builder) distances(column string) []privacy.Distance {
	var distances []privacy.Distance
	for _, c := range b.publication.Policy.allConstraints() {
		if c.Model == privacy.TClose && c.Of == column && c.Distance != privacy.EqualDistance && !slices.Contains(distances, c.Distance) {
			distances = append(distances, c.Distance)
		}
	}
	return distances
}

// arrangement is the hierarchy by which distances between the column's values
// are measured: the policy's, or the order that numbers and dates have.
func (b *builder) arrangement(column Column, given *hierarchy.Spec) *hierarchy.Spec {
	distances := b.distances(column.Name)
	if len(distances) == 0 {
		return nil
	}
	var spec hierarchy.Spec
	if given != nil {
		spec = *given
	} else if v, ordered := valueTypes[column.BaseType]; ordered {
		spec.Kind = v.naturalKind()
	} else {
		spec.Kind = hierarchy.Categorical
	}
	arranged := true
	for _, d := range distances {
		switch {
		case d == privacy.OrderedDistance && !slices.Contains([]hierarchy.Kind{hierarchy.Numeric, hierarchy.Date, hierarchy.Ordered}, spec.Kind):
			b.problem(column.Name, "the ordered distance of t-closeness needs an order of its values, and it has none",
				"give the column a hierarchy of kind ordered with the values from the least to the greatest, or use another distance")
			arranged = false
		case d == privacy.HierarchicalDistance && (spec.Kind != hierarchy.Categorical || len(spec.Taxonomy) == 0):
			b.problem(column.Name, "the hierarchical distance of t-closeness needs a taxonomy of its values, and it has none",
				"give the column a hierarchy of kind categorical with a taxonomy, or use another distance")
			arranged = false
		}
	}
	if !arranged {
		return nil
	}
	spec.Order = canonicalAll(column.BaseType, spec.Order)
	spec.Taxonomy = canonicalNodes(column.BaseType, spec.Taxonomy)
	spec, arranged = b.over(column, spec)
	if !arranged {
		return nil
	}
	return &spec
}

// checkSubject wants a stored column of persons that is never published: with
// it, the rows of one person could be linked across classes.
func (b *builder) checkSubject() {
	name := b.publication.Policy.Subject
	if name == "" {
		return
	}
	column, exists := b.publication.Relation.Column(name)
	policy, named := b.publication.Policy.Column(name)
	switch {
	case !exists:
		b.problem(name, "is to say which person a record is about, but the table has no such column", "correct the name of the subject")
		return
	case named && policy.Role != Identifying:
		b.problem(name, fmt.Sprintf("says which person a record is about, so it must not be published, but it is %s", policy.Role),
			"give it the role identifying, or leave it out of the columns")
	case column.Generated && !named:
		b.problem(name, "is a generated column, which logical replication leaves out", "name as the subject what it is made from")
	}
	b.checkCountable(column, "persons are told apart by it", "let the subject be")
}

// countable are the types whose distinct values can be told apart by their
// texts; of numbers, once their scale and the sign of zero are made one.
// Enumerations are countable, too.
var countable = []string{
	"text", "varchar", "bpchar", "name", "bool", "int2", "int4", "int8", "numeric", "float4", "float8",
	"date", "timestamp", "timestamptz", "uuid",
}

// checkCountable wants the column's values to be equal exactly where their
// texts are: else one value would be counted as several, and a class would look
// more diverse, or to hold more persons, than it does.
func (b *builder) checkCountable(column Column, why, instead string) {
	switch {
	case !column.Enum && !slices.Contains(countable, column.BaseType):
		b.problem(column.Name, fmt.Sprintf("%s, but equal values of type %s can be written differently", why, column.Type),
			instead+" a column of an enumeration or of type "+strings.Join(countable, ", "))
	case !column.Deterministic:
		b.problem(column.Name, why+", but its collation is not deterministic: different texts are equal",
			fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s COLLATE \"default\", or %s another column",
				b.publication.Relation.Name.SQL(), QuoteIdentifier(column.Name), column.Type, instead))
	}
}
