package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// typeCalls have a statement call types.runs by a column's type without naming it. %s is its
// language and body.
var typeCalls = []struct{ name, column, plant string }{
	{"implicit cast", "types.need", "CREATE FUNCTION types.runs(types.need) RETURNS int %s; CREATE CAST (types.need AS int) WITH FUNCTION types.runs(types.need) AS IMPLICIT"},
	{"explicit cast", "types.need", "CREATE FUNCTION types.runs(types.need) RETURNS int %s; CREATE CAST (types.need AS int) WITH FUNCTION types.runs(types.need)"},
	{"cast to the type", "types.need", "CREATE FUNCTION types.runs(int) RETURNS types.need %s; CREATE CAST (int AS types.need) WITH FUNCTION types.runs(int)"},
	{"implicit cast to a type that nobody names", "types.need", "CREATE FUNCTION types.runs(types.need) RETURNS types.unseen %s; CREATE CAST (types.need AS types.unseen) WITH FUNCTION types.runs(types.need) AS IMPLICIT"},
	{"cast of elements", "types.need[]", "CREATE FUNCTION types.runs(types.need) RETURNS int %s; CREATE CAST (types.need AS int) WITH FUNCTION types.runs(types.need)"},
	{"cast of arrays", "types.need", "CREATE FUNCTION types.runs(types.need[]) RETURNS int %s; CREATE CAST (types.need[] AS int) WITH FUNCTION types.runs(types.need[])"},
	{"cast of a member", "types.pair", "CREATE FUNCTION types.runs(types.need) RETURNS int %s; CREATE CAST (types.need AS int) WITH FUNCTION types.runs(types.need)"},
	{"cast of what a domain is over", "types.of_need", "CREATE FUNCTION types.runs(types.need) RETURNS int %s; CREATE CAST (types.need AS int) WITH FUNCTION types.runs(types.need)"},
	{"check of a domain", "types.word", "CREATE FUNCTION types.runs(text) RETURNS bool %s; ALTER DOMAIN types.word ADD CHECK (types.runs(VALUE))"},
	{"operator in a check of a domain", "types.word", "CREATE FUNCTION types.runs(text, text) RETURNS bool %s; CREATE OPERATOR types.<~ (leftarg = text, rightarg = text, function = types.runs); ALTER DOMAIN types.word ADD CHECK (VALUE OPERATOR(types.<~) 'a')"},
	{"order", "types.pair", `CREATE FUNCTION types.runs(types.pair, types.pair) RETURNS int %s; CREATE FUNCTION types.less(types.pair, types.pair) RETURNS bool LANGUAGE internal IMMUTABLE AS 'record_lt';
		CREATE OPERATOR types.< (leftarg = types.pair, rightarg = types.pair, function = types.less);
		CREATE OPERATOR CLASS types.pairs DEFAULT FOR TYPE types.pair USING btree AS OPERATOR 1 types.<, FUNCTION 1 types.runs(types.pair, types.pair)`},
	{"equality", "types.pair", `CREATE FUNCTION types.runs(types.pair, types.pair) RETURNS bool %s; CREATE OPERATOR types.= (leftarg = types.pair, rightarg = types.pair, function = types.runs);
		CREATE OPERATOR CLASS types.pairs DEFAULT FOR TYPE types.pair USING hash AS OPERATOR 1 types.=, FUNCTION 1 hash_record(record)`},
}

// TestTypesCallListedFunctionsAlone: whatever calls a function by the type of a column that
// readers see is found, for that column, until the function is listed or the reader may not
// execute it.
func TestTypesCallListedFunctionsAlone(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	p.in.Policy = catalog.Policy{}
	table := catalog.Name{Schema: "types", Relation: "visits"}
	for i, way := range typeCalls {
		t.Run(way.name, func(t *testing.T) {
			body := "LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN NULL; END'"
			if i%2 == 0 {
				_, result, _ := strings.Cut(way.plant, "RETURNS ")
				result, _, _ = strings.Cut(result, " %s")
				body = fmt.Sprintf("LANGUAGE sql IMMUTABLE AS 'SELECT NULL::%s'", result)
			}
			execute(t, p.admin, "CREATE SCHEMA types; CREATE TYPE types.need AS ENUM ('a', 'b'); CREATE TYPE types.unseen AS ENUM ('c'); CREATE TYPE types.pair AS (x types.need, y int);"+
				"CREATE DOMAIN types.of_need AS types.need; CREATE DOMAIN types.word AS text CHECK (VALUE <> 'x');"+
				"CREATE TABLE types.visits (id int PRIMARY KEY, hidden "+way.column+", seen "+way.column+", plain int);"+strings.Replace(way.plant, "%s", body, 1))
			found := func() (columns []string, report inspect.Report) {
				for _, f := range p.check() {
					if f.Code == inspect.CodeTypeFunction {
						if f.Severity != inspect.Error || f.Table != table || !strings.Contains(f.What, "types.runs(") {
							t.Errorf("%s: %v", way.name, f)
						}
						columns, report = append(columns, f.Column), append(report, f)
					}
				}
				return slices.Compact(columns), report
			}
			expect := func(when string, want ...string) inspect.Report {
				columns, report := found()
				if !slices.Equal(columns, want) {
					t.Errorf("%s %s, %s: found of columns %q, want %q", way.name, when, body, columns, want)
				}
				return report
			}
			p.in.Policy.Readable = []catalog.Name{table}
			expect("readable", "hidden", "seen")
			p.in.Policy.Readable = nil
			p.in.Policy.Tables = []catalog.TablePolicy{{Table: table, Columns: []catalog.ColumnPolicy{
				{Name: "id", Role: catalog.Identifying}, {Name: "hidden", Role: catalog.Identifying}, {Name: "seen", Role: catalog.Sensitive},
			}}}
			p.in.Policy.Functions = []catalog.Name{{Schema: "types", Relation: "runs"}}
			expect("listed")
			p.in.Policy.Functions = []catalog.Name{{Schema: "public", Relation: "runs"}, {Schema: "types", Relation: "walks"}}
			report := expect("protected, and others listed", "seen")
			for _, f := range report {
				if strings.HasPrefix(f.Fix, "REVOKE") {
					execute(t, p.admin, f.Fix)
					expect("mended")
				} else if !strings.Contains(f.Fix, "drop the operator class types.pairs") {
					t.Errorf("%s: the fix is %q", way.name, f.Fix)
				}
			}
			execute(t, p.admin, "DROP SCHEMA types CASCADE")
			p.in.Policy = catalog.Policy{}
		})
	}
}

// TestTypesThatCallNothing: what PostgreSQL or an extension made, what takes a name that
// nobody may use, and what statements never call is not held against a column.
func TestTypesThatCallNothing(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	needExtension(t, p, "hstore")
	execute(t, p.admin, `CREATE EXTENSION hstore; CREATE SCHEMA types; CREATE TYPE types.need AS ENUM ('a'); CREATE TYPE types.unseen AS ENUM ('b');
		CREATE FUNCTION types.runs(types.need) RETURNS types.unseen LANGUAGE sql IMMUTABLE AS 'SELECT NULL::types.unseen';
		CREATE CAST (types.need AS types.unseen) WITH FUNCTION types.runs(types.need);
		CREATE FUNCTION types.back(types.unseen) RETURNS types.need LANGUAGE sql IMMUTABLE AS 'SELECT NULL::types.need';
		CREATE CAST (types.unseen AS types.need) WITH FUNCTION types.back(types.unseen) AS IMPLICIT;
		CREATE FUNCTION types.both(types.need, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
		CREATE OPERATOR types.= (leftarg = types.need, rightarg = int, function = types.both);
		CREATE DOMAIN types.word AS text DEFAULT 'a' CHECK (VALUE ~ '^a' AND length(VALUE) < 9);
		CREATE TYPE types.span AS RANGE (subtype = types.need);
		CREATE TABLE types.visits (id int PRIMARY KEY, a types.need, b types.word, c public.hstore, d types.span, e int4range, f text[])`)
	p.in.Policy = catalog.Policy{Readable: []catalog.Name{{Schema: "types", Relation: "visits"}}}
	for _, f := range p.check() {
		if f.Code == inspect.CodeTypeFunction {
			t.Error(f)
		}
	}
}
