package rewrite

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// attributeForms are the ways to write a call as a column, over values of which more and
// less is known, and the same as a call.
var attributeForms = []struct{ attribute, call string }{
	{"SELECT (1).%s", "SELECT %s(1)"},
	{"SELECT ('a'::text).%s", "SELECT %s('a'::text)"},
	{"SELECT ('a').%s", "SELECT %s('a')"},
	{"SELECT (ARRAY[1]).%s", "SELECT %s(ARRAY[1])"},
	{"SELECT ($1).%s", "SELECT %s($1)"},
	{"SELECT (lower('a')).%s", "SELECT %s(lower('a'))"},
	{"SELECT (CASE WHEN true THEN 1 END).%s", "SELECT %s(CASE WHEN true THEN 1 END)"},
	{"SELECT ((SELECT 1)).%s", "SELECT %s((SELECT 1))"},
	{"SELECT (ROW(1, 2)).%s", "SELECT %s(ROW(1, 2))"},
	{"SELECT x.%s FROM unnest(ARRAY[1]) x", "SELECT %s(x) FROM unnest(ARRAY[1]) x"},
	{"SELECT (x).%s FROM unnest(ARRAY[1]) x", "SELECT %s(x) FROM unnest(ARRAY[1]) x"},
	{"SELECT x.%s FROM unnest(ARRAY[1]) WITH ORDINALITY x(a, b)", "SELECT %s(x) FROM unnest(ARRAY[1]) x"},
	{"SELECT x.%s FROM (SELECT 1) x", "SELECT %s(x) FROM (SELECT 1) x"},
	{"SELECT x.%s FROM (SELECT * FROM wards) x", "SELECT %s(x) FROM (SELECT * FROM wards) x"},
	{"SELECT x.%s FROM (VALUES (1)) x", "SELECT %s(x) FROM (VALUES (1)) x"},
	{"SELECT (x.a).%s FROM (SELECT 1) x(a)", "SELECT %s(x.a) FROM (SELECT 1) x(a)"},
	{"SELECT (a).%s FROM (SELECT 1) x(a)", "SELECT %s(a) FROM (SELECT 1) x(a)"},
	{"WITH x AS (SELECT 1 AS a) SELECT x.%s FROM x", "WITH x AS (SELECT 1 AS a) SELECT %s(x) FROM x"},
	{"WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT (x.a).%s::int FROM x) TABLE x", "SELECT %s(1)"},
	{"SELECT wards.%s FROM wards", "SELECT %s(wards) FROM wards"},
	{"SELECT (wards).%s FROM wards", "SELECT %s(wards) FROM wards"},
	{"SELECT (wards.*).%s FROM wards", "SELECT %s(wards.*) FROM wards"},
	{"SELECT public.wards.%s FROM wards", "SELECT %s(wards) FROM wards"},
	{"SELECT (array_agg(w))[1].%s FROM wards w", "SELECT %s((array_agg(w))[1]) FROM wards w"},
	{"SELECT j.%s FROM (wards a CROSS JOIN wards b) AS j", "SELECT %s(j) FROM (wards a CROSS JOIN wards b) AS j"},
	{"SELECT j.%s FROM wards a JOIN wards b USING (ward) AS j", "SELECT %s(1)"},
	{"SELECT 1 FROM wards w ORDER BY w.%s", "SELECT %s(w) FROM wards w"},
	{"SELECT count(*) OVER (PARTITION BY w.%s) FROM wards w", "SELECT %s(w) FROM wards w"},
	{"SELECT 1 FROM wards w, LATERAL (SELECT w.%s) l", "SELECT %s(w) FROM wards w"},
	{"SELECT 1 FROM wards w JOIN wards v ON w.%s = v.ward", "SELECT %s(w) FROM wards w"},
	// The item inside has the column, and is not the one that is meant.
	{"SELECT (SELECT 1 FROM (SELECT 2 AS %[1]s) x, (SELECT x.%[1]s) y) FROM unnest(ARRAY[1]) x", "SELECT %s(1)"},
	{"SELECT (SELECT 1 FROM (SELECT 2 AS %[1]s) x, wards a JOIN wards b ON x.%[1]s = 1) FROM unnest(ARRAY[1]) x", "SELECT %s(1)"},
}

// TestAttributesAreCalls takes every name that the server may read behind a dot, as a
// function or as a type, in every form: what is refused as a call is refused so as well.
func TestAttributesAreCalls(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	list := func(sql string) (names []string) {
		result := conn.ExecParams(t.Context(), sql, nil, nil, nil, nil).Read()
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		for _, row := range result.Rows {
			names = append(names, string(row[0]))
		}
		return names
	}
	functions := list(`SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
		AND pronargs - pronargdefaults <= 1 AND (pronargs >= 1 OR provariadic <> 0)`)
	types := list("SELECT DISTINCT typname::text FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace")
	mayBeCall := make(map[string]bool)
	for _, name := range append(slices.Clone(functions), types...) {
		mayBeCall[name] = true
	}
	r := New(Options{CacheBytes: NoCache})
	names := clinicNames
	names.Callable = mayBeCall
	r.SetSnapshot(clinic().WithNames(names))
	tried, refused := 0, 0
	for name := range mayBeCall {
		quoted := catalog.QuoteIdentifier(name)
		for _, form := range attributeForms {
			if name == "beds" || name == "ward" {
				continue
			}
			attribute, call := fmt.Sprintf(form.attribute, quoted), fmt.Sprintf(form.call, quoted)
			tried++
			_, err := r.text(attribute)
			if err != nil {
				refused++
				continue
			}
			if _, refusal := r.text(call); refusal != nil && (slices.Contains(functions, name) || !allowedTypes[name]) {
				t.Errorf("%s passes, %s: %v", attribute, call, refusal)
			}
		}
	}
	t.Logf("%d functions and %d types, %d statements, %d refused", len(functions), len(types), tried, refused)
	if len(functions) < 1000 || refused*3 < tried {
		t.Errorf("too few functions, or refusals")
	}
}

// TestAttributesThatComeLater has a function come into pg_catalog. It is refused by name
// once it is known, and where the value's columns are known, before.
func TestAttributesThatComeLater(t *testing.T) {
	t.Parallel()
	before, after := clinicRewriter(), New(Options{})
	names := clinicNames
	names.Callable = map[string]bool{"run_it": true}
	after.SetSnapshot(clinic().WithNames(names))
	never := New(Options{})
	never.SetSnapshot(clinic().WithNames(catalog.ServerNames{}))
	for _, form := range attributeForms {
		if _, err := after.text(fmt.Sprintf(form.attribute, "run_it")); err == nil {
			t.Errorf("passes: "+form.attribute, "run_it")
		}
	}
	for _, form := range attributeForms {
		if _, err := never.text(fmt.Sprintf(form.attribute, "run_it")); err == nil {
			t.Errorf("passes where the server's names are not known: "+form.attribute, "run_it")
		}
	}
	for _, sql := range []string{
		"SELECT (1).run_it", "SELECT ('a'::text).run_it", "SELECT x.run_it FROM (SELECT 'a'::text) x", "SELECT (x.a).run_it FROM (SELECT 1) x(a)",
		"WITH x AS (SELECT 1 AS a) SELECT x.run_it FROM x", "SELECT x.run_it FROM (VALUES ('a')) x",
	} {
		if _, err := before.text(sql); err == nil {
			t.Errorf("passes: %s", sql)
		}
	}
}

// TestColumnsPass takes columns that have the names of functions.
func TestColumnsPass(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range []string{
		"SELECT p.currval, (p).currval, (p.*).currval, patients.currval FROM patients p, patients",
		"SELECT x.currval FROM (SELECT * FROM (SELECT p.currval FROM patients p) y) x",
		"SELECT x.nextval FROM (SELECT 1 AS nextval) x", "SELECT x.nextval FROM (SELECT 1) x(nextval)",
		"SELECT x.nextval FROM (SELECT 1 AS a, 2 AS b) x(nextval)", "SELECT x.b FROM (SELECT 1 AS a, 2 AS b) x(nextval)",
		"WITH x(nextval) AS (SELECT 1) SELECT x.nextval FROM x", "WITH x AS (SELECT 1 AS nextval) SELECT y.nextval FROM x y",
		"WITH RECURSIVE x AS (SELECT 1 AS nextval UNION ALL SELECT x.nextval + 1 FROM x WHERE x.nextval < 3) SELECT x.nextval FROM x",
		"SELECT x.nextval FROM (VALUES (1)) x(nextval)", "SELECT x.column1 FROM (VALUES (1)) x",
		"SELECT g.nextval FROM generate_series(1, 3) g(nextval)", "SELECT g.xid FROM json_to_record('{}') AS g(xid int)",
		"SELECT j.currval FROM (patients p CROSS JOIN wards w) AS j", "SELECT j.currval FROM patients a JOIN patients b USING (currval) AS j",
		"SELECT (x.p).currval FROM (SELECT p FROM patients p) x", "SELECT ((SELECT p FROM patients p LIMIT 1)).currval",
		"SELECT 1 FROM patients p ORDER BY p.currval", "SELECT sum(p.age) OVER (PARTITION BY p.currval) FROM patients p",
		"SELECT x.nextval FROM xmltable('/r' PASSING '<r/>' COLUMNS nextval int) x",
		"SELECT (i.keys).n, (i.keys).x FROM (SELECT information_schema._pg_expandarray(ARRAY[1]) AS keys) i",
		"SELECT (json_each('{}')).value, (each).key FROM json_each('{}') each",
		"SELECT (d.born).date, d.text FROM (SELECT now() AS born, 'a' AS text) d",
		"SELECT (r).lower, (r).upper FROM (SELECT int4range(1, 2) AS r) s", "SELECT w.beds, w.new_column FROM wards w",
		"SELECT (timestamp '2020-01-01').age",
	} {
		if _, err := r.text(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
