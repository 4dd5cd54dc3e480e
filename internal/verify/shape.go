package verify

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

const columnsOf = `SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`

// readsOf are the relations and functions that the published view $1 names beside the
// release $2 and its weights $5, and a packed release beside $3, its rows, and $4, the type of their members.
// What belongs to PostgreSQL itself is not recorded as a dependency.
const readsOf = `SELECT DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0)
FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
WHERE r.ev_class IN ($1::text::regclass, $2::text::regclass)
  AND d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
  AND NOT (d.refclassid = 'pg_class'::regclass AND (d.refobjid = r.ev_class
    OR CASE WHEN r.ev_class = $1::text::regclass THEN coalesce(d.refobjid IN ($2::text::regclass, to_regclass(nullif($5::text, ''))), false)
            ELSE coalesce(d.refobjid IN (to_regclass($3::text), to_regclass($4::text)), false) END))`

type column struct{ name, sqlType string }

// checkShape compares the columns, and the definition of the published relation, with the
// publication. It reports whether the data can be read by the names of columns.
func (t *table) checkShape() (complete bool, err error) {
	var want, shown []column // shown of the source
	for _, c := range t.relations.publication.Columns {
		want = append(want, column{c.Name, c.Type})
	}
	for _, c := range t.relations.columnsOfRows() {
		if c.Source != "" {
			shown = append(shown, column{c.Name, c.Type})
		}
	}
	published := true
	if t.relations.publication.IsSeen() {
		if published, err = t.checkColumns("exactly the published columns", t.relations.published, want); err != nil {
			return false, err
		}
	}
	marks, places := t.relations.marks()
	release, err := t.checkColumns("exactly the release's columns", t.relations.release, append(slices.Clone(marks), shown...))
	if err != nil {
		return false, err
	}
	if t.relations.publication.WeighsApart() {
		weighed, err := t.checkColumns("exactly the columns of weights", t.relations.weights, []column{
			{catalog.ClassColumn(0), "bigint"}, {catalog.WeightColumn, "real"}, {catalog.DiscountedColumn, "bigint"}, {catalog.LeaversColumn, "bigint"},
		})
		if err != nil || !weighed {
			return false, err
		}
	}
	stored, err := t.checkStored(places)
	if err != nil {
		return false, err
	}
	if !t.relations.publication.IsSeen() {
		return release && stored, nil
	}
	const reads = "the published relation reads its release alone"
	return published && release && stored, t.violations(reads, readsOf, t.relations.published, t.relations.release, t.relations.packed, t.relations.copied, t.relations.weights)
}

func (t *table) columns(relation string) ([]column, error) {
	rows, _ := t.tx.Query(t.ctx, columnsOf, relation) // the rows carry its error
	columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		err = row.Scan(&c.name, &c.sqlType)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", relation, err)
	}
	return columns, nil
}

// checkColumns checks that the relation has exactly these columns in this order. Further
// columns break the promise, but do not prevent reading the data.
func (t *table) checkColumns(check, relation string, want []column) (complete bool, err error) {
	columns, err := t.columns(relation)
	if err != nil {
		return false, err
	}
	var problems []string
	missing := compareColumns(columns, want, &problems)
	for _, c := range columns {
		if !slices.ContainsFunc(want, func(w column) bool { return w.name == c.name }) {
			problems = append(problems, "column "+c.name+" should not be there")
		}
	}
	if len(problems) == 0 {
		for i, c := range columns {
			if c.name != want[i].name {
				problems = append(problems, "column "+c.name+" stands in another place")
			}
		}
	}
	t.add(check, int64(len(problems)), problems[:min(len(problems), maxExamples)])
	return !missing, nil
}

// compareColumns appends a problem for every wanted column that is missing or of
// another type. Both sides name types as format_type does under a search path of
// pg_catalog.
func compareColumns(columns, want []column, problems *[]string) (missing bool) {
	types := map[string]string{}
	for _, c := range columns {
		types[c.name] = c.sqlType
	}
	for _, c := range want {
		switch actual, exists := types[c.name]; {
		case !exists:
			*problems, missing = append(*problems, "column "+c.name+" is missing"), true
		case actual != c.sqlType:
			*problems, missing = append(*problems, fmt.Sprintf("column %s has type %s instead of %s", c.name, actual, c.sqlType)), true
		}
	}
	return missing
}

// checkStored checks that the store has the columns with which the release is compared.
func (t *table) checkStored(places []column) (complete bool, err error) {
	columns, err := t.columns(t.relations.records)
	if err != nil {
		return false, err
	}
	want := append([]column{{catalog.RecordColumn, "bigint"}}, places...)
	stored := t.relations.publication.StoredColumns()
	if t.relations.isSealed() {
		stored, want = nil, append(want, column{catalog.CiphertextColumn, "bytea"})
	}
	for _, c := range stored {
		want = append(want, column{c.Name, c.Type})
	}
	var problems []string
	missing := compareColumns(columns, want, &problems)
	t.add("the private store is complete", int64(len(problems)), problems[:min(len(problems), maxExamples)])
	return !missing, nil
}

// quoted is a column of a relation that goes by the alias.
func quoted(alias, name string) string { return alias + "." + catalog.QuoteIdentifier(name) }
