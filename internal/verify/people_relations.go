package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// records is a query for all records of the table:
//
//	record: its number
//	person: the number of the root's record that it belongs to by raw keys; NULL for nobody
//	parent: the number of the record that it belongs to
//	win:    the window of time that it lies in
//	key:    its raw key
func (m *member) records() string {
	membership := m.relations.publication.Membership
	key := m.rawKey(m, membership.Key())
	if m.isRoot() {
		return fmt.Sprintf("SELECT r.kproxy_record AS record, r.kproxy_record AS person, NULL::bigint AS parent, 0 AS win, %s AS key FROM %s r", key, m.relations.records)
	}
	window := "p.win"
	if m.isDirect() {
		window = m.window()
	}
	return fmt.Sprintf("SELECT r.kproxy_record AS record, p.person, p.record AS parent, %s AS win, %s AS key FROM %s r LEFT JOIN (%s) p ON p.key = %s",
		window, key, m.relations.records, m.parent().records(), m.rawKey(m.parent(), membership.Link()))
}

// noWindow is that of rows without a finite date.
const noWindow = "-2147483648"

// window numbers the window that a record of a table that belongs to persons directly lies in.
func (m *member) window() string {
	knows := m.of.people.Knows
	column, exists := m.relations.publication.Relation.Column(m.relations.publication.Membership.Order())
	switch {
	case knows.All || knows.Per == 0 || !exists:
		return "0"
	case !slices.Contains([]string{"date", "timestamp", "timestamptz"}, column.BaseType):
		return noWindow
	}
	at := quoted("r", column.Name)
	return fmt.Sprintf("CASE WHEN isfinite(%s) THEN floor(%s / %d::numeric)::int ELSE %s END", at, monthNumber(at), int(knows.Per), noWindow)
}

// rawKey is one value that two keys have in common exactly if they are equal: a number, a text, or an
// array of texts; NULL where one of the values is NULL. Of is the table whose key it is.
func (m *member) rawKey(of *member, columns []string) string {
	var values, raw []string
	for _, name := range columns {
		column, _ := m.relations.publication.Relation.Column(name)
		raw = append(raw, quoted("r", name))
		values = append(values, canonical(column, quoted("r", name)))
	}
	if of.hasNumberKey() {
		return raw[0]
	}
	return keyOf(raw, values)
}

// hasNumberKey reports whether the key is one integer in this table and in those below. Columns, unlike
// texts, have statistics, without which the planner takes joins of keys for millions of times as large
// as they are, and divides what it hashes into thousands of batches.
func (m *member) hasNumberKey() bool {
	if !m.isNumber(m.relations.publication.Membership.Key()) {
		return false
	}
	for i := range m.of.people.Tables {
		if below := m.of.members[i]; m.of.people.Parent(i) == m.number && !below.isNumber(below.relations.publication.Membership.Link()) {
			return false
		}
	}
	return true
}

func (m *member) isNumber(columns []string) bool {
	if len(columns) != 1 {
		return false
	}
	column, exists := m.relations.publication.Relation.Column(columns[0])
	return exists && slices.Contains([]string{"int2", "int4", "int8"}, column.BaseType)
}

// keyOf makes one value of the texts of a key's columns.
func keyOf(columns, texts []string) string {
	switch len(columns) {
	case 0:
		return "NULL::text"
	case 1:
		return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s END", columns[0], texts[0])
	}
	return fmt.Sprintf("CASE WHEN num_nulls(%s) = 0 THEN ARRAY[%s]::text[] END", strings.Join(columns, ", "), strings.Join(texts, ", "))
}

// publishedKey is the pseudonym that the release l shows in some columns, as rawKey is the raw key.
func publishedKey(of *member, columns []string) string {
	var shown, texts []string
	for _, name := range columns {
		shown = append(shown, quoted("l", name))
		texts = append(texts, quoted("l", name)+"::text")
	}
	if of.hasNumberKey() {
		return shown[0]
	}
	return keyOf(shown, texts)
}

// pseudonyms are the columns of the release that show keys.
func (m *member) pseudonyms() []string {
	membership := m.relations.publication.Membership
	return slices.Concat(membership.Link(), membership.Key())
}

// isKeyed is the condition that a row of the release l keeps its keys.
func (m *member) isKeyed() string {
	var keys []string
	for _, name := range m.pseudonyms() {
		keys = append(keys, quoted("l", name))
	}
	return fmt.Sprintf("num_nonnulls(%s) > 0", strings.Join(keys, ", "))
}

// rows is a query for the published rows of records: record, person, parent and win of the
// record; class, its number; keyed; own and link, the pseudonyms; and what is shown.
func (m *member) rows() string {
	membership := m.relations.publication.Membership
	var values []string
	for i, shown := range listed(m.relations.parts[0].columns, "l") {
		values = append(values, shown+" AS "+m.shown()[i])
	}
	link := "NULL::text"
	if !m.isRoot() {
		link = publishedKey(m.parent(), membership.Link())
	}
	selected := fmt.Sprintf("l.kproxy_class AS class, %s AS keyed, %s AS own, %s AS link, %s", m.isKeyed(), publishedKey(m, membership.Key()), link, strings.Join(values, ", "))
	if m.relations.isGuarded() {
		return m.asMarked(selected)
	}
	return fmt.Sprintf("SELECT o.record, o.person, o.parent, o.win, %s FROM %s l JOIN (%s) o ON o.record = l.kproxy_row", selected, m.relations.release, m.records())
}

// shown are the columns of rows with the values published of quasi-identifiers, at least one.
func (m *member) shown() []string {
	names := make([]string, max(1, len(m.relations.parts[0].columns)))
	for i := range names {
		names[i] = fmt.Sprintf("t%d_%d", m.number+1, i)
	}
	return names
}

// paths is a query for the rows with what is published of all rows that they hang on.
func (m *member) paths() string {
	if m.isRoot() {
		return m.rows()
	}
	above := m.parent().shownOfPaths()
	return fmt.Sprintf("SELECT l.*, %s FROM (%s) l JOIN (%s) a ON a.record = l.parent", behind("a", above), m.rows(), m.parent().paths())
}

// shownOfPaths are the columns of paths with published values.
func (m *member) shownOfPaths() []string {
	if m.isRoot() {
		return m.shown()
	}
	return append(m.shown(), m.parent().shownOfPaths()...)
}

// behind lists columns of an alias.
func behind(alias string, columns []string) string {
	return alias + "." + strings.Join(columns, ", "+alias+".")
}

// byClass joins the records, behind the alias r, with the classes that their rows are
// published in, as the store of a table released by itself has them.
func (m *member) byClass() string {
	columns := []string{"l.kproxy_class"}
	for _, c := range m.relations.publication.StoredColumns() {
		columns = append(columns, quoted("r", c.Name))
	}
	return fmt.Sprintf("(SELECT %s FROM %s l JOIN %s r ON %s)", strings.Join(columns, ", "), m.relations.release, m.relations.records, m.sameRecord())
}

// sameRecord is the condition that the record r is published as it is in the row l.
func (m *member) sameRecord() string {
	if m.relations.isGuarded() {
		return fmt.Sprintf("r.%[1]s = l.%[1]s AND r.%[2]s IS NOT TRUE", catalog.RowColumn, catalog.StaleColumn)
	}
	return fmt.Sprintf("r.%s = l.%s", catalog.RecordColumn, catalog.RowColumn)
}
