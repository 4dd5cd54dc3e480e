package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// checkConstraints counts over the published relation, exactly as a client could. For
// k-anonymity, a group is the rows that agree in all published columns of the constraint;
// for other constraints, in all columns of its part. A client who knows fewer columns sees
// unions of such groups, for which the constraint follows. This does not hold if persons are
// counted and a person is in several groups; then only these groups are promised.
//
// Clients do not see which rows belong to one person. If the policy names a subject,
// groups therefore consist of classes: the private store has the records of the classes whose
// rows agree in these columns, and the distinct subjects of these records are counted.
// Records without a subject are one person.
//
// Guarded tables publish the numbers of classes, so these are the groups. If the policy
// names a subject, the release numbers the persons of each class, since the private store no
// longer has the subjects of deleted and changed records.
func (t *table) checkConstraints() error {
	for _, constraint := range t.relations.publication.Policy.Shown().Constraints {
		if constraint.Model == privacy.K {
			if err := t.checkSize(constraint); err != nil {
				return err
			}
			continue
		}
		if !t.relations.isCopied(constraint.Of) {
			t.add(constraint.String(), 1, []string{"column " + constraint.Of + " is not published as it is"})
			continue
		}
		p := t.relations.partOf(attributesOver(t.relations.publication, constraint)...)
		query, arguments := t.relations.groups(p).sensitiveQuery(constraint)
		if err := t.violations(countedOver(constraint, p), query, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// checkHidden checks constraints on columns that these readers do not see. It counts the stored records of each
// class, which is the most that anyone learns by pooling this release with one that shows the column.
func (t *table) checkHidden(constraints []privacy.Spec, hidden []string) error {
	for _, constraint := range constraints {
		over := attributesOver(t.relations.publication, constraint)
		g := t.relations.groups(t.relations.partOf(over...))
		g.stored = true
		var query string
		var arguments []any
		switch {
		case len(hidden) > 0 && constraint.Model == privacy.K && (len(constraint.Over) == 0 || t.hidesSome(over, hidden)):
			query = g.sizeQuery(constraint)
		case slices.Contains(hidden, constraint.Of):
			query, arguments = g.sensitiveQuery(constraint)
		default:
			continue
		}
		if err := t.violations(constraint.String()+", with hidden columns", query, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// hidesSome says whether some of the attributes are of hidden columns.
func (t *table) hidesSome(attributes []int, hidden []string) bool {
	return slices.ContainsFunc(attributes, func(a int) bool {
		return slices.Contains(hidden, t.relations.publication.Attributes[a].Column)
	})
}

// countedOver names the constraint, and the columns of the part if it has more of
// them than the constraint is over.
func countedOver(c privacy.Spec, p part) string {
	sources := p.sources()
	if len(c.Over) == 0 || len(c.Over) == len(sources) {
		return c.String()
	}
	return c.String() + ", counted over " + strings.Join(sources, ", ")
}

// checkSize counts the rows, or the persons, that agree in the columns that a
// k-anonymity constraint is over.
func (t *table) checkSize(constraint privacy.Spec) error {
	over := attributesOver(t.relations.publication, constraint)
	var columns []catalog.PublishedColumn
	for _, c := range t.relations.publication.Columns {
		if c.Generalized() && slices.Contains(over, c.Attribute) {
			columns = append(columns, c)
		}
	}
	g := groups{relations: &t.relations, part: t.relations.partOf(over...), columns: columns}
	return t.violations(constraint.String(), g.sizeQuery(constraint))
}

// sizeQuery is a query for groups that are too small.
func (g groups) sizeQuery(constraint privacy.Spec) string {
	return fmt.Sprintf("SELECT 'a group of ' || n || ' %s' FROM (SELECT %s AS n FROM (%s) b GROUP BY %s) g WHERE n < %d",
		g.unit(), g.counted(), g.rows(""), strings.Join(g.names(), ", "), constraint.K)
}
