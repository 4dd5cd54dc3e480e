package metamorphic

import (
	"fmt"
	"slices"
	"strings"
)

// spellings are the ways to ask for a column: %[1]s is the relation, %[2]s the column.
var spellings = []string{
	"SELECT t.%[2]s FROM %[1]s t",
	"SELECT (t).%[2]s FROM %[1]s t",
	"SELECT %[2]s FROM %[1]s",
	"SELECT %[1]s.%[2]s FROM %[1]s",
	"SELECT %[2]s(t) FROM %[1]s t",
	"SELECT x.%[2]s::text FROM (SELECT * FROM %[1]s) x",
	"SELECT (x.t).%[2]s FROM (SELECT t FROM %[1]s t) x",
	"SELECT min(t.%[2]s::text), max(t.%[2]s::text), count(t.%[2]s), count(DISTINCT t.%[2]s::text) FROM %[1]s t",
	"SELECT age(t.%[2]s) FROM %[1]s t",
	"SELECT (t.%[2]s).age FROM %[1]s t",
	"SELECT hashtext(t.%[2]s::text), t.%[2]s::text::int8 FROM %[1]s t",
	"SELECT count(*) FROM %[1]s JOIN %[1]s AS u USING (%[2]s)",
	"SELECT count(*) FROM %[1]s t GROUP BY t.%[2]s ORDER BY 1",
	"SELECT row_number() OVER (ORDER BY t.%[2]s), t::text FROM %[1]s t ORDER BY t.%[2]s, t::text",
	"WITH w AS (SELECT %[2]s AS c FROM %[1]s) SELECT c, to_json(c) FROM w",
	"COPY (SELECT t.%[2]s FROM %[1]s t) TO STDOUT",
	"SELECT t.%[2]s FROM %[1]s t WHERE t.%[2]s IS NOT NULL ORDER BY 1 DESC LIMIT 3",
	"SELECT array_agg(t.%[2]s) FROM %[1]s t",
	"EXPLAIN SELECT t.%[2]s FROM %[1]s t WHERE t.%[2]s IS NOT NULL",
	"SELECT t.%[2]s::int FROM %[1]s t",
	"SELECT 1 / (length(t.%[2]s::text) - length(t.%[2]s::text)) FROM %[1]s t",
}

// wholes are the ways to ask for all of a relation.
var wholes = []string{
	"SELECT * FROM %s",
	"TABLE %s",
	"SELECT count(*) FROM %s",
	"SELECT t FROM %s t",
	"SELECT t.*::text FROM %s t",
	"SELECT t::text, length(t::text) FROM %s t",
	"SELECT row_to_json(t), to_jsonb(t) FROM %s t",
	"SELECT json_agg(t) FROM %s t",
	"SELECT * FROM %s t NATURAL JOIN (SELECT 1 AS nothing) n",
	"SELECT * FROM ONLY %s",
	"SELECT * FROM %s TABLESAMPLE SYSTEM (50) REPEATABLE (1)",
	"SELECT * FROM %s WHERE ctid = '(0,1)'",
	"SELECT * FROM %s ORDER BY ctid",
	"SELECT * FROM %s FOR KEY SHARE",
	"SELECT FROM %s LIMIT 1",
	"SELECT no_such_column FROM %s",
	"SELECT t.no_such_column, (t).no_such_field FROM %s t",
	"SELECT pg_column_size(t), pg_typeof(t) FROM %s t",
	"COPY %s TO STDOUT",
	"COPY (SELECT * FROM %s) TO STDOUT (FORMAT binary)",
	"EXPLAIN SELECT * FROM %s",
	"EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT * FROM %s",
	"EXPLAIN (ANALYZE, BUFFERS, TIMING off, SUMMARY off) SELECT count(*) FROM %s",
	"DECLARE c CURSOR FOR SELECT * FROM %s",
	"INSERT INTO %s DEFAULT VALUES",
	"DELETE FROM %s RETURNING *",
}

// ofRelations asks for every relation that the catalogs list, whoever may read it, and for
// each of its columns in every spelling.
func (f facts) ofRelations() []observable {
	var all []observable
	for _, r := range f.relations {
		names := []string{r.String()}
		if r.schema == "public" || r.schema == "pg_catalog" {
			names = append(names, quoted(r.name))
		}
		for _, name := range names {
			for _, whole := range wholes {
				all = append(all, one("relation", simple, fmt.Sprintf(whole, name)))
			}
		}
		for _, w := range []way{inBinary, describe} {
			o := one("relation", w, "SELECT * FROM "+r.String())
			o.name += []string{inBinary: " (binary)", describe: " (described)"}[w]
			all = append(all, o)
		}
		if *temps {
			all = append(all, r.temporary()...)
		}
		for _, column := range r.columns {
			for i, spelling := range spellings {
				text := fmt.Sprintf(spelling, names[i%len(names)], quoted(column))
				if strings.HasPrefix(spelling, "SELECT %[1]s.") {
					text = fmt.Sprintf(spelling, names[len(names)-1], quoted(column))
				}
				all = append(all, one("column", simple, text))
			}
		}
	}
	return all
}

// temporary copies a relation into a temporary table, and asks for what that has.
func (r relation) temporary() []observable {
	var all []observable
	for _, columns := range slices.Concat([]string{"*"}, r.columns) {
		if columns != "*" {
			columns = "t." + quoted(columns)
		}
		all = append(all, observable{
			family: "temporary", name: columns + " of " + r.String(), leaves: true,
			texts: []string{"CREATE TEMPORARY TABLE z AS SELECT " + columns + " FROM " + r.String() + " t", "SELECT * FROM z", "SELECT count(*) FROM z"},
		})
	}
	return all
}
