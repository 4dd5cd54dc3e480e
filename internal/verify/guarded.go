package verify

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// isGuarded says whether the table is published by classes that never change: a
// record's row may then show it as it was, or stand for nobody any more.
func (t *table) isGuarded() bool { return t.publication.Policy.Updates.Mode == catalog.Guarded }

// marks are the release's columns in front of those that show something of the
// source, and places the store's, which say where a record is published.
func (t *table) marks() (marks, places []column) {
	for i := range t.parts {
		marks = append(marks, column{catalog.ClassColumn(i), "bigint"})
	}
	if !t.isGuarded() {
		return marks, marks
	}
	row := column{catalog.RowColumn, "bigint"}
	return append(marks[:1:1], row, column{catalog.PersonColumn, "bigint"}, column{catalog.SealedColumn, "boolean"}, column{catalog.WeightColumn, "real"}),
		append(marks[:1:1], row, column{catalog.ChangedColumn, "text"}, column{catalog.SinceColumn, "timestamp with time zone"}, column{catalog.ExpiredColumn, "boolean"})
}

// asPublished is the condition that a record is published, as it is now.
func (t *table) asPublished(alias string) string {
	if !t.isGuarded() {
		return t.inClasses(alias)
	}
	return fmt.Sprintf("%s AND %s.%s IS NULL", t.inClasses(alias), alias, catalog.SinceColumn)
}

// countGuarded fills in the report's figures. Classes are as large as they are
// published.
func (t *table) countGuarded() error {
	r := &t.report
	totals := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE kproxy_row IS NULL),"+
		" count(*) FILTER (WHERE kproxy_row IS NOT NULL AND kproxy_since IS NOT NULL), (SELECT count(*) FROM %s) FROM %s", t.published, t.records)
	if err := t.tx.QueryRow(t.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Stale, &r.Rows); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	sizes := fmt.Sprintf("SELECT count(*), coalesce(min(n), 0), coalesce(max(n), 0), coalesce(sum(n * n), 0)::bigint, coalesce(sum(ghosts), 0)::bigint FROM (%s) c", t.lives())
	if err := t.tx.QueryRow(t.ctx, sizes).Scan(&r.Classes, &r.Smallest, &r.Largest, &r.Discernibility, &r.Ghosts); err != nil {
		return fmt.Errorf("counting classes: %w", err)
	}
	r.Discernibility += r.Withheld * r.Records
	return nil
}

// lives is a query for the classes with their rows, those of them that are ghosts and those
// that are stale, the different weights, and one of these.
func (t *table) lives() string {
	return fmt.Sprintf("SELECT l.kproxy_class AS class, count(*) AS n, count(*) - count(o.kproxy_row) AS ghosts, count(*) FILTER (WHERE o.stale) AS stale,"+
		" count(DISTINCT l.kproxy_weight) + max((l.kproxy_weight IS NULL)::int) AS weights, min(l.kproxy_weight)::float8 AS weight"+
		" FROM %s l LEFT JOIN (SELECT kproxy_row, bool_or(kproxy_since IS NOT NULL) AS stale FROM %s GROUP BY 1) o USING (kproxy_row) WHERE l.kproxy_class IS NOT NULL GROUP BY 1", t.release, t.records)
}

// checkLineage compares the release with the private store row by row, and the
// published relation with the release.
func (t *table) checkLineage() error {
	type promise struct{ name, query string }
	promises := []promise{
		{"every row has a number of its own, and a class", fmt.Sprintf(
			"SELECT count(*) || ' rows of ' || coalesce('class ' || kproxy_class, 'no class')"+
				" FROM (SELECT kproxy_class, kproxy_row, count(*) OVER (PARTITION BY kproxy_row) AS n FROM %s) l"+
				" WHERE n > 1 OR kproxy_row IS NULL OR kproxy_class IS NULL GROUP BY kproxy_class", t.release)},
		{"every published record has a row of its class", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || r.kproxy_class, 'no class')"+
				" FROM %s r LEFT JOIN %s l ON l.kproxy_row = r.kproxy_row AND l.kproxy_class = r.kproxy_class"+
				" WHERE l.kproxy_row IS NULL AND (r.kproxy_row IS NOT NULL OR r.kproxy_class IS NOT NULL) GROUP BY r.kproxy_class", t.records, t.release)},
		{"no two records share a row", fmt.Sprintf(
			"SELECT n || ' records share a row of class ' || coalesce(class::text, 'none') FROM (SELECT count(*) AS n, max(kproxy_class) AS class FROM %s"+
				" WHERE kproxy_row IS NOT NULL GROUP BY kproxy_row HAVING count(*) > 1) s", t.records)},
		{"no withheld record is published", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || kproxy_class, 'no class') FROM %s"+
				" WHERE kproxy_expired AND kproxy_row IS NOT NULL GROUP BY kproxy_class", t.records)},
		{"what has changed is said of the records that are published as they were", fmt.Sprintf(
			"SELECT count(*) || ' records of ' || coalesce('class ' || kproxy_class, 'no class') FROM %s"+
				" WHERE (kproxy_changed IS NOT NULL) <> (kproxy_row IS NOT NULL AND kproxy_since IS NOT NULL) GROUP BY kproxy_class", t.records)},
		{"every class is sealed as a whole or not at all", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class FROM %s WHERE kproxy_class IS NOT NULL"+
				" GROUP BY kproxy_class HAVING count(DISTINCT kproxy_sealed) <> 1 OR count(*) > count(kproxy_sealed)", t.release)},
		{"every class has one generalization", fmt.Sprintf(
			"SELECT 'class ' || kproxy_class || ' has ' || count(*) FROM (SELECT DISTINCT l.kproxy_class, %s FROM %s l) g"+
				" WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class HAVING count(*) > 1", grouped(t.parts[0].columns, "l"), t.release)},
		// A weight that tells of fewer is behind on purpose, and so is one that tells of rows
		// whose records have come back: these are stale. A millionth is left to the precision
		// of real.
		{"every class has one weight, which tells of no more ghosts than there are or have come back", fmt.Sprintf(
			"SELECT 'class ' || class || ' of ' || n || ' rows with weight ' || coalesce(weight::text, 'none') || ', ' || ghosts || ' of them ghosts' FROM (%s) c"+
				" WHERE weights > 1 OR (weight > 0 AND weight <= 1 AND weight >= (n - ghosts - stale)::float8 / n - 1e-6 AND (ghosts > 0 OR weight = 1)) IS NOT TRUE", t.lives())},
		{"values published as they are are those of the record", t.unequalCopiesQuery()},
		{"the published relation shows the release as it is", t.sameRowsQuery()},
		{"every hash of who has left leads to a row of nobody", t.departedQuery()},
		{"the store tells how fresh the release is", t.freshnessQuery()},
	}
	if t.hasSubject() {
		promises = append(promises, promise{"the persons of every class are told apart as they are", t.personsQuery()})
	}
	for _, p := range promises {
		if err := t.violations(p.name, p.query); err != nil {
			return err
		}
	}
	return nil
}

// paired are the records that are published as they are, as r, each with its row l.
func (t *table) paired() string {
	return fmt.Sprintf("%s r JOIN %s l USING (kproxy_row) WHERE %s", t.records, t.release, t.asPublished("r"))
}

// unequalCopiesQuery compares the values that are published as they are, as text,
// byte by byte.
func (t *table) unequalCopiesQuery() string {
	different := []string{"false"}
	for _, c := range t.publication.Columns {
		if c.Part == catalog.Copy {
			different = append(different, fmt.Sprintf(`%s::text COLLATE "C" IS DISTINCT FROM %s::text COLLATE "C"`, quoted("r", c.Source), quoted("l", c.Name)))
		}
	}
	return fmt.Sprintf("SELECT 'class ' || r.kproxy_class || ': ' || count(*) || ' records' FROM %s AND (%s) GROUP BY r.kproxy_class",
		t.paired(), strings.Join(different, " OR "))
}

// personsQuery wants the numbers of persons to be different within a class exactly
// where the subjects of its records are. Whose the rows of deleted and of changed
// records were is not known any more.
func (t *table) personsQuery() string {
	persons := fmt.Sprintf("(SELECT l.kproxy_class AS class, l.kproxy_person AS number, %s AS who FROM %s) p", quoted("r", t.publication.Policy.Subject), t.paired())
	return "SELECT 'class ' || class || ' has one number for several persons' FROM " + persons +
		" GROUP BY class, number HAVING count(DISTINCT who) + max((who IS NULL)::int) > 1" +
		" UNION SELECT 'class ' || class || ' has several numbers for one person' FROM " + persons +
		" GROUP BY class, who HAVING count(DISTINCT number) + max((number IS NULL)::int) > 1"
}

// departedQuery wants the hashes of the keys that records had which have left to lead to
// ghosts, each to another one: who comes back takes the row.
func (t *table) departedQuery() string {
	name := t.publication.Policy.Table
	return fmt.Sprintf("SELECT 'row ' || d.row || ' of class ' || d.class || ', ' || count(*) || ' hashes' FROM kproxy_store.departed d JOIN kproxy_store.generation g USING (generation)"+
		" LEFT JOIN %s l ON l.kproxy_row = d.row AND l.kproxy_class = d.class"+
		" WHERE g.table_schema = %s AND g.table_name = %s GROUP BY d.class, d.row"+
		" HAVING count(*) > 1 OR count(l.kproxy_row) = 0 OR EXISTS (SELECT FROM %s r WHERE r.kproxy_row = d.row)",
		t.release, catalog.QuoteLiteral(name.Schema), catalog.QuoteLiteral(name.Relation), t.records)
}

func (t *table) freshnessQuery() string {
	name := t.publication.Policy.Table
	return fmt.Sprintf("SELECT 'another number of ' || what FROM kproxy_store.generation g,"+
		" (SELECT count(*) FILTER (WHERE kproxy_row IS NULL AND NOT kproxy_expired) AS waiting,"+
		" count(*) FILTER (WHERE kproxy_row IS NULL AND kproxy_expired) AS expired FROM %s) r,"+
		" LATERAL (VALUES ('waiting records', g.waiting, r.waiting), ('expired records', g.expired, r.expired),"+
		" ('stale records', g.stale, %d), ('ghosts', g.ghosts, %d)) AS f(what, told, counted)"+
		" WHERE g.table_schema = %s AND g.table_name = %s AND told <> counted",
		t.records, t.report.Stale, t.report.Ghosts, catalog.QuoteLiteral(name.Schema), catalog.QuoteLiteral(name.Relation))
}
