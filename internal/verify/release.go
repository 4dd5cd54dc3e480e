package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// checkRelease compares the release with the private store class by class, and
// the published relation with the release.
func (t *table) checkRelease() error {
	withheld := fmt.Sprintf("SELECT count(*) || ' rows belong to no class' FROM %s l WHERE NOT (%s) HAVING count(*) > 0", t.release, t.inClasses("l"))
	if err := t.violations("no withheld record is published", withheld); err != nil {
		return err
	}
	for _, p := range t.parts {
		if err := t.checkClasses(p); err != nil {
			return err
		}
	}
	if t.isPacked {
		if err := t.violations("every record lies once among the members of its class", t.membersQuery()); err != nil {
			return err
		}
		if err := t.violations("every member is another record", t.repeatedQuery()); err != nil {
			return err
		}
	}
	if err := t.violations("values published as they are agree in every class", t.copiesQuery()); err != nil {
		return err
	}
	return t.violations("the published relation shows the release as it is", t.sameRowsQuery())
}

// checkClasses compares the classes of one part.
func (t *table) checkClasses(p part) error {
	sizes := fmt.Sprintf("SELECT 'class ' || class || ' has ' || coalesce(sum(n) FILTER (WHERE stored), 0) || ' records and ' || coalesce(sum(n) FILTER (WHERE NOT stored), 0) || ' rows'"+
		" FROM (SELECT r.%[1]s AS class, count(*) AS n, true AS stored FROM %[2]s r WHERE %[3]s GROUP BY 1"+
		" UNION ALL SELECT l.%[1]s, count(*), false FROM %[4]s l WHERE l.%[1]s IS NOT NULL GROUP BY 1) u"+
		" GROUP BY class HAVING sum(n) FILTER (WHERE stored) IS DISTINCT FROM sum(n) FILTER (WHERE NOT stored)",
		p.class, t.records, t.inClasses("r"), t.release)
	if err := t.violations(t.named("every class has as many rows as records", p), sizes); err != nil {
		return err
	}
	generalizations := fmt.Sprintf("SELECT 'class ' || class || ' has ' || count(*) FROM (SELECT DISTINCT l.%s AS class, %s FROM %s l) g"+
		" WHERE class IS NOT NULL GROUP BY class HAVING count(*) > 1", p.class, grouped(p.columns, "l"), t.release)
	return t.violations(t.named("every class has one generalization", p), generalizations)
}

// difference is a query for the classes whose rows differ, as multisets, between
// two relations: what one side has counts up, what the other has counts down.
// Values are compared as text, byte by byte.
func difference(left, right string, leftColumns, rightColumns []string, described string) string {
	names := make([]string, len(leftColumns))
	for i := range names {
		names[i] = fmt.Sprintf("v%d", i)
	}
	side := func(relation string, columns []string, count string) string {
		selected := make([]string, len(columns))
		for i, c := range columns {
			selected[i] = fmt.Sprintf(`%s::text COLLATE "C" AS v%d`, c, i)
		}
		return fmt.Sprintf("SELECT %s, %s AS n FROM %s", strings.Join(selected, ", "), count, relation)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT v0, sum(n) AS n FROM (%s UNION ALL %s) u GROUP BY %s HAVING sum(n) <> 0) d GROUP BY %s",
		described, side(left, leftColumns, "1"), side(right, rightColumns, "-1"), strings.Join(names, ", "), "v0")
}

// copiesQuery compares the values beside the classes of all parts: which of them
// stand in one row matters, too.
func (t *table) copiesQuery() string {
	var stored, released []string
	for _, p := range t.parts {
		stored, released = append(stored, "r."+p.class), append(released, "l."+p.class)
	}
	for _, c := range t.publication.Columns {
		if c.Part == catalog.Copy {
			stored = append(stored, quoted("r", c.Source))
			released = append(released, quoted("l", c.Name))
		}
	}
	// Without a class, rows are another check's.
	return difference(t.records+" r WHERE "+t.inClasses("r"), t.release+" l WHERE "+t.inClasses("l"),
		stored, released, "'class ' || v0 || ' differs in ' || sum(abs(n)) || ' values or combinations'")
}

// membersQuery compares the numbers of the records that lie in packed rows. No reader sees
// them: they tell kproxy which member to write anew.
func (t *table) membersQuery() string {
	class, record := t.parts[0].class, catalog.RecordColumn
	return difference(t.records+" r WHERE "+t.inClasses("r"), t.packed+" p, unnest(p."+catalog.MembersColumn+") m",
		[]string{"r." + class, "r." + record}, []string{"p." + class, "m." + record}, "'class ' || v0 || ' differs in ' || count(*) || ' records'")
}

// repeatedQuery looks for records that are members twice: their classes are told by the
// packed rows alone.
func (t *table) repeatedQuery() string {
	return fmt.Sprintf("SELECT 'a record lies among the members of ' || string_agg('class ' || p.%[1]s, ', ') FROM %[2]s p, unnest(p.%[3]s) m GROUP BY m.%[4]s HAVING count(*) > 1",
		t.parts[0].class, t.packed, catalog.MembersColumn, catalog.RecordColumn)
}

func (t *table) sameRowsQuery() string {
	var published, released []string
	for _, c := range t.publication.Columns {
		published = append(published, quoted("p", c.Name))
		released = append(released, quoted("l", c.Name))
	}
	constant := []string{"0"}
	return difference(t.published+" p", t.release+" l", append(constant, published...), append(constant, released...),
		"sum(abs(n)) || ' rows differ'")
}
