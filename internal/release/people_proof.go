package release

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/tablefile"
	"github.com/kproxy/kproxy/internal/verify"
)

// Prove reads the files of all tables, in their order, and verifies what package verify does of tables that are
// served:
//
//   - Every row is that of one record, and shows what is true of it.
//   - At least k persons have the same root values. So do at least k persons in one window who have a row with keys
//     that shows the same, as do the rows that it hangs on, unless no outsider knows rows of the table; and at least k
//     persons have a row without keys that shows the same. Where all is known, all persons of a class have the same rows.
//   - Rows count for the persons whom the keys in the files name.
//   - Keys lead from a row to one row of its parent's table: the true one, or the root row of a person with
//     the same root values. Within a window they are those of one person, and a person has one.
//   - Constraints on sensitive values hold for the persons of a class with all values of all their rows, for those
//     of a cell with the values of its window, and for those of a class without keys with the values of its rows.
//
// It gives the checks of each table. Of a release for an audience, classes are also unions of the finer ones, and tables that it does
// not see are proved as those that it sees.
func (p *People) Prove(ctx context.Context, format tablefile.Format, paths []string, told func(rows int)) ([][]verify.Check, error) {
	all := make([][]verify.Check, len(p.Tables))
	proof := &peopleProof{People: p}
	for i, r := range p.Tables {
		m := &memberProof{proof: proof, table: i - 1, rows: r}
		of := r.newReading(nil, generalized(r.Publication))
		var err error
		if m.seen, err = of.read(ctx, format, paths[i], told); err != nil {
			return nil, fmt.Errorf("%s: %w", paths[i], err)
		}
		m.checks = []*check{of.columns, of.count, of.copies, of.truths}
		m.readable = of.columns.Passed && of.count.Passed
		proof.members = append(proof.members, m)
	}
	readable := !slices.ContainsFunc(proof.members, func(m *memberProof) bool { return !m.readable })
	for i, m := range proof.members {
		if readable {
			if err := m.prove(); err != nil {
				return nil, err
			}
		}
		all[i] = checked(m.checks...)
	}
	return all, ctx.Err()
}

// generalized are the published columns that show quasi-identifiers.
func generalized(p catalog.Publication) []int {
	var columns []int
	for i, c := range p.Columns {
		if c.Generalized() {
			columns = append(columns, i)
		}
	}
	return columns
}

type peopleProof struct {
	*People
	members []*memberProof
	held    [][]held            // of each person; nil until it is needed
	whole   *privacy.Population // likewise
}

// memberProof is the proof of one table.
type memberProof struct {
	proof    *peopleProof
	table    int
	rows     *Rows
	seen     *asRead
	readable bool
	checks   []*check

	own  map[string]int32 // the row of each own key
	path []int32          // of each row: the number of what it and the rows that it hangs on show, -1 without keys
}

func (m *memberProof) parent() *memberProof {
	return m.proof.members[m.proof.Kind.Parent(m.table)+1]
}

func (m *memberProof) isRoot() bool { return m.table == people.Root }

func (m *memberProof) isUnknown() bool { return !m.isRoot() && m.proof.Kind.Tables[m.table].Unknown }

// person is that of a row's record.
func (m *memberProof) person(row int32) int32 { return m.personOf(m.rows.order[row]) }

// personOf is the person that a record belongs to by the keys of the files, or people.Nobody.
func (m *memberProof) personOf(record int32) int32 {
	if m.isRoot() || record == people.Nobody {
		return record
	}
	return m.parent().personOf(m.proof.persons.Data.Tables[m.table].Of[record])
}

// window is that of a record of a table below the root.
func (m *memberProof) window(record int32) int32 {
	of := m.proof.persons.Data.Tables[m.table]
	switch {
	case of.Parent != people.Root:
		return m.parent().window(of.Of[record])
	case of.Window == nil || m.proof.Kind.Knows.All:
		return 0
	}
	return of.Window[record]
}

// key joins the pseudonyms that a row shows in some columns, in their order; shown is how many are not NULL.
func (m *memberProof) key(row int32, columns []string) (key string, shown int) {
	for _, column := range columns {
		i := slices.IndexFunc(m.rows.Publication.Columns, func(c catalog.PublishedColumn) bool {
			return c.Part == catalog.Pseudonym && c.Source == column
		})
		text := m.seen.keys[i][row]
		if key += text + "\x00"; text != "" {
			shown++
		}
	}
	return key, shown
}

// rawKey joins the fields that a record has in some columns of its file, in their order; "" if one is missing.
func (m *memberProof) rawKey(record int32, columns []string) (key string) {
	for _, name := range columns {
		column, _ := m.rows.Publication.Relation.Column(name)
		text := m.rows.file.Field(int(record), m.rows.columnOf(name))
		if text == "" {
			return ""
		}
		key += catalog.Canonical(column.BaseType, text) + "\x00"
	}
	return key
}

// proveBelonging compares what the records of all rows are taken to belong to with the keys in the files.
func (m *memberProof) proveBelonging() *check {
	belong := newCheck("rows count for those whom the keys in the files name")
	of, above := m.proof.persons.Data.Tables[m.table].Of, m.parent()
	for row, record := range m.rows.order {
		link := m.rawKey(record, m.rows.Publication.Membership.Link())
		if to := of[record]; to == people.Nobody || link == "" || above.rawKey(to, above.rows.Publication.Membership.Key()) != link {
			belong.broken("row %d", row+1)
		}
	}
	return belong
}

func (m *memberProof) prove() error {
	partial, unique, leads := newCheck("a row shows all of its keys or none"), newCheck("no two rows have the same pseudonym"), newCheck("keys lead to the row that a row belongs to")
	membership := *m.rows.Publication.Membership
	m.own, m.path = make(map[string]int32), make([]int32, m.seen.rows)
	steps := map[[3]int32]int32{}
	for row := range int32(m.seen.rows) {
		own, ownShown := m.key(row, membership.Key())
		link, linkShown := m.key(row, membership.Link())
		keys, shown := len(membership.Key())+len(membership.Link()), ownShown+linkShown
		keyed := shown == keys && keys > 0
		if shown != 0 && !keyed || m.isRoot() && !keyed {
			partial.broken("row %d", row+1)
		}
		if m.path[row] = -1; !keyed {
			continue
		}
		if len(membership.Key()) > 0 {
			if _, taken := m.own[own]; taken {
				unique.broken("row %d", row+1)
			}
			m.own[own] = row
		}
		above, window := int32(0), int32(0)
		if !m.isRoot() {
			to, found := m.parent().own[link]
			if !found || !m.leadsRight(row, to) {
				leads.broken("row %d", row+1)
				continue
			}
			above, window = m.parent().path[to], m.window(m.rows.order[row])
		}
		step := [3]int32{above, window, m.seen.groups[0].of[row]}
		number, known := steps[step]
		if !known {
			number = int32(len(steps))
			steps[step] = number
		}
		m.path[row] = number
	}
	m.checks = append(m.checks, partial, unique, leads, m.proveRaw())
	if m.isRoot() {
		m.checks = append(m.checks, m.proveWindows()...)
	} else {
		m.checks = append(m.checks, m.proveBelonging())
	}
	m.provePersons(int32(len(steps)))
	return m.proveSensitive()
}

// leadsRight decides whether a row leads to the right one: below other tables to that of the record's parent, else
// to the root row of a person with the same root values, who is the person where all is known.
func (m *memberProof) leadsRight(row, to int32) bool {
	of, above := m.proof.persons.Data.Tables[m.table].Of[m.rows.order[row]], m.parent()
	if !above.isRoot() || m.proof.Kind.Knows.All {
		return above.rows.order[to] == of
	}
	return m.classOf(above.rows.order[to]) == m.classOf(of)
}

// classOf is the class of a person.
func (m *memberProof) classOf(person int32) int32 { return m.proof.Tables[0].parts[0].of[person] }

// equalByChance bounds how many keys can be equal to their pseudonyms: of a billion keys with the narrowest
// pseudonyms, of 31 bits, more are in less than one of a thousand releases.
const equalByChance = 5

func (m *memberProof) proveRaw() *check {
	raw := newCheck("pseudonyms are not the keys of the source")
	for i, c := range m.rows.Publication.Columns {
		if c.Part != catalog.Pseudonym {
			continue
		}
		column, equal := m.rows.columnOf(c.Source), 0
		for row, shown := range m.seen.keys[i] {
			if shown != "" && shown == m.rows.file.Field(int(m.rows.order[row]), column) {
				equal++
			}
		}
		if equal > equalByChance {
			raw.broken("%d keys in column %s", equal, c.Name)
		}
	}
	return raw
}

// proveWindows compares the pseudonyms of persons in the rows of all tables that belong to them directly.
func (m *memberProof) proveWindows() []*check {
	one, own := newCheck("a person has one pseudonym in a window"), newCheck("a pseudonym is that of one person in a window")
	type carried struct {
		window int32
		link   string
	}
	type carrier struct{ window, person int32 }
	links, persons := map[carrier]string{}, map[carried]int32{}
	for _, of := range m.proof.members[1:] {
		if of.parent() != m {
			continue
		}
		link := of.rows.Publication.Membership.Link()
		for row := range int32(of.seen.rows) {
			key, shown := of.key(row, link)
			if shown == 0 {
				continue
			}
			window, person := of.window(of.rows.order[row]), of.person(row)
			if before, known := links[carrier{window, person}]; known && before != key {
				one.broken("window %d", window)
			}
			if before, known := persons[carried{window, key}]; known && before != person {
				own.broken("window %d", window)
			}
			links[carrier{window, person}], persons[carried{window, key}] = key, person
		}
	}
	return []*check{one, own}
}

// provePersons counts the persons whom somebody who knows what the policy grants is left with.
func (m *memberProof) provePersons(paths int32) {
	k := m.proof.Kind.K()
	few := func(name string, of []int32, groups int32) {
		c := newCheck(fmt.Sprintf(name, k))
		for _, rows := range rowsOf(of, groups) {
			if n := len(m.personsOf(rows)); n > 0 && n < k {
				c.broken("a group of %d persons", n)
			}
		}
		m.checks = append(m.checks, c)
	}
	m.checks = append(m.checks, m.proveClasses())
	if m.proof.finer != nil {
		m.checks = append(m.checks, m.proveUnions(m.proof.finer.Tables[m.table+1]))
	}
	if m.isRoot() {
		few("%d persons have the same root values", m.seen.groups[0].of, m.seen.groups[0].count)
		if of := m.classesOf(true); m.hides() {
			few("%d persons have the same root values, with hidden columns", of, groupsOf(of))
		}
		return
	}
	if of := m.classesOf(true); m.hides() && !m.isUnknown() {
		few("%d persons have a row that shows the same, with hidden columns", of, groupsOf(of))
	}
	if !m.isUnknown() {
		few("%d persons have a row with keys that shows the same", m.path, paths)
	}
	few("%d persons have a row without keys that shows the same", m.pooled(), m.seen.groups[0].count)
	if m.proof.Kind.Knows.All && !m.isUnknown() {
		m.checks = append(m.checks, m.proveTrees())
	}
}

// groupsOf is how many groups numbers name.
func groupsOf(of []int32) (groups int32) {
	for _, g := range of {
		groups = max(groups, g+1)
	}
	return groups
}

// hides reports whether quasi-identifying columns are hidden from the readers.
func (m *memberProof) hides() bool {
	p := m.rows.Publication
	return slices.ContainsFunc(p.Attributes, func(a catalog.Attribute) bool {
		return !slices.ContainsFunc(p.Columns, func(c catalog.PublishedColumn) bool { return c.Source == a.Column })
	})
}

// proveUnions compares the classes with those of the readers before: each of these is in one class as a whole, or in none,
// and no record has keys that it has not there.
func (m *memberProof) proveUnions(finer *Rows) *check {
	unions, in := newCheck("classes are unions of the finer ones"), map[int32]int32{}
	own, before := m.rows.parts[0].of, finer.parts[0].of
	for record, class := range before {
		if class < 0 {
			if own[record] >= 0 {
				unions.broken("a record of no finer class is published")
			}
			continue
		}
		if of, known := in[class]; known && of != own[record] {
			unions.broken("a finer class is in several")
		}
		in[class] = own[record]
		for i, key := range m.rows.keys {
			if key(int32(record)) != 0 && finer.keys[i](int32(record)) == 0 {
				unions.broken("a record has keys, and has none in the finer release")
			}
		}
	}
	return unions
}

// proveClasses compares what the rows of each class, or cell, show: constraints hold for classes, so that all of their rows
// have to look alike.
func (m *memberProof) proveClasses() *check {
	same, shown := newCheck("every class shows the same"), map[int32][2]int32{}
	for row := range m.path {
		class, looks := m.rows.parts[0].of[m.rows.order[row]], [2]int32{m.seen.groups[0].of[row], m.path[row]}
		if before, known := shown[class]; known && before != looks {
			same.broken("row %d", row+1)
		}
		shown[class] = looks
	}
	return same
}

// classesOf are the classes of rows with keys, or of those without; -1 for the others.
func (m *memberProof) classesOf(keyed bool) []int32 {
	of := make([]int32, m.seen.rows)
	for row := range of {
		if of[row] = -1; m.path[row] >= 0 == keyed {
			of[row] = m.rows.parts[0].of[m.rows.order[row]]
		}
	}
	return of
}

// pooled are what rows without keys show; -1 for rows with keys.
func (m *memberProof) pooled() []int32 {
	of := slices.Clone(m.seen.groups[0].of)
	for row := range of {
		if m.path[row] >= 0 {
			of[row] = -1
		}
	}
	return of
}

func (m *memberProof) personsOf(rows []int32) map[int32]bool {
	persons := make(map[int32]bool)
	for _, row := range rows {
		persons[m.person(row)] = true
	}
	return persons
}

// proveTrees compares the rows with keys of all persons of a class: as many of each path.
func (m *memberProof) proveTrees() *check {
	trees := newCheck("all persons of a class have the same rows")
	of := make(map[int32][]int32) // of each person
	for row, path := range m.path {
		if path >= 0 {
			person := m.person(int32(row))
			of[person] = append(of[person], path)
		}
	}
	for _, class := range m.proof.classes {
		for i, person := range class {
			slices.Sort(of[person])
			if i > 0 && !slices.Equal(of[person], of[class[0]]) {
				trees.broken("a class of %d persons", len(class))
				break
			}
		}
	}
	return trees
}
