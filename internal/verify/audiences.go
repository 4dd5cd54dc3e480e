package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// AudienceReport is the proof for what an audience sees of a table.
type AudienceReport struct {
	Audience string `json:"audience"`
	// Unseen says that the audience does not see the table. Its release exists because it is made together with
	// those of other tables.
	Unseen bool `json:"unseen,omitempty"`
	// Rows counts the published relation, or the release that is not seen.
	Rows int64 `json:"rows"`
	// Classes counts the unions of the table's classes, and Smallest and Largest are their sizes in
	// records.
	Classes  int64   `json:"classes"`
	Smallest int64   `json:"smallest"`
	Largest  int64   `json:"largest"`
	Checks   []Check `json:"checks"`
}

// verifyAudiences verifies each audience's release as a table of its own, and that its classes are
// unions of the classes of the audience before it.
func (t *table) verifyAudiences() error {
	finer := &t.relations
	for _, of := range t.relations.publication.Policy.Audiences {
		p, _ := t.relations.publication.For(of.Audience)
		seen := session{ctx: t.ctx, tx: t.tx, tell: t.tell}.newTable(p)
		seen.relations.kept = t.relations.publication.Kept(of.Audience).Columns
		seen.relations.store, seen.relations.removed = of.StoredAs(), of.IsRemoved()
		if of.IsRemoved() {
			if err := seen.verifyRemoved(finer); err != nil {
				return fmt.Errorf("for %s: %w", of.Audience, err)
			}
			finer = &seen.relations
			t.report.Audiences = append(t.report.Audiences, AudienceReport{Audience: of.Audience, Checks: seen.report.Checks})
			continue
		}
		readable, err := seen.isReadable()
		if err != nil {
			return fmt.Errorf("for %s: %w", of.Audience, err)
		}
		if readable {
			steps := []step{
				{"counts for " + of.Audience, seen.count},
				{"constraints for " + of.Audience, seen.checkConstraints},
				{"constraints on columns hidden from " + of.Audience, func() error {
					return seen.checkHidden(t.relations.publication.Policy.ConstraintsFor(of.Audience), of.Hidden)
				}},
				{"records for " + of.Audience, seen.checkRelease},
				{"values for " + of.Audience, seen.checkAttributes},
				{"unions for " + of.Audience, func() error { return seen.checkUnions(finer.records) }},
			}
			if t.relations.isGuarded() {
				steps[0].do, steps[3].do = seen.countGuarded, func() error { return seen.checkCoarser(finer) } // which looks at unions, too
				steps = steps[:len(steps)-1]
			}
			err = seen.take(steps)
			finer = &seen.relations
		}
		t.report.Audiences = append(t.report.Audiences, AudienceReport{of.Audience, false, seen.report.Rows, seen.report.Classes, seen.report.Smallest, seen.report.Largest, seen.report.Checks})
		if err != nil {
			return fmt.Errorf("for %s: %w", of.Audience, err)
		}
	}
	return nil
}

// checkUnions checks, for each part, that all records of a finer class are in one class, or all withheld.
func (t *table) checkUnions(finer string) error {
	for _, p := range t.relations.parts {
		if err := t.checkUnionsOf(p, finer); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) checkUnionsOf(p part, finer string) error {
	return t.violations(t.relations.named("classes are unions of the finer ones", p), fmt.Sprintf(
		`SELECT 'class ' || f.%[1]s || ' of the finer release is in ' || count(DISTINCT r.%[1]s) || ' classes, and ' || count(*) FILTER (WHERE r.%[1]s IS NULL) || ' of its records are in none'
		FROM %[2]s f JOIN %[3]s r ON r.%[4]s = f.%[4]s WHERE f.%[1]s IS NOT NULL
		GROUP BY f.%[1]s HAVING count(DISTINCT r.%[1]s) > 1 OR count(DISTINCT r.%[1]s) = 1 AND count(r.%[1]s) < count(*)`,
		p.class, finer, t.relations.records, catalog.RecordColumn))
}
