package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// verifyAudiences verifies what each audience sees as tables by themselves, and that its classes, cells and
// rows without keys are unions of those of the audience before.
func (p *persons) verifyAudiences() error {
	finer := p
	for _, of := range p.members[people.Root].relations.publication.Policy.Audiences {
		seen := p.newPersons()
		seen.own = p
		for _, number := range p.numbers() {
			publication, _ := p.members[number].relations.publication.For(of.Audience)
			seen.add(publication)
		}
		readable, err := seen.verifyRelease()
		for _, number := range seen.numbers() {
			m := seen.members[number]
			if err == nil && readable {
				err = m.checkUnions(finer.members[number])
			}
			r := &p.members[number].report
			r.Audiences = append(r.Audiences, AudienceReport{of.Audience, m.report.Rows, m.report.Classes, m.report.Smallest, m.report.Largest, m.report.Checks})
		}
		if err != nil {
			return fmt.Errorf("for %s: %w", of.Audience, err)
		}
		if readable {
			finer = seen
		}
	}
	return nil
}

// checkUnions checks that the rows of a finer class are in one class, or that none is published, and that none has
// keys that it has not in the finer release.
func (m *member) checkUnions(finer *member) error {
	rows := func(of *member) string {
		return fmt.Sprintf("SELECT l.%s AS record, l.%s AS class, %s AS keyed FROM %s l", catalog.RowColumn, catalog.ClassColumn(0), m.isKeyed(), of.relations.release)
	}
	return m.violations("classes are unions of the finer ones", fmt.Sprintf(
		`SELECT 'class ' || f.class || ' of the finer release is in ' || count(DISTINCT r.class) || ' classes, and ' || count(*) FILTER (WHERE r.class IS NULL) || ' of its rows are in none'
		FROM (%s) f FULL JOIN (%s) r USING (record) GROUP BY f.class
		HAVING f.class IS NULL OR count(DISTINCT r.class) > 1 OR count(r.class) NOT IN (0, count(*)) OR count(*) FILTER (WHERE r.keyed AND NOT f.keyed) > 0`,
		rows(finer), rows(m)))
}
