package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

const copiesOfRecords = "values published as they are are those of the record"

// countGuarded fills in the report's figures. Classes are as large as they are
// published.
func (t *table) countGuarded() error {
	r := &t.report
	totals := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE kproxy_row IS NULL),"+
		" count(*) FILTER (WHERE kproxy_row IS NOT NULL AND kproxy_since IS NOT NULL), (SELECT count(*) FROM %s) FROM %s", t.relations.published, t.relations.records)
	if err := t.tx.QueryRow(t.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Stale, &r.Rows); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	sizes := fmt.Sprintf("SELECT count(*), coalesce(min(n), 0), coalesce(max(n), 0), coalesce(sum(n * n), 0)::bigint, coalesce(sum(ghosts), 0)::bigint FROM (%s) c", guardedRelease{&t.relations}.lives())
	if err := t.tx.QueryRow(t.ctx, sizes).Scan(&r.Classes, &r.Smallest, &r.Largest, &r.Discernibility, &r.Ghosts); err != nil {
		return fmt.Errorf("counting classes: %w", err)
	}
	r.Discernibility += r.Withheld * r.Records
	return nil
}

// guardedRelease writes queries about the rows of a guarded release and their records.
type guardedRelease struct{ relations *relations }

// lives is a query for the classes, with their numbers of rows, ghosts and stale rows, their weights, and how
// many rows each weight leaves out.
func (g guardedRelease) lives() string {
	return fmt.Sprintf("SELECT l.kproxy_class AS class, count(*) AS n, count(*) - count(o.kproxy_row) AS ghosts, count(*) FILTER (WHERE o.stale) AS stale,"+
		" min(l.kproxy_weight)::float8 AS weight, max(l.kproxy_discounted) AS told"+
		" FROM %s l LEFT JOIN (SELECT kproxy_row, bool_or(kproxy_since IS NOT NULL) AS stale FROM %s GROUP BY 1) o USING (kproxy_row) WHERE l.kproxy_class IS NOT NULL GROUP BY 1", g.relations.weighed(), g.relations.records)
}

// checkLineage compares the release with the private store row by row, and the
// published relation with the release.
func (t *table) checkLineage() error {
	of := guardedRelease{&t.relations}
	type promise struct{ name, query string }
	promises := []promise{
		{"every row has a number of its own, and a class", fmt.Sprintf(
			"SELECT count(*) || ' rows of ' || coalesce('class ' || kproxy_class, 'no class')"+
				" FROM (SELECT kproxy_class, kproxy_row, count(*) OVER (PARTITION BY kproxy_row) AS n FROM %s) l"+
				" WHERE n > 1 OR kproxy_row IS NULL OR kproxy_class IS NULL GROUP BY kproxy_class", t.relations.release)},
		{"every published record has a row of its class", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || r.kproxy_class, 'no class')"+
				" FROM %s r LEFT JOIN %s l ON l.kproxy_row = r.kproxy_row AND l.kproxy_class = r.kproxy_class"+
				" WHERE l.kproxy_row IS NULL AND (r.kproxy_row IS NOT NULL OR r.kproxy_class IS NOT NULL) GROUP BY r.kproxy_class", t.relations.records, t.relations.release)},
		{"no two records share a row", fmt.Sprintf(
			"SELECT n || ' records share a row of class ' || coalesce(class::text, 'none') FROM (SELECT count(*) AS n, max(kproxy_class) AS class FROM %s"+
				" WHERE kproxy_row IS NOT NULL GROUP BY kproxy_row HAVING count(*) > 1) s", t.relations.records)},
		{"no withheld record is published", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || kproxy_class, 'no class') FROM %s"+
				" WHERE kproxy_expired AND kproxy_row IS NOT NULL GROUP BY kproxy_class", t.relations.records)},
		{"what has changed is said of the records that are published as they were", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || kproxy_class, 'no class') FROM %s"+
				" WHERE (kproxy_changed IS NOT NULL) <> (kproxy_row IS NOT NULL AND kproxy_since IS NOT NULL) GROUP BY kproxy_class", t.relations.records)},
		{"every class is sealed as a whole or not at all", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class FROM %s WHERE kproxy_class IS NOT NULL"+
				" GROUP BY kproxy_class HAVING count(DISTINCT kproxy_sealed) <> 1 OR count(*) > count(kproxy_sealed)", t.relations.release)},
		{"every class has one generalization", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class || ' has ' || count(*) FROM (SELECT DISTINCT l.kproxy_class, %s FROM %s l) g"+
				" WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class HAVING count(*) > 1", grouped(t.relations.parts[0].columns, "l"), t.relations.release)},
		{"weights tell of no more ghosts than there are or have come back", of.weightsQuery()},
		{"weights that tell of more than their class's ghosts are those of groups", of.groupsQuery()},
		{"every weight is that of a class", t.relations.everyWeightQuery()},
		{copiesOfRecords, of.unequalCopiesQuery()},
		{"the published relation shows the release as it is", t.relations.sameRowsQuery()},
		{"every hash of who has left leads to a row of nobody", of.departedQuery()},
		{"the store tells how fresh the release is", of.freshnessQuery(t.report.Stale, t.report.Ghosts)},
	}
	if t.relations.isSealed() {
		promises = slices.DeleteFunc(promises, func(p promise) bool { return p.name == copiesOfRecords })
	}
	if t.relations.hasSubject() {
		promises = append(promises, promise{"the persons of every class are told apart as they are", of.personsQuery()})
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

// weightsQuery finds weights that cannot be. A weight may lag on purpose: it may tell of fewer ghosts, or
// count rows whose records have come back, which are stale. Groups of classes tell of more. The tolerance is
// the precision of real.
func (g guardedRelease) weightsQuery() string {
	return fmt.Sprintf("SELECT 'class ' || class || ' of ' || n || ' rows with weight ' || coalesce(weight::text, 'none') || ', ' || ghosts || ' of them ghosts, ' || told || ' left out' FROM (%s) c"+
		" WHERE (weight > 0 AND weight <= 1 AND weight <= (n - told)::float8 / n + 1e-6 AND told <= ghosts + stale AND (ghosts > 0 OR told = 0)) IS NOT TRUE", g.lives())
}

// groupsQuery finds weights that are lower than what their classes tell of, but for one number for each group
// of classes of which something is told. Numbers up to -2^62 are those of persons. The tolerance is the
// precision of real.
func (g guardedRelease) groupsQuery() string {
	return fmt.Sprintf("SELECT 'weights differ by ' || factors || ' numbers from those of their classes, and ' || told || ' groups are told of'"+
		" FROM (SELECT count(*) FILTER (WHERE factor < 1 - 1e-5 AND (factor - before > 1e-5) IS NOT FALSE) AS factors"+
		" FROM (SELECT factor, lag(factor) OVER (ORDER BY factor) AS before FROM (SELECT weight * n / nullif(n - told, 0) AS factor FROM (%s) c) f) n) d,"+
		" (SELECT count(*) AS told FROM %s WHERE kproxy_class < 0 AND kproxy_class > -4611686018427387904 AND kproxy_discounted > 0) t WHERE factors > told", g.lives(), g.relations.weights)
}

// steps is how many persons the smallest class can have, and so the most of whom weights tell nothing.
func (t *table) steps() int {
	least := 1
	for _, c := range t.relations.publication.Policy.Constraints {
		least = max(least, c.K, int(math.Ceil(c.L)))
		if c.Alpha > 0 {
			least = max(least, int(math.Ceil(1/c.Alpha)))
		}
	}
	return least
}

// totalQuery compares the sum of all weights with how many rows stand for somebody. The sum is rounded, in
// proportion to the rows.
func (g guardedRelease) totalQuery(k int) string {
	return fmt.Sprintf("SELECT round(weighed::numeric, 1) || ' of ' || n || ' rows by their weights, ' || there || ' by their records'"+
		" FROM (SELECT coalesce(sum(l.kproxy_weight::float8), 0) AS weighed, count(*) AS n, count(o.kproxy_row) AS there"+
		" FROM %s l LEFT JOIN (SELECT DISTINCT kproxy_row FROM %s) o USING (kproxy_row)) s WHERE abs(weighed - there) > %d + n * 1e-5", g.relations.rated(), g.relations.records, k)
}

// paired are the records that are published as they are, as r, each with its row l.
func (g guardedRelease) paired() string {
	return fmt.Sprintf("%s r JOIN %s l USING (kproxy_row) WHERE %s", g.relations.records, g.relations.release, g.relations.asPublished("r"))
}

// unequalCopiesQuery compares the text of values that are published without
// generalization, byte by byte.
func (g guardedRelease) unequalCopiesQuery() string {
	different := []string{"false"}
	for _, c := range g.relations.kept {
		if c.Part == catalog.Copy {
			different = append(different, fmt.Sprintf(`%s::text COLLATE "C" IS DISTINCT FROM %s::text COLLATE "C"`, quoted("r", c.Source), quoted("l", c.Name)))
		}
	}
	return fmt.Sprintf("SELECT 'class ' || r.kproxy_class || ': ' || count(*) || ' records' FROM %s AND (%s) GROUP BY r.kproxy_class",
		g.paired(), strings.Join(different, " OR "))
}

// personsQuery checks that the numbers of persons within a class differ exactly where the
// subjects of its records do. The store no longer knows whose the rows of deleted and
// changed records were.
func (g guardedRelease) personsQuery() string {
	persons := fmt.Sprintf("(SELECT l.kproxy_class AS class, l.kproxy_person AS number, %s AS who FROM %s) p", quoted("r", g.relations.publication.Policy.Subject), g.paired())
	return "SELECT 'class ' || class || ' has one number for several persons' FROM " + persons +
		" GROUP BY class, number HAVING count(DISTINCT who) + max((who IS NULL)::int) > 1" +
		" UNION SELECT 'class ' || class || ' has several numbers for one person' FROM " + persons +
		" GROUP BY class, who HAVING count(DISTINCT number) + max((number IS NULL)::int) > 1"
}

// departedQuery checks that each hash of a deleted record's key leads to another ghost,
// whose row the record takes if its key comes back.
func (g guardedRelease) departedQuery() string {
	name := g.relations.publication.Policy.Table
	return fmt.Sprintf("SELECT 'row ' || d.row || ' of class ' || d.class || ', ' || count(*) || ' hashes' FROM kproxy_store.departed d JOIN kproxy_store.generation g USING (generation)"+
		" LEFT JOIN %s l ON l.kproxy_row = d.row AND l.kproxy_class = d.class"+
		" WHERE g.table_schema = %s AND g.table_name = %s GROUP BY d.class, d.row"+
		" HAVING count(*) > 1 OR count(l.kproxy_row) = 0 OR EXISTS (SELECT FROM %s r WHERE r.kproxy_row = d.row)",
		g.relations.release, catalog.QuoteLiteral(name.Schema), catalog.QuoteLiteral(name.Relation), g.relations.records)
}

func (g guardedRelease) freshnessQuery(stale, ghosts int64) string {
	name := g.relations.publication.Policy.Table
	return fmt.Sprintf("SELECT 'another number of ' || what FROM kproxy_store.generation g,"+
		" (SELECT count(*) FILTER (WHERE kproxy_row IS NULL AND NOT kproxy_expired) AS waiting,"+
		" count(*) FILTER (WHERE kproxy_row IS NULL AND kproxy_expired) AS expired FROM %s) r,"+
		" LATERAL (VALUES ('waiting records', g.waiting, r.waiting), ('expired records', g.expired, r.expired),"+
		" ('stale records', g.stale, %d), ('ghosts', g.ghosts, %d)) AS f(what, told, counted)"+
		" WHERE g.table_schema = %s AND g.table_name = %s AND told <> counted",
		g.relations.records, stale, ghosts, catalog.QuoteLiteral(name.Schema), catalog.QuoteLiteral(name.Relation))
}
