package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// count fills in the figures of the report. Classes are cells and classes of the pool; their
// sizes are in persons, the discernibility is in rows.
func (m *member) count() error {
	r := &m.report
	totals := fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s), (SELECT count(*) FROM %[1]s r WHERE NOT EXISTS (SELECT FROM %[2]s l WHERE l.kproxy_row = r.kproxy_record)), (SELECT count(*) FROM %[3]s)",
		m.relations.records, m.relations.release, m.relations.published)
	if err := m.tx.QueryRow(m.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Rows); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	return m.countClasses()
}

// countClasses fills in the figures of cells and of classes of the pool.
func (m *member) countClasses() error {
	r := &m.report
	sizes := fmt.Sprintf("SELECT count(*), coalesce(min(persons), 0), coalesce(max(persons), 0), coalesce(sum(n * n), 0)::bigint"+
		" FROM (SELECT count(DISTINCT person) AS persons, count(*) AS n FROM (%s) l GROUP BY class) c", m.rows())
	if err := m.tx.QueryRow(m.ctx, sizes).Scan(&r.Classes, &r.Smallest, &r.Largest, &r.Discernibility); err != nil {
		return fmt.Errorf("counting classes: %w", err)
	}
	r.Discernibility += r.Withheld * r.Records
	return nil
}

// promise is a check with the query for what violates it.
type promise struct{ name, query string }

func (t *table) keep(promises ...promise) error {
	for _, p := range promises {
		if err := t.violations(p.name, p.query); err != nil {
			return err
		}
	}
	return nil
}

// checkRows checks whose the published rows are.
func (m *member) checkRows() error {
	promises := []promise{
		{"every row is that of a record, and in a class", fmt.Sprintf(
			"SELECT count(*) || ' rows of ' || coalesce('class ' || l.kproxy_class, 'no class') FROM %s l LEFT JOIN %s r ON r.kproxy_record = l.kproxy_row"+
				" WHERE r.kproxy_record IS NULL OR l.kproxy_class IS NULL GROUP BY l.kproxy_class", m.relations.release, m.relations.records)},
		{"no record is published twice", fmt.Sprintf(
			"SELECT 'a record has ' || count(*) || ' rows, one in class ' || min(kproxy_class) FROM %s WHERE kproxy_row IS NOT NULL GROUP BY kproxy_row HAVING count(*) > 1", m.relations.release)},
	}
	if m.hasRowsBelow() {
		promises = append(promises, m.uniquePromise())
	}
	if !m.isRoot() {
		promises = append(promises, promise{"every row belongs to a person who is published", fmt.Sprintf(
			"SELECT count(*) || ' rows of class ' || l.class FROM (%s) l LEFT JOIN %s p ON p.kproxy_row = l.person WHERE p.kproxy_row IS NULL GROUP BY l.class",
			m.rows(), m.of.root().relations.release)})
	}
	return m.keep(promises...)
}

// uniquePromise is that a key leads to one record.
func (m *member) uniquePromise() promise {
	return promise{"no two records have the same key", fmt.Sprintf(
		"SELECT count(*) || ' records' FROM %s r GROUP BY %s HAVING count(*) > 1 AND max(num_nulls(%s)) = 0",
		m.relations.records, m.rawKey(m, m.relations.publication.Membership.Key()), strings.Join(quotedAll("r", m.relations.publication.Membership.Key()), ", "))}
}

func quotedAll(alias string, names []string) []string {
	quotedNames := make([]string, len(names))
	for i, name := range names {
		quotedNames[i] = quoted(alias, name)
	}
	return quotedNames
}

// checkShown checks that what is published of a record is true of it.
func (m *member) checkShown() error {
	different := []string{"false"}
	for _, c := range m.relations.columnsOfRows() {
		if c.Part == catalog.Copy {
			different = append(different, fmt.Sprintf(`%s::text COLLATE "C" IS DISTINCT FROM %s::text COLLATE "C"`, quoted("r", c.Source), quoted("l", c.Name)))
		}
	}
	err := m.keep(
		promise{"every class has one generalization", fmt.Sprintf(
			"SELECT 'class ' || class || ' has ' || count(*) FROM (SELECT DISTINCT l.kproxy_class AS class, %s AS keyed, %s FROM %s l) g GROUP BY class HAVING count(*) > 1",
			m.isKeyed(), grouped(m.relations.parts[0].columns, "l"), m.relations.release)},
		promise{"values published as they are are those of the record", fmt.Sprintf(
			"SELECT 'class ' || l.kproxy_class || ': ' || count(*) || ' records' FROM %s l JOIN %s r ON %s WHERE %s GROUP BY l.kproxy_class",
			m.relations.release, m.relations.records, m.sameRecord(), strings.Join(different, " OR "))},
	)
	if err == nil && m.relations.publication.IsSeen() {
		err = m.keep(promise{"the published relation shows the release as it is", m.relations.sameRowsQuery()})
	}
	if err != nil {
		return err
	}
	of := m.table
	of.relations.records = m.byClass()
	err = of.checkAttributes()
	m.report = of.report
	return err
}

// checkPersons counts the persons whom somebody who knows what the policy grants is left with.
func (m *member) checkPersons() error {
	k := m.of.people.K()
	alike := func(rows, columns, condition string) string {
		return fmt.Sprintf("SELECT 'a group of ' || n || ' persons' FROM (SELECT count(DISTINCT person) AS n FROM (%s) l WHERE %s GROUP BY %s) g WHERE n < %d", rows, condition, columns, k)
	}
	if m.isRoot() {
		columns := strings.Join(m.shown(), ", ")
		if m.of.people.Knows.All || m.relations.isGuarded() {
			columns = "class" // whose persons have the same tree, or come and go together
		}
		promises := []promise{{fmt.Sprintf("%d persons have the same root values", k), alike(m.rows(), columns, "true")}}
		if m.hidesAttributes() {
			promises = append(promises, promise{fmt.Sprintf("%d persons have the same root values, with hidden columns", k), alike(m.rows(), "class", "true")})
		}
		return m.keep(promises...)
	}
	var promises []promise
	keyed, pooled := alike(m.paths(), "win, "+strings.Join(m.shownOfPaths(), ", "), "keyed"), alike(m.rows(), strings.Join(m.shown(), ", "), "NOT keyed")
	if m.relations.isGuarded() { // what comes and goes together
		keyed, pooled = alike(m.rows(), "class", "keyed"), alike(m.rows(), "class", "NOT keyed")
	}
	if !m.isUnknown() {
		promises = append(promises, promise{fmt.Sprintf("%d persons have a row with keys that shows the same", k), keyed})
	}
	promises = append(promises, promise{fmt.Sprintf("%d persons have a row without keys that shows the same", k), pooled})
	if m.hidesAttributes() && !m.isUnknown() {
		promises = append(promises, promise{fmt.Sprintf("%d persons have a row that shows the same, with hidden columns", k), alike(m.rows(), "class", "true")})
	}
	if m.of.people.Knows.All && !m.isUnknown() {
		promises = append(promises, promise{"all persons of a class have the same tree", m.treesQuery()})
	}
	return m.keep(promises...)
}

// hidesAttributes reports whether readers do not see some of the table's quasi-identifiers. Others who pool what they have
// with them can: classes that look alike without these columns are counted one by one.
func (m *member) hidesAttributes() bool {
	seen := make(map[int]struct{})
	for _, c := range m.relations.parts[0].columns {
		seen[c.Attribute] = struct{}{}
	}
	return len(seen) < len(m.relations.publication.Attributes)
}

// treesQuery finds the classes of rows with keys that not every row, or person, of one class
// above has the same number of rows in. Without them, by induction from the root down, all
// persons of a class have the same tree of classes.
func (m *member) treesQuery() string {
	return fmt.Sprintf("WITH above AS (SELECT record, class, count(*) OVER (PARTITION BY class) AS size FROM (%s) p WHERE keyed),"+
		" below AS (SELECT l.class, l.parent, count(*) AS n FROM (%s) l WHERE l.keyed GROUP BY l.class, l.parent)"+
		" SELECT 'class ' || b.class || ' with rows of ' || count(*) || ' parents' FROM below b LEFT JOIN above a ON a.record = b.parent GROUP BY b.class"+
		" HAVING count(DISTINCT a.class) <> 1 OR count(a.record) < count(*) OR count(*) <> max(a.size) OR min(b.n) <> max(b.n)", m.parent().rows(), m.rows())
}
