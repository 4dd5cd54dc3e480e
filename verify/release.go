package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// checkRelease compares the release with the private store class by class, and
// the published relation with the release.
func (t *table) checkRelease() error {
	for _, c := range []struct{ name, query string }{
		{"no withheld record is published", fmt.Sprintf(
			"SELECT count(*) || ' rows belong to no class' FROM %s WHERE kproxy_class IS NULL HAVING count(*) > 0", t.release)},
		{"every class has as many rows as records", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class || ' has ' || coalesce(sum(n) FILTER (WHERE stored), 0) || ' records and ' || coalesce(sum(n) FILTER (WHERE NOT stored), 0) || ' rows'"+
				" FROM (SELECT kproxy_class, count(*) AS n, true AS stored FROM %s WHERE kproxy_class IS NOT NULL GROUP BY 1"+
				" UNION ALL SELECT kproxy_class, count(*), false FROM %s WHERE kproxy_class IS NOT NULL GROUP BY 1) u"+
				" GROUP BY kproxy_class HAVING sum(n) FILTER (WHERE stored) IS DISTINCT FROM sum(n) FILTER (WHERE NOT stored)", t.records, t.release)},
		{"every class has one generalization", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class || ' has ' || count(*) FROM (SELECT DISTINCT kproxy_class, %s FROM %s l) g"+
				" WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class HAVING count(*) > 1", t.grouping("l"), t.release)},
		{"values published as they are agree in every class", t.copiesQuery()},
		{"the published relation shows the release as it is", t.sameRowsQuery()},
	} {
		if err := t.violations(c.name, c.query); err != nil {
			return err
		}
	}
	return nil
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

func (t *table) copiesQuery() string {
	stored, released := []string{"kproxy_class"}, []string{"kproxy_class"}
	for _, c := range t.publication.Columns {
		if c.Part == catalog.Copy {
			stored = append(stored, quoted("r", c.Source))
			released = append(released, quoted("l", c.Name))
		}
	}
	// Without a class, rows are another check's.
	return difference(t.records+" r WHERE kproxy_class IS NOT NULL", t.release+" l WHERE kproxy_class IS NOT NULL",
		stored, released, "'class ' || v0 || ' differs in ' || sum(abs(n)) || ' values or combinations'")
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
