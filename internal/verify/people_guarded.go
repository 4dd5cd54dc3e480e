package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// countGuarded fills in the figures of the report, as count does.
func (m *member) countGuarded() error {
	r := &m.report
	totals := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE kproxy_row IS NULL), count(*) FILTER (WHERE kproxy_stale), (SELECT count(*) FROM %s),"+
		" (SELECT count(*) FROM %s l WHERE NOT EXISTS (SELECT FROM %[3]s o WHERE o.kproxy_row = l.kproxy_row)) FROM %[3]s", m.relations.published, m.relations.release, m.relations.records)
	if err := m.tx.QueryRow(m.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Stale, &r.Rows, &r.Ghosts); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	return m.countClasses()
}

// asMarked is rows for a guarded table. Persons are numbered by the rows of their roots, and those of
// the pool by their cell and place in it.
func (m *member) asMarked(selected string) string {
	if m.isRoot() {
		return fmt.Sprintf("SELECT l.kproxy_row AS record, l.kproxy_row AS person, NULL::bigint AS parent, 0 AS win, %s FROM %s l", selected, m.relations.release)
	}
	const pooled = "-(l.kproxy_class * 4294967296::numeric + l.kproxy_person)"
	return fmt.Sprintf("SELECT l.kproxy_row AS record, CASE WHEN l.kproxy_persons IS NULL THEN %s ELSE m.kproxy_row END AS person, l.kproxy_parent AS parent, l.kproxy_window AS win, %s"+
		" FROM %s l LEFT JOIN %s m ON m.kproxy_persons = l.kproxy_persons AND m.kproxy_person = l.kproxy_person", pooled, selected, m.relations.release, m.of.root().relations.release)
}

// checkGuardedRows checks that rows and records know of each other.
func (m *member) checkGuardedRows() error {
	release, records := m.relations.release, m.relations.records
	if m.hasRowsBelow() {
		if err := m.keep(m.uniquePromise()); err != nil {
			return err
		}
	}
	if m.of.own == nil {
		if err := m.keep(promise{"every key of who has left leads to a row of nobody", fmt.Sprintf(
			"SELECT count(*) || ' keys' FROM kproxy_store.departed d WHERE d.generation = %d AND (NOT EXISTS (SELECT FROM %s l WHERE l.kproxy_row = d.row) OR EXISTS (SELECT FROM %s r WHERE r.kproxy_row = d.row)) HAVING count(*) > 0",
			m.report.Generation, release, records)}); err != nil {
			return err
		}
	}
	return m.keep(
		promise{"every row has a number of its own, and a class", fmt.Sprintf(
			"SELECT count(*) || ' rows of ' || coalesce('class ' || kproxy_class, 'no class') FROM (SELECT kproxy_class, kproxy_row, count(*) OVER (PARTITION BY kproxy_row) AS n FROM %s) l"+
				" WHERE n > 1 OR kproxy_row IS NULL OR kproxy_class IS NULL GROUP BY kproxy_class", release)},
		promise{"every published record has a row", fmt.Sprintf(
			"SELECT count(*) || ' records' FROM %s r WHERE r.kproxy_row IS NOT NULL AND NOT EXISTS (SELECT FROM %s l WHERE l.kproxy_row = r.kproxy_row) HAVING count(*) > 0", records, release)},
		promise{"no two records share a row", fmt.Sprintf(
			"SELECT n || ' records share a row' FROM (SELECT count(*) AS n FROM %s WHERE kproxy_row IS NOT NULL GROUP BY kproxy_row HAVING count(*) > 1) s", records)},
		promise{"no record is published that is withheld or waits", fmt.Sprintf(
			"SELECT count(*) || ' records' FROM %s WHERE kproxy_row IS NOT NULL AND (kproxy_expired OR kproxy_pooling OR kproxy_since IS NOT NULL) HAVING count(*) > 0", records)},
		promise{"only published records are published as they were", fmt.Sprintf(
			"SELECT count(*) || ' records' FROM %s WHERE (kproxy_row IS NULL AND kproxy_stale) IS NOT FALSE HAVING count(*) > 0", records)},
		promise{"every class has one weight, which tells of no more rows than stand for nobody or have changed", fmt.Sprintf(
			"SELECT 'class ' || min(l.kproxy_class) || ', of ' || count(*) || ' rows with one weight, ' || max(l.kproxy_discounted) || ' left out'"+
				" FROM %s l LEFT JOIN (SELECT kproxy_row, bool_or(kproxy_stale) AS stale FROM %s GROUP BY 1) o USING (kproxy_row)"+
				" GROUP BY l.kproxy_persons, l.kproxy_window, CASE WHEN l.kproxy_persons IS NULL THEN l.kproxy_class END"+
				" HAVING count(DISTINCT (l.kproxy_weight, l.kproxy_discounted, l.kproxy_leavers)) <> 1 OR max(l.kproxy_discounted) > count(*) FILTER (WHERE o.stale IS NOT FALSE)"+
				" OR abs(min(l.kproxy_weight) - (count(*) - max(l.kproxy_discounted))::float8 / count(*)) > 1e-6", m.relations.weighed(), records)},
		promise{"every weight is that of a class", m.relations.everyWeightQuery()},
	)
}

// checkMarks checks that rows are marked with the persons, the windows and the rows above that are theirs.
func (m *member) checkMarks() error {
	release := m.relations.release
	if m.isRoot() {
		return m.keep(promise{"the persons of a class are numbered from 0 on", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class FROM %s GROUP BY kproxy_class HAVING min(kproxy_person) <> 0 OR max(kproxy_person) <> count(*) - 1 OR count(DISTINCT kproxy_person) <> count(*)"+
				" OR count(DISTINCT kproxy_persons) <> 1 OR min(kproxy_persons) <> min(kproxy_class)", release)})
	}
	above, window := m.parent(), "l.kproxy_window <> p.kproxy_window"
	if m.isDirect() {
		window = "false"
	}
	promises := []promise{
		{"rows have keys where their persons are told, and only there", fmt.Sprintf(
			"SELECT count(*) || ' rows of class ' || l.kproxy_class FROM %s l WHERE (%s) <> (l.kproxy_persons IS NOT NULL) GROUP BY l.kproxy_class", release, m.isKeyed())},
		{"a class is one of persons of one class in one window", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class FROM %s GROUP BY kproxy_class HAVING count(DISTINCT (kproxy_persons, kproxy_window)) <> 1", release)},
		{"a row with keys belongs to a row of the same person", fmt.Sprintf(
			"SELECT count(*) || ' rows of class ' || l.kproxy_class FROM %s l LEFT JOIN %s p ON p.kproxy_row = l.kproxy_parent WHERE l.kproxy_persons IS NOT NULL"+
				" AND (p.kproxy_persons = l.kproxy_persons AND p.kproxy_person = l.kproxy_person AND NOT (%s)) IS NOT TRUE GROUP BY l.kproxy_class", release, above.relations.release, window)},
	}
	// By raw keys: what is as it was belongs to what it belonged to, if that is as it was, too.
	promises = append(promises, promise{"a row with keys belongs to that of the record that its record belongs to", fmt.Sprintf(
		"SELECT count(*) || ' rows of class ' || l.kproxy_class FROM %s l JOIN %s r ON %s JOIN (%s) o ON o.record = r.kproxy_record JOIN %s a ON a.kproxy_row = l.kproxy_parent AND a.kproxy_stale IS NOT TRUE"+
			" WHERE l.kproxy_persons IS NOT NULL AND a.kproxy_record IS DISTINCT FROM o.parent GROUP BY l.kproxy_class",
		release, m.relations.records, m.sameRecord(), m.records(), above.relations.records)})
	if m.isDirect() && !m.of.people.Knows.All {
		promises = append(promises, promise{"rows lie in the windows that they are marked with", fmt.Sprintf(
			"SELECT count(*) || ' rows of class ' || l.kproxy_class FROM %s l JOIN %s r ON %s WHERE l.kproxy_persons IS NOT NULL AND l.kproxy_window <> %s GROUP BY l.kproxy_class",
			release, m.relations.records, m.sameRecord(), m.window())})
	}
	return m.keep(promises...)
}

// publishedValues is a query for the sensitive values that rows with keys show, by person and window.
// With those that have vanished, they are all that a class has shown.
func (m *member) publishedValues(column catalog.Column, vanished bool) string {
	values := fmt.Sprintf("SELECT o.person AS who, o.win, %s AS v FROM (%s) o JOIN %s s ON s.kproxy_row = o.record WHERE o.keyed GROUP BY 1, 2, 3",
		key(column, quoted("s", column.Name)), m.rows(), m.relations.release)
	place := 0
	for i, s := range m.relations.publication.Sensitive {
		if s.Column == column.Name {
			place = i + 1
		}
	}
	if !vanished || m.isRoot() || place == 0 {
		return values
	}
	return fmt.Sprintf("%s UNION SELECT p.kproxy_row::numeric, v.win, %s FROM kproxy_store.vanished v JOIN %s p ON p.kproxy_persons = v.persons AND p.kproxy_person = v.person WHERE v.generation = %d",
		values, key(column, fmt.Sprintf("(v.sensitive[%d])::%s", place, column.Type)), m.of.root().relations.release, m.report.Generation)
}

// checkFreshness compares what the store tells of the release with what is there.
func (m *member) checkFreshness() error {
	name := m.relations.publication.Policy.Table
	return m.keep(promise{"the store tells how fresh the release is", fmt.Sprintf(
		"SELECT 'another number of ' || what FROM kproxy_store.generation g, (SELECT count(*) FILTER (WHERE kproxy_expired) AS expired FROM %s) r,"+
			" LATERAL (VALUES ('withheld records', g.expired, r.expired), ('stale records', g.stale, %d), ('rows of nobody', g.ghosts, %d)) AS f(what, told, counted)"+
			" WHERE g.table_schema = %s AND g.table_name = %s AND told <> counted",
		m.relations.records, m.report.Stale, m.report.Ghosts, catalog.QuoteLiteral(name.Schema), catalog.QuoteLiteral(name.Relation))})
}

// unsaid is the least number of values with which a group can violate a diversity. Where updates are guarded,
// persons are published before their rows, and a column of which nothing is published violates nothing.
func (m *member) unsaid() int {
	if m.relations.isGuarded() {
		return 1
	}
	return 0
}
