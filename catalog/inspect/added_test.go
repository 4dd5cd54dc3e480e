package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog/inspect"
)

// beside are objects beside PostgreSQL's own that statements find by their names, or
// without.
var beside = []planted{
	{"function", "CREATE FUNCTION pg_catalog.lower(int) RETURNS text LANGUAGE sql AS 'SELECT 1::text'", "catalog-object", "function pg_catalog.lower(integer)"},
	{"aggregate", "CREATE AGGREGATE pg_catalog.sum(text) (sfunc = textcat, stype = text)", "catalog-object", "function pg_catalog.sum(text)"},
	{"odd name", `CREATE FUNCTION pg_catalog."Run ""it"(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`, "catalog-object", `pg_catalog."Run ""it"(text)`},
	{"function of information_schema", "CREATE FUNCTION information_schema._pg_expandarray(text) RETURNS text LANGUAGE sql AS 'SELECT $1'", "catalog-object", "information_schema._pg_expandarray(text)"},
	{"replaced function", "CREATE OR REPLACE FUNCTION pg_catalog.lpad(text, int) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT $1'", "catalog-object", "pg_catalog.lpad(text, integer)"},
	{"operator", "CREATE OPERATOR pg_catalog.+ (leftarg = text, rightarg = text, function = pg_catalog.textcat)", "catalog-object", "operator pg_catalog.+ (text, text)"},
	{"prefix operator", `CREATE FUNCTION public.shout(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
		CREATE OPERATOR pg_catalog.@ (rightarg = text, function = public.shout)`, "catalog-object", "operator pg_catalog.@ (NONE, text)"},
	{"type", "CREATE TYPE pg_catalog.colour AS ENUM ('red')", "catalog-object", "type pg_catalog.colour"},
	{"domain", "CREATE DOMAIN pg_catalog.odd AS int", "catalog-object", "type pg_catalog.odd"},
	{
		"cast", "CREATE FUNCTION public.truth(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE CAST (text AS int) WITH FUNCTION public.truth(text) AS IMPLICIT",
		"catalog-implicit", "cast (text AS integer)",
	},
	{"cast by PostgreSQL's own function", "CREATE CAST (oid AS bytea) WITH FUNCTION pg_catalog.lo_get(oid)", "catalog-implicit", "cast (oid AS bytea)"},
	{
		"operator class", `CREATE FUNCTION public.compare(json, json) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
		CREATE FUNCTION public.same(json, json) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
		CREATE OPERATOR public.= (leftarg = json, rightarg = json, function = public.same);
		CREATE OPERATOR CLASS public.json_ops DEFAULT FOR TYPE json USING btree AS OPERATOR 3 public.=, FUNCTION 1 public.compare(json, json)`,
		"catalog-implicit", "operator class public.json_ops USING btree",
	},
}

// harmless are objects that no statement of a client finds: nothing is told of them.
const harmlessBeside = `
	CREATE FUNCTION public.lower(int) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
	CREATE OPERATOR public.+ (leftarg = text, rightarg = text, function = pg_catalog.textcat);
	CREATE CAST (varchar AS int) WITH INOUT AS IMPLICIT;
	CREATE TYPE public.mood AS ENUM ('calm'); CREATE FUNCTION public.rank(mood) RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE CAST (mood AS int) WITH FUNCTION public.rank(mood);
	CREATE FUNCTION pg_catalog.upper(int) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
	REVOKE EXECUTE ON FUNCTION pg_catalog.upper(int) FROM PUBLIC;
	REVOKE EXECUTE ON FUNCTION pg_catalog.md5(text), pg_catalog.now() FROM PUBLIC; GRANT EXECUTE ON FUNCTION pg_catalog.md5(text), pg_catalog.now() TO PUBLIC`

func TestAuditTellsWhatInitdbDidNotMake(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	execute(t, p.admin, harmlessBeside)
	if report := p.audit(); len(report) > 0 {
		t.Fatalf("of a database with what nobody reaches:\n%s", report)
	}
	for _, way := range beside {
		execute(t, p.admin, way.plant)
		report := p.audit()
		if len(report) != 1 || !contains(report, way.code, way.words) {
			t.Errorf("%s: no finding %s with %q alone:\n%s", way.name, way.code, way.words, report)
		}
		for _, f := range report {
			if (f.Severity == inspect.Error) != (f.Code == "catalog-implicit") {
				t.Errorf("%s: %v", way.name, f)
			}
			execute(t, p.admin, f.Fix)
		}
		if report = p.audit(); len(report) > 0 {
			t.Fatalf("%s: left after the fix:\n%s", way.name, report)
		}
	}
}

func TestAuditTellsOfExtensionsInPgCatalog(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.admin, p.fill("REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC"))
	needExtension(t, p, "hstore")
	execute(t, p.admin, "CREATE EXTENSION hstore SCHEMA pg_catalog")
	names, err := inspect.Callable(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	if !names.Added.Operators["="] || !names.Added.Functions["hstore"] || !names.Added.Types["hstore"] || names.Added.Implicit != "" {
		t.Errorf("what is added: %v", names.Added)
	}
	report := p.audit()
	if len(report) != 1 || report[0].Severity != inspect.Warning || !strings.Contains(report[0].What, "extension hstore has ") {
		t.Fatalf("of hstore in pg_catalog:\n%s", report)
	}
	execute(t, p.admin, report[0].Fix)
	if report := p.audit(); len(report) > 0 {
		t.Errorf("after the fix:\n%s", report)
	}
}

func TestNothingIsAddedToAFreshServer(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	names, err := inspect.Callable(t.Context(), p.owner)
	if err != nil {
		t.Fatal(err)
	}
	if a := names.Added; len(a.Functions)+len(a.Operators)+len(a.Types) > 0 || a.Implicit != "" {
		t.Errorf("what initdb made counts as added: %v", a)
	}
}

// needExtension skips the test where the server has no such extension to install.
func needExtension(t *testing.T, p prepared, name string) {
	t.Helper()
	rows, err := p.admin.Query(t.Context(), "SELECT name::text FROM pg_available_extensions")
	if err != nil {
		t.Fatal(err)
	}
	var available []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		available = append(available, one)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	if !slices.Contains(available, name) {
		t.Skipf("this server's package has no %s", name)
	}
}
