package verify

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// checkSensitive checks the constraints on sensitive values: for classes of persons with all
// values of all their rows, for the persons of cells with the values of the cell's window, and
// in pools for the values of the table's own rows. Where all is known, the persons of a cell
// are those of a class. A row that is not published counts as well. Of a column that is hidden
// from an audience, the values in the private store count: that they satisfy a constraint in the cells
// of the finer release does not mean that they do in unions of these, which can have persons in common.
func (m *member) checkSensitive() error {
	for _, c := range m.constraints() {
		if c.Model == privacy.K {
			continue
		}
		of, column := m.of.sensitive(c.Of)
		if of == nil {
			m.add(c.String(), 1, []string{"column " + c.Of + " is not published as it is"})
			continue
		}
		var crowds []crowd
		switch {
		case m.isRoot() && m.holdsInWindows(c):
			crowds = append(crowds, m.windows(of, column))
		case m.isRoot():
			crowds = append(crowds, m.classes(of, column))
		case !m.of.people.Knows.All && !m.isUnknown():
			crowds = append(crowds, m.cells(of, column))
		}
		if of == m && !m.isRoot() {
			crowds = append(crowds, m.pool(column))
		}
		name := ""
		if !of.relations.isCopied(column.Name) {
			name = ", with hidden columns"
		}
		for _, crowd := range crowds {
			query, arguments, supported := crowd.query(c, column)
			if !supported {
				m.add(c.String(), 1, []string{"it is not supported for several tables"})
				continue
			}
			if err := m.violations(c.String()+crowd.name+name, query, arguments...); err != nil {
				return err
			}
		}
	}
	return nil
}

// constraints are those of the release and, where its audience replaces the kind's by stricter ones, these too. The latter
// hold over all windows.
func (m *member) constraints() []privacy.Spec {
	all := slices.Clone(m.of.people.Constraints)
	if m.of.own == nil || !m.relations.isGuarded() {
		return all
	}
	for _, c := range m.of.own.people.Constraints {
		if c.Model != privacy.K && !stands(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// holdsInWindows reports whether a constraint holds for the persons of a class with the values of each window: so it is where it is
// stated for an audience of tables with guarded updates whose windows have pseudonyms of their own.
func (m *member) holdsInWindows(c privacy.Spec) bool {
	return m.of.own != nil && m.relations.isGuarded() && !m.of.people.Knows.All && !stands(m.of.own.people.Constraints, c)
}

func stands(among []privacy.Spec, c privacy.Spec) bool {
	return slices.ContainsFunc(among, func(other privacy.Spec) bool { return reflect.DeepEqual(c, other) })
}

// isCopiedToAnybody says whether the column is published as it is, to the table's own readers or to an audience.
func (m *member) isCopiedToAnybody(column string) bool {
	return slices.ContainsFunc(m.relations.publication.Copied(), func(c catalog.PublishedColumn) bool { return c.Source == column && c.Name == column })
}

// sensitive finds the table and the column that a constraint names; nil where it is not
// published as it is, to the tables' own readers or to an audience.
func (p *persons) sensitive(qualified string) (*member, catalog.Column) {
	name, column, _ := catalog.ParseQualifiedColumn(qualified)
	own := p
	if p.own != nil {
		own = p.own
	}
	for number, m := range p.members {
		if of, exists := m.relations.publication.Relation.Column(column); exists && m.relations.publication.Policy.Table == name && own.members[number].isCopiedToAnybody(column) {
			return m, of
		}
	}
	return nil, catalog.Column{}
}

// crowd are groups of persons, and the values that each of them has.
type crowd struct {
	name    string
	members string // a query for g0, the group, and who
	values  string // a query for g0, who, and v
	// least is how many values a group has at least that can violate a diversity.
	least int
}

// valuesOf is a query for the sensitive values of all records that belong to persons.
func (m *member) valuesOf(column catalog.Column) string {
	if m.relations.isGuarded() {
		return m.publishedValues(column, true)
	}
	return fmt.Sprintf("SELECT o.person AS who, o.win, %s AS v FROM (%s) o JOIN %s s ON s.kproxy_record = o.record WHERE o.person IS NOT NULL GROUP BY 1, 2, 3",
		key(column, quoted("s", column.Name)), m.records(), m.relations.records)
}

// classes are those of persons, with the values of all their records.
func (m *member) classes(of *member, column catalog.Column) crowd {
	members := fmt.Sprintf("SELECT class AS g0, person AS who FROM (%s) l GROUP BY 1, 2", m.rows())
	return crowd{"", members, fmt.Sprintf("SELECT m.g0, m.who, v.v FROM members m JOIN (%s) v ON v.who = m.who", of.valuesOf(column)), m.unsaid()}
}

// windows are the classes of persons in each window in which values of them are shown, with these values.
func (m *member) windows(of *member, column catalog.Column) crowd {
	values := of.publishedValues(column, false)
	members := fmt.Sprintf("SELECT DISTINCT l.class || ' in window ' || w.win AS g0, l.person AS who, w.win FROM (%[1]s) l JOIN (SELECT DISTINCT c.class, v.win FROM (%[1]s) c JOIN (%[2]s) v ON v.who = c.person) w ON w.class = l.class", m.rows(), values)
	return crowd{", in windows", members, fmt.Sprintf("SELECT m.g0, m.who, v.v FROM members m JOIN (%s) v ON v.who = m.who AND v.win = m.win", values), m.unsaid()}
}

// cells are the persons of each cell of the table, with the values in its window. Values of
// the root count in all windows.
func (m *member) cells(of *member, column catalog.Column) crowd {
	members := fmt.Sprintf("SELECT class AS g0, person AS who, win FROM (%s) l WHERE keyed AND person IS NOT NULL GROUP BY 1, 2, 3", m.rows())
	within, values := " AND v.win = m.win", of.valuesOf(column)
	if of.isRoot() {
		within = ""
	}
	if of.relations.isGuarded() {
		values = of.publishedValues(column, false)
	}
	return crowd{", in cells", members, fmt.Sprintf("SELECT m.g0, m.who, v.v FROM members m JOIN (%s) v ON v.who = m.who%s", values, within), m.unsaid()}
}

// pool are the persons of each class of rows without keys, with the values of these rows.
func (m *member) pool(column catalog.Column) crowd {
	values := fmt.Sprintf("%s s ON s.kproxy_record = l.record", m.relations.records)
	if m.relations.isGuarded() {
		values = fmt.Sprintf("%s s ON s.kproxy_row = l.record", m.relations.release)
	}
	rows := fmt.Sprintf("FROM (%s) l JOIN %s WHERE NOT keyed AND person IS NOT NULL", m.rows(), values)
	return crowd{
		", in rows without keys", "SELECT class AS g0, person AS who " + rows + " GROUP BY 1, 2",
		fmt.Sprintf("SELECT class AS g0, person AS who, %s AS v %s", key(column, quoted("s", column.Name)), rows), 0,
	}
}

// ofPersons counts as tallied does, in the groups that satisfy a condition. The size of a group
// counts persons without any value, too:
//
//	crowds: g0, size, number of values, and void: whether somebody has no value
const ofPersons = `WITH RECURSIVE members AS MATERIALIZED (%s),
rows AS MATERIALIZED (SELECT g0, who, v FROM (%s) h GROUP BY 1, 2, 3),
sizes AS (SELECT g0, count(DISTINCT who) AS size FROM members GROUP BY g0),
crowds AS (SELECT g0, size, coalesce(number, 0) AS number, coalesce(holders, 0) < size AS void
  FROM sizes LEFT JOIN (SELECT g0, count(DISTINCT v) AS number, count(DISTINCT who) AS holders FROM rows GROUP BY g0) h USING (g0)),
tally AS (SELECT g0, v, count(*) AS n FROM rows GROUP BY g0, v),
sized AS (SELECT dense_rank() OVER (ORDER BY g0) AS id, v, n, size, number, void,
  coalesce(sum(n) OVER (PARTITION BY g0 ORDER BY n DESC, v ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS taken,
  row_number() OVER (PARTITION BY g0 ORDER BY n DESC, v) AS rank
  FROM tally JOIN crowds USING (g0)),
counted AS (SELECT id, v, n, size, greatest(0, least(n, size - taken)) AS "left", rank FROM sized WHERE %s)
`

// query selects the groups that violate a constraint; not all models are supported. A
// diversity speaks of every choice of one value for each person. Where somebody has none, there
// is no choice, so that an entropy diversity is void, as it is where releases are made. The
// others then demand l values, and no l - 1 values that everybody has one of, or too many.
func (c crowd) query(s privacy.Spec, column catalog.Column) (query string, arguments []any, supported bool) {
	const describe = "SELECT 'a group of ' || size || ' persons' || "
	counted := func(condition string) string { return fmt.Sprintf(ofPersons, c.members, c.values, condition) }
	switch s.Model {
	case privacy.AlphaK:
		verdict, arguments := alphaVerdict(s, column)
		return counted("true") + describe + verdict, arguments, true
	case privacy.DistinctL, privacy.RecursiveCL:
		// Of guarded tables, a column of which nothing is published violates nothing.
		few := fmt.Sprintf(" UNION ALL %s' has ' || number || ' distinct values' FROM crowds WHERE void AND number >= %d AND number < %s", describe, c.least, decimal(s.L))
		return counted("(NOT void OR number >= "+decimal(s.L)+")") + choiceQuery(s, []string{"g0"}, describe) + few, nil, true
	case privacy.EntropyL:
		return counted("NOT void") + choiceQuery(s, []string{"g0"}, describe), nil, true
	}
	return "", nil, false
}
