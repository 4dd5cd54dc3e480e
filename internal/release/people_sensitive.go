package release

import (
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// held is a sensitive value of a person.
type held struct {
	attribute int   // of all tables, as people.Data numbers them
	window    int32 // always for a value of the root's
	code      uint32
}

// always is the window of what is true of a person at any time.
const always = int32(-1)

// holdings are the values that each person has, in all rows of all tables: one that is not published counts
// as well.
func (p *peopleProof) holdings() [][]held {
	data := p.persons.Data
	of := make([][]held, data.Root.Len())
	for table, m := range p.members {
		table-- // the root is first
		records, first := p.records(table), data.SensitiveOf(table)
		for record := range int32(records.Len()) {
			person := m.personOf(record)
			if person == people.Nobody || records.SensitiveLen() == 0 {
				continue
			}
			window := always
			if table != people.Root {
				window = m.window(record)
			}
			for a := range records.SensitiveLen() {
				of[person] = append(of[person], held{first + a, window, records.Sensitive(a)[record]})
			}
		}
	}
	return of
}

// summaryOf counts persons with their values of a window, or with all of them.
func (p *peopleProof) summaryOf(persons map[int32]bool, window int32) privacy.Summary {
	if p.held == nil {
		p.held = p.holdings()
	}
	s := privacy.NewSubjectSummary(len(p.persons.Schema.Sensitive))
	for person := range persons {
		s.AddSubject(uint32(person))
		for _, v := range p.held[person] {
			if window == always || v.window == always || v.window == window {
				s.AddValueOf(uint32(person), v.attribute, v.code)
			}
		}
	}
	return s
}

// population is that of all persons.
func (p *peopleProof) population() *privacy.Population {
	if p.whole == nil {
		all := make(map[int32]bool)
		for person := range int32(p.persons.Data.Root.Len()) {
			all[person] = true
		}
		p.whole = privacy.NewPopulation(p.summaryOf(all, always))
	}
	return p.whole
}

// proveSensitive checks the constraints on sensitive values.
func (m *memberProof) proveSensitive() error {
	all, err := m.proof.constraints(func(catalog.Name) bool { return true })
	if err != nil || len(all) == 0 {
		return err
	}
	switch {
	case m.isRoot():
		m.violations("", all, m.classesOf(true), func([]int32) int32 { return always })
	case !m.proof.Kind.Knows.All && !m.isUnknown():
		m.violations(", in cells", all, m.classesOf(true), func(rows []int32) int32 { return m.window(m.rows.order[rows[0]]) })
	}
	if m.isRoot() {
		return nil
	}
	own, err := m.proof.constraints(func(table catalog.Name) bool { return table == m.rows.Publication.Policy.Table })
	if err != nil || len(own) == 0 {
		return err
	}
	m.poolViolations(own)
	return nil
}

// constraints are those on sensitive values of some tables.
func (p *peopleProof) constraints(of func(table catalog.Name) bool) (privacy.ConstraintSet, error) {
	publication := p.builder.Publication()
	publication.People.Constraints = nil
	for _, spec := range p.Kind.Constraints {
		if table, _, named := catalog.ParseQualifiedColumn(spec.Of); named && of(table) {
			publication.People.Constraints = append(publication.People.Constraints, spec)
		}
	}
	if len(publication.People.Constraints) == 0 {
		return nil, nil
	}
	return publication.ConstraintSet(p.persons.Schema)
}

// violations counts the groups of rows whose persons violate constraints.
func (m *memberProof) violations(where string, set privacy.ConstraintSet, of []int32, window func(rows []int32) int32) {
	m.count(where, set, of, func(rows []int32) privacy.Summary {
		return m.proof.summaryOf(m.personsOf(rows), window(rows))
	})
}

// poolViolations counts the groups of rows without keys whose own values violate constraints.
func (m *memberProof) poolViolations(set privacy.ConstraintSet) {
	records, first := m.proof.records(m.table), m.proof.persons.Data.SensitiveOf(m.table)
	m.count(", in rows without keys", set, m.classesOf(false), func(rows []int32) privacy.Summary {
		s := privacy.NewSubjectSummary(len(m.proof.persons.Schema.Sensitive))
		for _, row := range rows {
			person := uint32(m.person(row))
			s.AddSubject(person)
			for a := range records.SensitiveLen() {
				s.AddValueOf(person, first+a, records.Sensitive(a)[m.rows.order[row]])
			}
		}
		return s
	})
}

func (m *memberProof) count(where string, set privacy.ConstraintSet, of []int32, summary func(rows []int32) privacy.Summary) {
	whole := m.proof.population()
	checks := make([]*check, len(set))
	for i, c := range set {
		checks[i] = newCheck(c.String() + where)
	}
	for _, rows := range rowsOf(of, groupsOf(of)) {
		if len(rows) == 0 {
			continue
		}
		s := summary(rows)
		for i, c := range set {
			if !c.Satisfied(s, whole) {
				checks[i].broken("a group of %d persons", s.Records)
			}
		}
	}
	m.checks = append(m.checks, checks...)
}
