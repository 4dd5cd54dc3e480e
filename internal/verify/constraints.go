package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// checkConstraints counts over the published relation, exactly as a client
// could: rows that agree in all published columns that a k-anonymity constraint is
// over are a group; for the other constraints, rows that agree in all columns of the
// part that has these. Who knows fewer columns sees unions of such groups, for which
// the constraint follows. Where persons are counted it does not, with somebody in
// several groups, and only these are promised.
//
// Clients do not see which rows are one person's. Where the policy names a
// subject, groups are therefore made of classes: rows of the release that agree
// in these columns have their classes' records in the private store, and the
// different subjects of those are counted. Records without a subject are one
// person.
//
// The classes of guarded tables are published by their numbers, so these are the
// groups. Where the policy names a subject, the release numbers the persons of each
// class: those of deleted and of changed records are in the private store no more.
func (t *table) checkConstraints() error {
	for _, constraint := range t.publication.Policy.Constraints {
		if constraint.Model == privacy.K {
			if err := t.checkSize(constraint); err != nil {
				return err
			}
			continue
		}
		if !t.isCopied(constraint.Of) {
			t.add(constraint.String(), 1, []string{"column " + constraint.Of + " is not published as it is"})
			continue
		}
		p := t.partOf(attributesOver(t.publication, constraint)...)
		query, arguments := t.sensitiveQuery(constraint, p)
		if err := t.violations(countedOver(constraint, p), query, arguments...); err != nil {
			return err
		}
	}
	return nil
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
	over := attributesOver(t.publication, constraint)
	var columns []catalog.PublishedColumn
	for _, c := range t.publication.Columns {
		if c.Generalized() && slices.Contains(over, c.Attribute) {
			columns = append(columns, c)
		}
	}
	return t.violations(constraint.String(), fmt.Sprintf("SELECT 'a group of ' || n || ' %s' FROM (SELECT %s AS n FROM (%s) b GROUP BY %s) g WHERE n < %d",
		t.unit(), t.counted(), t.rows(t.partOf(over...), columns, ""), strings.Join(t.groupNames(columns), ", "), constraint.K))
}

func (t *table) hasSubject() bool { return t.publication.Policy.Subject != "" }

// unit is what is counted, for messages.
func (t *table) unit() string {
	if t.hasSubject() {
		return "persons"
	}
	return "rows"
}

// counted counts the rows of rows, or the persons behind them.
func (t *table) counted() string {
	if t.hasSubject() {
		return "(count(DISTINCT who) + max((who IS NULL)::int))"
	}
	return "count(*)"
}

// rows is a query for the published rows, behind the alias s: the columns by which
// they are grouped, as g0, g1 and so on, further expressions, and who, the
// person, where there is a subject.
func (t *table) rows(of part, columns []catalog.PublishedColumn, further string) string {
	switch {
	case t.isGuarded() && t.hasSubject():
		return fmt.Sprintf("SELECT s.%s AS g0%s, s.kproxy_person AS who FROM %s s", of.class, further, t.release)
	case t.isGuarded():
		return fmt.Sprintf("SELECT s.%s AS g0%s FROM %s s", of.class, further, t.published)
	case !t.hasSubject():
		return fmt.Sprintf("SELECT %s%s FROM %s s", grouped(columns, "s"), further, t.published)
	}
	return fmt.Sprintf("SELECT c.*%s, %s AS who FROM (SELECT DISTINCT l.%s AS class, %s FROM %s l) c JOIN %s s ON s.%s = c.class WHERE %s",
		further, quoted("s", t.publication.Policy.Subject), of.class, grouped(columns, "l"), t.release, t.records, of.class, t.inClasses("s"))
}

func grouped(columns []catalog.PublishedColumn, alias string) string {
	names := listed(columns, alias)
	for i := range names {
		names[i] += fmt.Sprintf(" AS g%d", i)
	}
	return strings.Join(names, ", ")
}

// groupNames are the columns of rows by which they are grouped.
func (t *table) groupNames(columns []catalog.PublishedColumn) []string {
	if t.isGuarded() {
		return []string{"g0"}
	}
	names := make([]string, max(1, len(columns)))
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	return names
}

// isCopied says whether the source column is published as it is.
func (t *table) isCopied(source string) bool {
	return slices.ContainsFunc(t.publication.Columns, func(c catalog.PublishedColumn) bool {
		return c.Part == catalog.Copy && c.Source == source && c.Name == source
	})
}
