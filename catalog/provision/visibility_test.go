package provision_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// typed prepares a database whose readable and protected tables have columns of
// types, keys and remarks of users, and connects as the reader.
func typed(t *testing.T) (admin, reader *pgx.Conn) {
	t.Helper()
	admin, in := database(t)
	execute(t, admin, `
		CREATE COLLATION shown_collation FROM "C";
		CREATE TYPE shown_enum AS ENUM ('day', 'night'); CREATE TYPE hidden_enum AS ENUM ('hiv', 'none');
		CREATE TYPE copied_enum AS ENUM ('x'); CREATE TYPE base_enum AS ENUM ('b'); CREATE TYPE part_enum AS ENUM ('p');
		CREATE DOMAIN shown_domain AS base_enum CONSTRAINT shown_check CHECK (VALUE IS NOT NULL);
		CREATE DOMAIN hidden_domain AS text CONSTRAINT hidden_check CHECK (VALUE <> 'secret');
		CREATE TYPE inner_pair AS (deep text COLLATE shown_collation); CREATE DOMAIN pairs AS inner_pair[];
		CREATE TYPE shown_pair AS (one part_enum, two int, gone int, three pairs); ALTER TYPE shown_pair DROP ATTRIBUTE gone;
		CREATE TYPE hidden_pair AS (one int); CREATE TYPE unused_pair AS (one shown_pair);
		CREATE TYPE shown_range AS RANGE (subtype = numeric); CREATE TYPE hidden_range AS RANGE (subtype = numeric);
		CREATE TYPE unused_enum AS ENUM ('u');
		ALTER TABLE patients ADD status hidden_enum, ADD note hidden_domain, ADD pair hidden_pair, ADD span hidden_range, ADD state copied_enum;
		ALTER TABLE wards ADD shift shown_enum[], ADD word shown_domain, ADD pair shown_pair, ADD span shown_range,
			ADD head bigint CONSTRAINT to_hidden REFERENCES patients, ADD twin text CONSTRAINT to_shown REFERENCES wards;
		CREATE TABLE hidden_parent (floor int); ALTER TABLE wards ADD floor int; ALTER TABLE wards INHERIT hidden_parent;
		CREATE RULE audit AS ON INSERT TO wards WHERE NEW.beds > 4711 DO ALSO INSERT INTO hidden_parent VALUES (4712);
		COMMENT ON TABLE patients IS 'hidden remark 1'; COMMENT ON COLUMN patients.age IS 'hidden remark 2';
		COMMENT ON TYPE hidden_enum IS 'hidden remark 3'; COMMENT ON CONSTRAINT patients_pkey ON patients IS 'hidden remark 4';
		COMMENT ON CONSTRAINT hidden_check ON DOMAIN hidden_domain IS 'hidden remark 5';
		COMMENT ON TYPE shown_pair IS 'hidden remark 6'; COMMENT ON COLUMN shown_pair.one IS 'hidden remark 7';
		COMMENT ON TABLE wards IS 'shown remark 1'; COMMENT ON COLUMN wards.beds IS 'shown remark 2'`)
	apply(t, admin, in)
	execute(t, admin, "SET ROLE "+catalog.QuoteIdentifier(in.Owner.Name)+`;
		CREATE TABLE kproxy_store.release_1 (age int, state copied_enum);
		CREATE VIEW kproxy_release_public.patients AS TABLE kproxy_store.release_1;
		CREATE VIEW kproxy_release_public.pg_class AS TABLE kproxy_store.release_1;
		GRANT SELECT ON ALL TABLES IN SCHEMA kproxy_release_public TO `+catalog.QuoteIdentifier(in.Reader.Name)+"; RESET ROLE")
	serve(t, admin, in, "wards")
	return admin, login(t, admin, in.Reader)
}

func TestStandInsTellOfTypesKeysAndRemarksInUse(t *testing.T) {
	t.Parallel()
	_, reader := typed(t)
	for _, c := range []struct{ name, sql, want string }{
		{
			"types",
			`SELECT string_agg(typname, ' ' ORDER BY typname COLLATE "C") FROM kproxy_catalog.pg_type WHERE oid >= 16384`,
			"_base_enum _copied_enum _inner_pair _pairs _part_enum _shown_domain _shown_enum _shown_pair _shown_range " +
				"base_enum copied_enum inner_pair pairs part_enum patients pg_class shown_domain shown_enum shown_pair shown_range wards",
		},
		{"built-in types", "SELECT (count(*) = (SELECT count(*) FROM pg_type WHERE oid < 16384))::text FROM kproxy_catalog.pg_type WHERE oid < 16384", "true"},
		{"labels", "SELECT string_agg(enumlabel, ' ' ORDER BY enumlabel) FROM kproxy_catalog.pg_enum", "b day night p x"},
		{
			"constraints",
			// PostgreSQL 18 has NOT NULL among them.
			`SELECT string_agg(conname, ' ' ORDER BY conname) FROM kproxy_catalog.pg_constraint WHERE oid >= 16384 AND contype <> 'n'`,
			"shown_check to_shown wards_pkey",
		},
		{
			"triggers of keys",
			"SELECT string_agg(DISTINCT tgconstrrelid::regclass::text, ' ') FROM kproxy_catalog.pg_trigger", "wards",
		},
		{
			"dependencies", `SELECT string_agg(DISTINCT classid::regclass::text || ' on ' || refobjid::regclass::text, ', ')
			 FROM kproxy_catalog.pg_depend WHERE refclassid = 'pg_class'::regclass AND objid >= 16384`, "pg_constraint on wards, pg_constraint on wards_pkey",
		},
		{
			"composite types",
			`SELECT string_agg(c.relname || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY c.relname, a.attnum)
			 FROM kproxy_catalog.pg_attribute a JOIN kproxy_catalog.pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'c' AND NOT a.attisdropped`,
			"inner_pair deep text, shown_pair one part_enum, shown_pair two integer, shown_pair three pairs",
		},
		{
			"columns of no other relations", `SELECT count(*)::text FROM kproxy_catalog.pg_attribute a
			 WHERE NOT EXISTS (SELECT FROM kproxy_catalog.pg_class c WHERE c.oid = a.attrelid)`, "0",
		},
		{"collations", "SELECT string_agg(collname, ' ') FROM kproxy_catalog.pg_collation WHERE oid >= 16384", "shown_collation"},
		{"parents", "SELECT count(*)::text FROM kproxy_catalog.pg_inherits", "0"},
		{
			"rules", `SELECT count(*) FILTER (WHERE rulename = 'audit') || ' ' || count(ev_qual) || ' ' || count(ev_action)
			 FROM kproxy_catalog.pg_rewrite`, "1 0 0",
		},
		{
			"remarks", `SELECT string_agg(description, ', ' ORDER BY description) FROM kproxy_catalog.pg_description
			 WHERE classoid <> 'pg_proc'::regclass AND objoid >= 16384 OR description LIKE '%remark%'`, "shown remark 1, shown remark 2",
		},
		{"built-in remarks", "SELECT (count(*) > 1000)::text FROM kproxy_catalog.pg_description", "true"},
	} {
		if got := text(t, reader, c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestTableIsVisibleAsInTheSourceSchema(t *testing.T) {
	t.Parallel()
	admin, reader := typed(t)
	for relation, want := range map[string]string{
		"kproxy_release_public.patients": "true",
		"kproxy_release_public.pg_class": "false", // pg_catalog's hides it
		"public.wards":                   "true",
		"public.wards_pkey":              "true",
		"pg_catalog.pg_class":            "true",
		"information_schema.tables":      "false",
		"public.patients":                "NULL", // hidden
		"kproxy_store.release_1":         "NULL",
		"kproxy_catalog.pg_class":        "NULL",
		"public.shown_pair":              "true",
		"public.hidden_pair":             "NULL",
		"public.unused_pair":             "NULL",
	} {
		oid := text(t, admin, fmt.Sprintf("SELECT '%s'::regclass::oid::text", relation))
		if got := text(t, reader, "SELECT kproxy_catalog.table_is_visible("+oid+", '{pg_catalog,public}')::text"); got != want {
			t.Errorf("%s: got %s, want %s", relation, got, want)
		}
	}
	if got := text(t, reader, "SELECT kproxy_catalog.table_is_visible(0, '{pg_catalog,public}')::text"); got != "NULL" {
		t.Errorf("no relation: got %s", got)
	}
}

// TestTypesAreLookedUpOnce wants the set of visible columns' types to be asked
// for once a query, not once for each of the many types a database may have.
func TestTypesAreLookedUpOnce(t *testing.T) {
	t.Parallel()
	_, reader := typed(t)
	rows, err := reader.Query(t.Context(), "EXPLAIN (ANALYZE, TIMING off, COSTS off) SELECT * FROM kproxy_catalog.pg_type")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	// The function's rows come out of a ProjectSet: for the rows, and for the types of arrays.
	looked := regexp.MustCompile(`ProjectSet .*loops=(\d+)`).FindAllStringSubmatch(plan, -1)
	if !strings.Contains(plan, "hashed SubPlan") || len(looked) != 2 || looked[0][1] != "1" || looked[1][1] != "1" {
		t.Errorf("the plan is\n%s", plan)
	}
}

// TestRowTypesOfHiddenTablesStayHidden has a readable table with columns of the row
// types of a protected table and of one that clients may not read. What these hold is in
// the values; the tables behind the types are hidden as ever.
func TestRowTypesOfHiddenTablesStayHidden(t *testing.T) {
	t.Parallel()
	admin, in := database(t)
	execute(t, admin, `CREATE TABLE hidden (secret text); CREATE TYPE around AS (inside hidden);
		ALTER TABLE wards ADD one hidden, ADD several hidden[], ADD wrapped around, ADD patient patients`)
	apply(t, admin, in)
	serve(t, admin, in, "wards")
	reader := login(t, admin, in.Reader)
	const hidden = "(SELECT oid FROM pg_class WHERE oid IN ('public.hidden'::regclass, 'public.patients'::regclass))"
	for _, c := range []struct{ name, sql, want string }{
		{"relations", "SELECT count(*)::text FROM kproxy_catalog.pg_class WHERE oid IN " + hidden, "0"},
		{"columns", "SELECT count(*)::text FROM kproxy_catalog.pg_attribute WHERE attrelid IN " + hidden, "0"},
		{"names", "SELECT string_agg(kproxy_catalog.class_name(oid, '{pg_catalog,public}'), ' ') FROM " + hidden + " AS h", "NULL"},
		{"the type around one", `SELECT string_agg(a.attname, ' ') FROM kproxy_catalog.pg_attribute a
			JOIN kproxy_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind = 'c'`, "inside"},
	} {
		if got := text(t, reader, c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTypeNamesKeepBoundsAndHideTypes(t *testing.T) {
	t.Parallel()
	admin, reader := typed(t)
	shown, hidden := text(t, admin, "SELECT 'shown_pair[]'::regtype::oid::text"), text(t, admin, "SELECT 'hidden_pair'::regtype::oid::text")
	for types, want := range map[string]string{
		"'{}'::oid[]":             "{}",
		"''::oidvector":           "{}",
		"NULL::oid[]":             "NULL",
		"'{0,1}'::oid[]":          "{-,1}",
		"'[0:1]={23,16}'::oid[]":  "[0:1]={integer,boolean}",
		"'23 1009'::oidvector":    "[0:1]={integer,text[]}",
		"'{1042,1043,18}'::oid[]": `{character,"character varying","\"char\""}`,
		"ARRAY[" + shown + "," + hidden + ",0,NULL]::oid[]": "{shown_pair[],NULL,-,NULL}",
	} {
		if got := text(t, reader, "SELECT kproxy_catalog.type_names("+types+", '{pg_catalog,public}')::text"); got != want {
			t.Errorf("%s: got %s, want %s", types, got, want)
		}
		if strings.Contains(types, shown) {
			continue // the session's own search path has not the type's schema
		}
		if got := text(t, admin, "SELECT ("+types+"::oid[]::regtype[])::text[]::text"); got != want {
			t.Errorf("%s: PostgreSQL has %s, wanted was %s", types, got, want)
		}
	}
}
