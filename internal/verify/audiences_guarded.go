package verify

import (
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

// An audience of a guarded table sees copies of rows of the release before it, made together with their group. A view
// joins these rows with the groups. A row is stale where its record has changed, or where the release before has
// another row in its place.

// checkCoarser compares what an audience sees of a guarded table with the release before it.
func (t *table) checkCoarser(finer *relations) error {
	of := guardedRelease{&t.relations}
	type promise struct{ name, query string }
	promises := []promise{
		{"every row has a number of its own, and a class", fmt.Sprintf(
			"SELECT count(*) || ' rows of ' || coalesce('class ' || kproxy_class, 'no class')"+
				" FROM (SELECT kproxy_class, kproxy_row, count(*) OVER (PARTITION BY kproxy_row) AS n FROM %s) l"+
				" WHERE n > 1 OR kproxy_row IS NULL OR kproxy_class IS NULL GROUP BY kproxy_class", t.relations.release)},
		{"every class is sealed as a whole or not at all", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class FROM %s WHERE kproxy_class IS NOT NULL"+
				" GROUP BY kproxy_class HAVING count(DISTINCT kproxy_sealed) <> 1 OR count(*) > count(kproxy_sealed)", t.relations.release)},
		{"every class has one generalization", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class || ' has ' || count(*) FROM (SELECT DISTINCT l.kproxy_class, %s FROM %s l) g"+
				" WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class HAVING count(*) > 1", grouped(t.relations.parts[0].columns, "l"), t.relations.release)},
		{"weights tell of no more ghosts than there are or have come back", of.weightsQuery()},
		{"every weight is that of a class", t.relations.everyWeightQuery()},
		{"the published relation shows the release as it is", t.relations.sameRowsQuery()},
		{"rows that are shown as the finer release shows them have its values", t.unequalToFiner(finer)},
		{"classes are unions of the finer ones", t.dividedQuery(finer)},
		{"it is known of every class of the finer release whether it is shown", t.unknownQuery(finer)},
		{"rows that are not shown as the finer release shows them have their place in it", t.partedQuery(finer)},
	}
	if !t.relations.hasSubject() {
		promises = append(promises, promise{fmt.Sprintf("weights add up to the rows that stand for somebody, but for %d", t.steps()), of.totalQuery(t.steps())})
	}
	for _, p := range promises {
		if err := t.violations(p.name, p.query); err != nil {
			return err
		}
	}
	return nil
}

// followed pairs each row that an audience sees with the row of the finer release that it stands for now.
func (t *table) followed() string {
	return fmt.Sprintf("(SELECT l.kproxy_class, l.kproxy_row, coalesce(p.now, l.kproxy_row) AS now, p.now IS NOT NULL AS parted FROM %s l LEFT JOIN %s p USING (kproxy_row))",
		t.relations.release, t.relations.parted)
}

// dividedQuery finds classes of the finer release that are shown in part, or in several groups.
func (t *table) dividedQuery(finer *relations) string {
	return fmt.Sprintf("SELECT 'class ' || f.kproxy_class || ' of the finer release is in ' || count(DISTINCT r.kproxy_class) || ' classes, and ' || count(*) FILTER (WHERE r.kproxy_class IS NULL) || ' of its rows are in none'"+
		" FROM %s f LEFT JOIN %s r ON r.now = f.kproxy_row GROUP BY f.kproxy_class"+
		" HAVING count(DISTINCT r.kproxy_class) > 1 OR count(DISTINCT r.kproxy_class) = 1 AND count(r.kproxy_class) < count(*) OR count(DISTINCT r.parted) > 1", finer.release, t.followed())
}

// unknownQuery finds classes of the finer release whose note differs from whether they are shown.
func (t *table) unknownQuery(finer *relations) string {
	return fmt.Sprintf("SELECT 'class ' || class FROM (SELECT f.kproxy_class AS class, min(r.kproxy_class) AS shown, bool_or(coalesce(r.parted, false)) AS parted FROM %s f LEFT JOIN %s r ON r.now = f.kproxy_row GROUP BY 1) s"+
		" FULL JOIN %s u USING (class) WHERE shown IS NULL AND (u.shown_in IS NOT NULL OR u.withheld IS NULL) OR parted IS NULL"+
		" OR shown IS NOT NULL AND (parted <> (u.shown_in IS NOT NULL) OR u.shown_in <> shown OR u.withheld)", finer.release, t.followed(), t.relations.followed)
}

// partedQuery finds notes of a row that another one has replaced where either row is missing.
func (t *table) partedQuery(finer *relations) string {
	return fmt.Sprintf("SELECT 'row ' || p.kproxy_row FROM %s p WHERE p.now = p.kproxy_row OR NOT EXISTS (SELECT FROM %s l WHERE l.kproxy_row = p.kproxy_row) OR NOT EXISTS (SELECT FROM %s f WHERE f.kproxy_row = p.now)",
		t.relations.parted, t.relations.release, finer.release)
}

// unequalToFiner compares the text of values that are published without generalization.
func (t *table) unequalToFiner(finer *relations) string {
	different := "false"
	for _, c := range t.relations.kept {
		if c.Part == catalog.Copy {
			different += fmt.Sprintf(` OR %s::text COLLATE "C" IS DISTINCT FROM %s::text COLLATE "C"`, quoted("f", c.Name), quoted("l", c.Name))
		}
	}
	return fmt.Sprintf("SELECT 'class ' || l.kproxy_class || ': ' || count(*) || ' rows' FROM %s l JOIN %s f USING (kproxy_row) WHERE (%s) OR l.kproxy_person IS NULL GROUP BY l.kproxy_class",
		t.relations.release, finer.release, different)
}
