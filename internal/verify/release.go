package verify

import (
	"fmt"
)

const copiesAgree = "values published as they are agree in every class"

// checkRelease compares the release with the private store class by class, and
// the published relation with the release.
func (t *table) checkRelease() error {
	withheld := fmt.Sprintf("SELECT count(*) || ' rows belong to no class' FROM %s l WHERE NOT (%s) HAVING count(*) > 0", t.relations.release, t.relations.inClasses("l"))
	if err := t.violations("no withheld record is published", withheld); err != nil {
		return err
	}
	for _, p := range t.relations.parts {
		if err := t.checkClasses(p); err != nil {
			return err
		}
	}
	if t.relations.isPacked {
		if err := t.violations("every record lies once among the members of its class", t.relations.membersQuery()); err != nil {
			return err
		}
		if err := t.violations("every member is another record", t.relations.repeatedQuery()); err != nil {
			return err
		}
		if err := t.checkSummary(); err != nil {
			return err
		}
	}
	if !t.relations.isSealed() {
		if err := t.violations(copiesAgree, t.relations.copiesQuery()); err != nil {
			return err
		}
	}
	return t.violations("the published relation shows the release as it is", t.relations.sameRowsQuery())
}

// checkClasses compares the classes of one part.
func (t *table) checkClasses(p part) error {
	sizes := fmt.Sprintf("SELECT 'class ' || class || ' has ' || coalesce(sum(n) FILTER (WHERE stored), 0) || ' records and ' || coalesce(sum(n) FILTER (WHERE NOT stored), 0) || ' rows'"+
		" FROM (SELECT r.%[1]s AS class, count(*) AS n, true AS stored FROM %[2]s r WHERE %[3]s GROUP BY 1"+
		" UNION ALL SELECT l.%[1]s, count(*), false FROM %[4]s l WHERE l.%[1]s IS NOT NULL GROUP BY 1) u"+
		" GROUP BY class HAVING sum(n) FILTER (WHERE stored) IS DISTINCT FROM sum(n) FILTER (WHERE NOT stored)",
		p.class, t.relations.records, t.relations.inClasses("r"), t.relations.release)
	if err := t.violations(t.relations.named("every class has as many rows as records", p), sizes); err != nil {
		return err
	}
	generalizations := fmt.Sprintf("SELECT 'class ' || class || ' has ' || count(*) FROM (SELECT DISTINCT l.%s AS class, %s FROM %s l) g"+
		" WHERE class IS NOT NULL GROUP BY class HAVING count(*) > 1", p.class, grouped(p.columns, "l"), t.relations.release)
	return t.violations(t.relations.named("every class has one generalization", p), generalizations)
}
