package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
)

func (p *persons) root() *member { return p.members[people.Root] }

// checkKeys checks what pseudonyms lead to.
func (m *member) checkKeys() error {
	promises := []promise{{"a row shows all of its keys or none", m.partialQuery()}}
	if len(m.relations.publication.Membership.Key()) > 0 {
		promises = append(promises, promise{"no two rows have the same pseudonym", fmt.Sprintf(
			"SELECT count(*) || ' rows, one of class ' || min(kproxy_class) FROM %s l GROUP BY %s HAVING count(*) > 1 AND bool_and(%s)",
			m.relations.release, publishedKey(m, m.relations.publication.Membership.Key()), m.isKeyed())})
	}
	switch {
	case m.isRoot():
		promises = append(promises, m.of.windowPromises()...)
	case m.isDirect():
		promises = append(promises, m.linkPromise(), promise{"keys lead to the root row of a person with the same root values", m.aliasQuery()})
	default:
		promises = append(promises, m.linkPromise(), promise{"keys lead to the row that a row belongs to", fmt.Sprintf(
			"SELECT 'class ' || l.class || ': ' || count(*) || ' rows' FROM (%s) l JOIN (%s) p ON p.own = l.link WHERE p.record IS DISTINCT FROM l.parent GROUP BY l.class",
			m.rows(), m.parent().rows())})
	}
	return m.keep(append(promises, promise{"pseudonyms are not the keys of the source", m.rawKeysQuery()})...)
}

// partialQuery finds rows with some of their keys; root rows have to show theirs.
func (m *member) partialQuery() string {
	keys := strings.Join(quotedAll("l", m.pseudonyms()), ", ")
	some := fmt.Sprintf("num_nulls(%[1]s) > 0 AND num_nonnulls(%[1]s) > 0", keys)
	if m.isRoot() {
		some = fmt.Sprintf("num_nulls(%s) > 0", keys)
	}
	return fmt.Sprintf("SELECT count(*) || ' rows of class ' || l.kproxy_class FROM %s l WHERE %s GROUP BY l.kproxy_class", m.relations.release, some)
}

func (m *member) linkPromise() promise {
	return promise{"every key leads to one row of " + m.parent().report.Table, fmt.Sprintf(
		"SELECT 'class ' || class || ': ' || count(*) || ' rows' FROM ("+
			"SELECT l.record, l.class, count(p.own) AS n FROM (%s) l LEFT JOIN (%s) p ON p.own = l.link WHERE l.link IS NOT NULL GROUP BY l.record, l.class) f WHERE n <> 1 GROUP BY class",
		m.rows(), m.parent().rows())}
}

// aliasQuery compares the root row that a row leads to with that of its person, which it is
// where all is known.
func (m *member) aliasQuery() string {
	root := m.of.root()
	differs := fmt.Sprintf("(%s) IS DISTINCT FROM (%s)", behind("shown", root.shown()), behind("own", root.shown()))
	if len(root.shown()) == 1 {
		differs = fmt.Sprintf("%s IS DISTINCT FROM %s", behind("shown", root.shown()), behind("own", root.shown()))
	}
	if m.of.people.Knows.All {
		differs = "shown.record IS DISTINCT FROM l.person"
	}
	return fmt.Sprintf("SELECT 'class ' || l.class || ': ' || count(*) || ' rows' FROM (%s) l JOIN (%s) shown ON shown.own = l.link LEFT JOIN (%s) own ON own.record = l.person WHERE %s GROUP BY l.class",
		m.rows(), root.rows(), root.rows(), differs)
}

// windowPromises are about the pseudonyms of persons in the rows of all tables together.
func (p *persons) windowPromises() []promise {
	var links []string
	for _, m := range p.direct() {
		links = append(links, fmt.Sprintf("SELECT person, win, link FROM (%s) l WHERE link IS NOT NULL", m.rows()))
	}
	if len(links) == 0 {
		return nil
	}
	carried := fmt.Sprintf("(SELECT person, win, link FROM (%s) a GROUP BY 1, 2, 3) c", strings.Join(links, " UNION ALL "))
	return []promise{
		{"a person has one pseudonym in a window", fmt.Sprintf("SELECT 'a person with ' || count(*) || ' pseudonyms in window ' || win FROM %s GROUP BY person, win HAVING count(*) > 1", carried)},
		{"a pseudonym is that of one person in a window", fmt.Sprintf("SELECT 'a pseudonym of ' || count(*) || ' persons in window ' || win FROM %s GROUP BY link, win HAVING count(*) > 1", carried)},
	}
}

// equalByChance bounds how many keys can be equal to their pseudonyms: of a billion keys with
// the narrowest pseudonyms, of 31 bits, more are in less than one of a thousand releases.
const equalByChance = 5

// rawKeysQuery compares pseudonyms with the keys that they stand for.
func (m *member) rawKeysQuery() string {
	var equal []string
	for _, name := range m.pseudonyms() {
		equal = append(equal, fmt.Sprintf("SELECT count(DISTINCT %[1]s::text) || ' keys in one column' FROM %[3]s l JOIN %[4]s r ON %[6]s"+
			` WHERE %[1]s::text COLLATE "C" = %[2]s::text COLLATE "C" HAVING count(DISTINCT %[1]s::text) > %[5]d`,
			quoted("l", name), quoted("r", name), m.relations.release, m.relations.records, equalByChance, m.sameRecord()))
	}
	return strings.Join(equal, " UNION ALL ")
}
