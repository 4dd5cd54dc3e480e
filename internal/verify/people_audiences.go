package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// verifyAudiences verifies each audience's release as tables of their own, and that its classes, cells and
// rows without keys are unions of those of the audience before it.
func (p *persons) verifyAudiences() error {
	finer := p
	for _, of := range p.members[people.Root].relations.publication.Policy.Audiences {
		seen := p.newPersons()
		seen.own = p
		for _, number := range p.numbers() {
			publication, _ := p.members[number].relations.publication.MadeFor(of.Audience)
			seen.add(publication)
			m := seen.members[number]
			m.relations.kept = p.members[number].relations.publication.Kept(of.Audience).Columns
			m.relations.store, m.relations.removed = of.StoredAs(), of.IsRemoved()
		}
		verify := seen.verifyRelease
		if of.IsRemoved() {
			verify = seen.locateRemoved
		}
		readable, err := verify()
		for _, number := range seen.numbers() {
			m := seen.members[number]
			if err == nil && readable {
				err = m.compareWith(finer.members[number])
			}
			r := &p.members[number].report
			r.Audiences = append(r.Audiences, AudienceReport{of.Audience, !m.relations.publication.IsSeen(), m.report.Rows, m.report.Classes, m.report.Smallest, m.report.Largest, m.report.Checks})
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

// locateRemoved finds what is kept for an audience that no longer sees the tables; false where nothing is.
func (p *persons) locateRemoved() (found bool, err error) {
	found = true
	for _, number := range p.numbers() {
		there, err := p.members[number].locate()
		if err != nil {
			return false, err
		}
		found = found && there
	}
	return found, nil
}

// compareWith compares a table with what the audience before sees of it.
func (m *member) compareWith(finer *member) error {
	if m.relations.isGuarded() {
		return m.checkFollowed(finer)
	}
	return m.checkUnions(finer)
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

// checkFollowed compares a table with guarded updates with the release before it, which may have withdrawn what is shown
// here. What is still there is shown whole or waits, and each pseudonym leads to one of that release.
func (m *member) checkFollowed(finer *member) error {
	both := fmt.Sprintf("SELECT l.*, f.kproxy_class AS finer, f.kproxy_persons AS finer_persons, f.kproxy_window AS finer_window, f.kproxy_alias AS finer_alias FROM %s l LEFT JOIN %s f USING (kproxy_row)", m.relations.release, finer.relations.release)
	shown := fmt.Sprintf("SELECT l.kproxy_class AS class, count(*) AS n, count(r.kproxy_class) AS shown, count(DISTINCT r.kproxy_class) AS classes FROM %s l LEFT JOIN %s r USING (kproxy_row) WHERE l.kproxy_persons IS NOT NULL GROUP BY 1", finer.relations.release, m.relations.release)
	closed := "false"
	if m.isRoot() { // a group that shows nothing more
		closed = fmt.Sprintf("u.labels = 'null' AND EXISTS (SELECT FROM %s g WHERE g.kproxy_class = u.class)", m.relations.release)
	}
	promises := []promise{
		{"classes are unions of the finer ones", fmt.Sprintf(
			"SELECT 'class ' || class || ' of the finer release is in ' || classes || ' classes, and ' || n - shown || ' of its rows are in none' FROM (%s) f WHERE classes > 1 OR shown NOT IN (0, n)", shown)},
		{"it is known of every class of the finer release whether it is shown", fmt.Sprintf(
			"SELECT 'class ' || class FROM (%s) f FULL JOIN %s u USING (class) WHERE n IS NULL AND NOT (%s) OR (shown > 0) = (u.labels IS NOT NULL)", shown, m.relations.followed, closed)},
		{"rows that the finer release shows have its values", m.unequalToFiner(&finer.relations)},
		{"every row has keys, and those of the finer release that has it have them", fmt.Sprintf(
			"SELECT count(*) || ' rows' FROM (%s) b WHERE kproxy_persons IS NULL OR finer IS NOT NULL AND finer_persons IS NULL HAVING count(*) > 0", both)},
	}
	if !m.isRoot() && !m.of.people.Knows.All {
		promises = append(promises, promise{"a pseudonym of a window leads to one of the finer release", fmt.Sprintf(
			"SELECT 'class ' || kproxy_persons || ', window ' || kproxy_window FROM (%s) b GROUP BY kproxy_persons, kproxy_window, kproxy_person"+
				" HAVING count(DISTINCT (finer_persons, finer_window, finer_alias)) FILTER (WHERE finer IS NOT NULL) > 1 OR count(finer) NOT IN (0, count(*))", both)})
	}
	return m.keep(promises...)
}
