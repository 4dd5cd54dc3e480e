package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// persons is the verification of the tables about one kind of person, which are released
// together. What is proved:
//
//   - Every published row is that of one record, whose person is published, and shows what is
//     true of the record. All rows of a class, which are those of one cell or of one class
//     of the pool, show the same.
//   - At least k persons have the same published root values. So do at least k persons in one
//     window who have a row with keys that shows the same, as do all rows that it hangs on; and
//     at least k persons have a pooled row that shows the same; rows with keys of which an outsider
//     knows none are left out. Where all is known, at least k
//     persons form a class, and all of them have the same tree of cells.
//   - Pseudonyms lead from a row to one row of its parent's table: the true one, or the root
//     row of a person with the same root values. Within a window they are those of one person.
//   - Constraints on sensitive values hold for the persons of a class with all values of all
//     their rows, for those of a cell with the values of its window, and for those of a class
//     of the pool with the values of its rows.
//
// The raw keys in the private store tell whose a row is. Where updates are guarded, a row can outlive its
// record, or stand for one that has changed: then the release's marks tell whose it was. The marks of rows
// that belong together must agree with one another and, in rows with keys whose records have not changed,
// with the raw keys. Constraints count what is published, and what has been. k is counted in each class,
// since its rows come and go together. For rows without keys, the marks are taken as true.
type persons struct {
	session
	people  catalog.People
	members map[int]*member // by number, people.Root for the root
	own     *persons        // of what an audience sees: the tables as their own readers see them
}

// member is one of the tables.
type member struct {
	table
	of     *persons
	number int
}

func (s session) newPersons() *persons {
	return &persons{session: s, members: make(map[int]*member)}
}

func (p *persons) add(of catalog.Publication) {
	p.people = of.Membership.People
	m := &member{table: p.newTable(of), of: p, number: of.Membership.Table}
	m.relations.parts, m.relations.kept = []part{allColumns(of)}, of.Kept("").Columns
	p.members[m.number] = m
}

// allColumns is one part of all quasi-identifiers.
func allColumns(of catalog.Publication) part {
	whole := part{class: catalog.QuoteIdentifier(catalog.ClassColumn(0))}
	for _, c := range of.Columns {
		if c.Generalized() {
			whole.columns = append(whole.columns, c)
		}
	}
	return whole
}

// numbers are those of all tables, the root first.
func (p *persons) numbers() []int {
	numbers := []int{people.Root}
	for i := range p.people.Tables {
		numbers = append(numbers, i)
	}
	return numbers
}

// noNestedLoops keeps joins from becoming quadratic: joins of subqueries have no statistics, so that their estimates can
// be wrong.
const noNestedLoops = "SET LOCAL enable_nestloop = off"

// verify checks all tables, and what audiences see of them.
func (p *persons) verify() error {
	readable, err := p.verifyRelease()
	if err != nil || !readable {
		return err
	}
	return p.verifyAudiences()
}

// verifyRelease checks all tables. It is false where the data cannot be checked.
func (p *persons) verifyRelease() (readable bool, err error) {
	const reset = "SET LOCAL enable_nestloop TO DEFAULT"
	if readable, err = p.areReadable(); err != nil || !readable {
		return readable, err
	}
	if _, err := p.tx.Exec(p.ctx, noNestedLoops); err != nil {
		return true, fmt.Errorf("preparing the checks: %w", err)
	}
	for _, number := range p.numbers() {
		if err := p.members[number].verify(); err != nil {
			return true, fmt.Errorf("table %s: %w", p.members[number].report.Table, err)
		}
	}
	if _, err := p.tx.Exec(p.ctx, reset); err != nil {
		return true, fmt.Errorf("ending the checks: %w", err)
	}
	return true, nil
}

// areReadable checks that all tables are there, with their columns. None can be checked
// without the others.
func (p *persons) areReadable() (bool, error) {
	var missing, unreadable []string
	for _, number := range p.numbers() {
		m := p.members[number]
		if m == nil {
			missing = append(missing, "table "+p.people.Names()[number+1].String()+" is not verified with it")
			continue
		}
		readable, err := m.isReadable()
		if err != nil {
			return false, err
		}
		if !readable {
			unreadable = append(unreadable, m.report.Table)
		}
	}
	for _, m := range p.members {
		m.add("all tables of "+p.people.Kind+" are there", int64(len(missing)), missing)
		if len(unreadable) > 0 {
			m.add("the data of all tables", 1, []string{"not checked, because those of " + strings.Join(unreadable, ", ") + " cannot be read"})
		}
	}
	return len(missing)+len(unreadable) == 0, nil
}

func (m *member) verify() error {
	shown := []step{{"values", m.checkShown}, {"persons", m.checkPersons}, {"keys", m.checkKeys}, {"constraints", m.checkSensitive}}
	if m.relations.isGuarded() {
		guarded := []step{{"counts", m.countGuarded}, {"records", m.checkGuardedRows}, {"marks", m.checkMarks}}
		if m.of.own != nil { // what the store tells is of the tables' own readers
			return m.take(slices.Concat(guarded, shown))
		}
		return m.take(slices.Concat(guarded, shown, []step{{"freshness", m.checkFreshness}}))
	}
	return m.take(slices.Concat([]step{{"counts", m.count}, {"records", m.checkRows}}, shown))
}

// isUnknown reports whether no outsider knows a row of the table. A row with keys then hides only
// what its parent's row hides.
func (m *member) isUnknown() bool { return !m.isRoot() && m.of.people.Tables[m.number].Unknown }

func (m *member) isRoot() bool { return m.number == people.Root }

// parent is the table that rows belong to.
func (m *member) parent() *member { return m.of.members[m.of.people.Parent(m.number)] }

func (m *member) isDirect() bool { return !m.isRoot() && m.of.people.Tables[m.number].Direct() }

// hasRowsBelow reports whether rows of another table belong to this table's.
func (m *member) hasRowsBelow() bool {
	for i := range m.of.people.Tables {
		if m.of.people.Parent(i) == m.number {
			return true
		}
	}
	return false
}

// direct are the tables whose rows belong to persons directly.
func (p *persons) direct() []*member {
	var direct []*member
	for _, number := range p.numbers() {
		if p.members[number].isDirect() {
			direct = append(direct, p.members[number])
		}
	}
	return direct
}
