package rewrite

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestListedFunctions calls functions that the operator lists, by their full names and
// by the client's search path.
func TestListedFunctions(t *testing.T) {
	t.Parallel()
	name := func(schema, relation string) catalog.Name { return catalog.Name{Schema: schema, Relation: relation} }
	patients := catalog.Relation{Name: name("public", "patients"), Kind: catalog.KindTable, Columns: []catalog.Column{
		{Name: "mood", Type: "public.mood", BaseType: "public.mood", UserType: name("public", "mood")},
		{Name: "secret", Type: "public.secret", BaseType: "public.secret", UserType: name("public", "secret")},
	}}
	r := New(Options{})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{
		Tables:    []catalog.TablePolicy{{Table: patients.Name, Columns: []catalog.ColumnPolicy{{Name: "mood", Role: catalog.Sensitive}}}},
		Functions: []catalog.Name{name("public", "similarity"), name("gis", "st_area"), name("public", "lower")},
	}, []catalog.Relation{patients}, nil))
	for sql, want := range map[string]string{
		"SELECT similarity('a', 'b')":                 "--> SELECT public.similarity('a', 'b')",
		"SELECT public.Similarity('a', 'b')":          "--> SELECT public.similarity('a', 'b')",
		"SELECT gis.st_area('x')":                     "--> SELECT gis.st_area('x')",
		"SELECT lower('A'), public.lower('A')":        "--> SELECT pg_catalog.lower('A'), public.lower('A')",
		"SELECT 'low'::mood, '{}'::public.mood[]":     "--> SELECT 'low'::public.mood, '{}'::public.mood[]",
		"SELECT NULL::_mood, NULL::public.patients":   "--> SELECT NULL::public._mood, NULL::kproxy_release_public.patients",
		"SELECT count(*) FROM gis.st_area('x') AS a":  "--> SELECT pg_catalog.count(*) FROM gis.st_area('x') a",
		"SELECT st_area('x')":                         "--! 42883 function st_area does not exist\n--! position: 8\n--! hint: Write \"gis\".\"st_area\", with its schema.",
		"SELECT public.st_area('x')":                  "42883",
		"SELECT averge(age) FROM patients":            "42883",
		"SELECT pg_catalog.ifnull(1, 2)":              "42883",
		"SELECT pg_catalog.lo_export(1, 'x')":         "42501",
		"SELECT pg_of_a_later_version(1)":             "42501",
		"SELECT 'x'::secret":                          "42704",
		"SELECT ('a'::text).similarity FROM patients": "--> SELECT public.similarity('a'::pg_catalog.text) AS similarity FROM kproxy_release_public.patients patients",
		"SELECT 'x'::gis.mood":                        "42704",
	} {
		got := render(r.text(sql))
		if got != want && (len(want) != 5 || got[:len("--! ")+5] != "--! "+want) {
			t.Errorf("%s\ngot:  %s\nwant: %s", sql, got, want)
		}
	}
}

// TestBuiltinNames says which names may be those of PostgreSQL's own functions, for which
// nobody is told that there is none.
func TestBuiltinNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lower": true, "pg_catalog.lower": true, "nextval": true, "pg_catalog.nextval": true, "pg_anything_new": true, "pg_catalog.pg_new": true,
		"mine": false, "pg_catalog.mine": false, "public.lower": false, "public.pg_new": false, "information_schema._pg_new": true,
		"information_schema.lower": false, "information_schema.pg_new": false, "a.b.c": true, "a.pg_catalog.mine": true, "pg_catalog.information_schema": false,
	} {
		if got := isBuiltin(strings.Split(name, ".")); got != want {
			t.Errorf("%s may be PostgreSQL's own: %v, want %v", name, got, want)
		}
	}
}

// TestArgumentsAreComputedOnce: OFFSET keeps PostgreSQL from computing an argument for each row that it is
// compared with. A column, a parameter and a constant cost nothing, and have none.
func TestArgumentsAreComputedOnce(t *testing.T) {
	t.Parallel()
	for argument, once := range map[string]bool{
		"oid": false, "$1": false, "1259": false, "$1::oid": false, "oid::int::oid": false, "oid + 1": true, "(SELECT 1)": true, "abs(5)": true,
	} {
		statement, err := clinicRewriter().Rewrite("SELECT obj_description("+argument+", 'pg_class') FROM pg_class", nil)
		if err != nil {
			t.Fatalf("%s: %v", argument, err)
		}
		if strings.Contains(statement.SQL, " OFFSET 0") != once {
			t.Errorf("%s becomes %s", argument, statement.SQL)
		}
	}
}

// TestWhitespaceOfXML: PostgreSQL keeps the whitespace whether it is to or not.
func TestWhitespaceOfXML(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"", " PRESERVE WHITESPACE", " STRIP WHITESPACE"} {
		statement, err := clinicRewriter().Rewrite("SELECT xmlparse(DOCUMENT '<a> </a>'"+how+")", nil)
		if err != nil || statement.SQL != "SELECT xmlparse(document '<a> </a>')" {
			t.Errorf("with%s, it becomes %v: %v", how, statement, err)
		}
	}
}
