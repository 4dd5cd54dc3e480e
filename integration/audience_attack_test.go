package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What the attackers look for: columns that are hidden from their audience, and names that nothing has. Each pair is alike, so
// that what the server guesses of names, if it knew the first, would tell the second.
const (
	hiddenVisit, absentVisit = "qvzcolward", "qvzcolwarx"
	hiddenRoot, absentRoot   = "qvzcolbirth", "qvzcolbirtx"
)

// searchedAudiences hides a sensitive column of visits from both audiences, and a quasi-identifying one of persons from the coarser one.
const searchedAudiences = `audiences:
  partners:
    readers: [partner]
    people:
      patient: {constraints: [{k: 15}], hide: [public.visits.` + hiddenVisit + `]}
  press:
    readers: [press]
    people:
      patient: {constraints: [{k: 30}], hide: [public.visits.` + hiddenVisit + `, public.patients.` + hiddenRoot + `]}
`

// searches are statements that look for a column, $1, of a table, $2, in every way that names one.
var searches = []string{
	"SELECT $1 FROM $2", "SELECT v.$1 FROM $2 v", "SELECT $2.$1 FROM $2", "SELECT public.$2.$1 FROM public.$2", "SELECT (v).$1 FROM $2 v", "SELECT $1(v) FROM $2 v", "SELECT (v.*).$1 FROM $2 v",
	"SELECT count($1) FROM $2", "SELECT count(*) FROM $2 WHERE $1 IS NULL", "SELECT count(*) FROM $2 GROUP BY $1", "SELECT 1 FROM $2 ORDER BY $1", "SELECT DISTINCT ON ($1) 1 FROM $2",
	"SELECT count(*) FROM $2 a JOIN $2 b USING ($1)", "SELECT count(*) FROM $2 a NATURAL JOIN (SELECT 1 AS $1) b", "SELECT count(*) FROM $2 a LEFT JOIN (SELECT NULL::text AS $1) b USING ($1)",
	"SELECT count(*) FROM $2 a NATURAL FULL JOIN (SELECT 'x' AS $1) b", "SELECT count(*) FROM (SELECT 'x' AS $1) b JOIN $2 a USING ($1) AS j",
	"SELECT (x).$1 FROM (SELECT v AS x FROM $2 v) w", "SELECT (r).$1 FROM (SELECT NULL::$2 AS r) w", "SELECT (NULL::$2).$1", "SELECT (jsonb_populate_record(NULL::$2, '{\"$1\": \"x\"}')).$1",
	"SELECT jsonb_populate_record(NULL::$2, '{\"$1\": \"1990-01-01\"}')", "SELECT to_jsonb(jsonb_populate_record(NULL::$2, '{}')) ? '$1'", "SELECT count(*) FROM jsonb_populate_recordset(NULL::$2, '[{\"$1\": \"1\"}]') r WHERE r::text LIKE '%1%'",
	"SELECT count(*) FROM $2 v WHERE to_jsonb(v) ? '$1'", "SELECT count(*) FROM $2 v WHERE to_jsonb(v)->>'$1' IS NOT NULL", "SELECT count(*) FROM $2 v WHERE row_to_json(v)::text LIKE '%$1%'",
	"SELECT count(*) FROM $2 v WHERE xmlforest(v.$1) IS NULL", "SELECT string_agg(DISTINCT $1::text, ',') FROM $2", "WITH w AS (SELECT * FROM $2) SELECT count($1) FROM w", "SELECT count(*) FROM $2 v, LATERAL (SELECT v.$1) l",
	"SELECT (SELECT $1) FROM $2 LIMIT 1", "SELECT count(*) FROM $2 WHERE EXISTS (SELECT $1)", "SELECT count(*) FROM $2 v WHERE (v.$1, 1) = ('x', 1)", "SELECT rank() OVER (ORDER BY $1) FROM $2", "SELECT CASE WHEN true THEN 1 ELSE length($1) END FROM $2",
	"SELECT 'x' = $1 FROM (VALUES ('x')) s(y), $2", "SELECT count(*) FROM $2 TABLESAMPLE SYSTEM (100) WHERE $1 = 'x'", "SELECT count(*) FROM ONLY $2 WHERE $1 = 'x'",
	"COPY $2 ($1) TO STDOUT", "COPY (SELECT $1 FROM $2) TO STDOUT", "PREPARE q AS SELECT $1 FROM $2", "DECLARE q CURSOR WITH HOLD FOR SELECT $1 FROM $2", "EXPLAIN SELECT $1 FROM $2", "EXPLAIN (VERBOSE, COSTS off) SELECT count(*) FROM $2 WHERE $1 = 'x'",
	"CREATE TEMP TABLE q AS SELECT $1 FROM $2", "CREATE TEMP TABLE q (LIKE $2); SELECT $1 FROM q", "CREATE TEMP VIEW q AS SELECT $1 FROM $2", "INSERT INTO $2 ($1) VALUES ('x')", "UPDATE $2 SET $1 = 'x'", "DELETE FROM $2 WHERE $1 = 'x' RETURNING $1",
	"SELECT $1 FROM $2 FOR UPDATE", "COMMENT ON COLUMN $2.$1 IS 'x'", "ANALYZE $2 ($1)", "ALTER TABLE $2 DROP COLUMN $1", "CREATE INDEX ON $2 ($1)", "GRANT SELECT ($1) ON $2 TO PUBLIC",
	"SELECT has_column_privilege('$2', '$1', 'SELECT')", "SELECT pg_get_serial_sequence('$2', '$1')", "SELECT count(*) FROM pg_attribute WHERE attname = '$1'", "SELECT count(*) FROM information_schema.columns WHERE column_name = '$1'",
	"SELECT count(*) FROM pg_stats WHERE attname = '$1'", "SELECT count(*) FROM pg_stats_ext WHERE attnames::text LIKE '%$1%'", "SELECT count(*) FROM information_schema.column_privileges WHERE column_name = '$1'", "SELECT count(*) FROM information_schema.element_types e WHERE e::text LIKE '%$1%'",
	"SELECT count(*) FROM pg_class c WHERE c::text LIKE '%$1%'", "SELECT count(*) FROM pg_index i WHERE pg_get_indexdef(indexrelid) LIKE '%$1%'", "SELECT count(*) FROM pg_constraint c WHERE pg_get_constraintdef(c.oid) LIKE '%$1%'", "SELECT count(*) FROM pg_description WHERE description LIKE '%$1%'",
	"SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%' || reverse(reverse('$1')) || ' %'", "SELECT count(*) FROM pg_views WHERE definition LIKE '%$1%'", "SELECT count(*) FROM pg_rewrite r WHERE r::text LIKE '%$1%'", "SELECT count(*) FROM pg_depend d WHERE d::text LIKE '%$1%'",
	"SELECT count(*) FROM kproxy.describe('$2') WHERE \"column\" = '$1'", "SELECT count(*) FROM kproxy.labels('$2', '$1')", "SELECT kproxy.possible('x', 'y', '$2', '$1')", "SELECT kproxy.certain('x', 'y', '$2', '$1')", "SELECT kproxy.overlap('x', 'y', '$2', '$1')",
	"SELECT count(*) FROM kproxy.counts('$2') c WHERE c::text LIKE '%$1%'", "SELECT format('%I', '$1'::text), '$2.$1'::regclass", "SELECT $1::int FROM $2", "SELECT NULLIF($1, 'x'), $1 COLLATE \"C\" FROM $2", "SELECT min($1), pg_typeof(max($1)) FROM $2",
	"DO $$ BEGIN PERFORM $1 FROM $2; END $$", "SELECT query_to_xml('SELECT $1 FROM $2', true, false, '')", "SELECT table_to_xml('$2', true, false, '')::text LIKE '%$1%'", "SELECT 1 FROM $2 GROUP BY GROUPING SETS (($1), ())", "SELECT unnest(ARRAY[$1]) FROM $2", "SELECT JSON_OBJECT('a': $1) FROM $2",
}

// otherPlaces are statements that look for what is released for others, $1, and name places that are there; behind these stand names
// of places that are not.
var otherPlaces = map[string][]string{
	"kproxy_audience_partners_public|kproxy_audience_partnerx_public": {
		"TABLE $1.visits", "SELECT '$1.visits'::regclass", "SELECT NULL::$1.visits", "SET search_path = $1; SHOW search_path; SELECT count(*) > 0 FROM visits", "SELECT to_regclass('$1.visits')", "SELECT to_regnamespace('$1')",
		"SELECT count(*) FROM pg_namespace WHERE nspname = '$1'", "SELECT has_schema_privilege('$1', 'USAGE')", "SELECT set_config('search_path', '$1', false); SELECT count(*) > 0 FROM visits", "SELECT kproxy.describe('$1.visits')",
	},
	"kproxy_release_public|kproxy_release_publix": {"TABLE $1.visits", "SELECT '$1.visits'::regclass", "SET search_path = $1, public; SELECT count(*) > 0 FROM visits", "SELECT to_regclass('$1.visits')", "SELECT count(*) FROM pg_namespace WHERE nspname = '$1'", "SELECT count(*) FROM kproxy.describe('$1.visits')"},
	"kproxy_store|kproxy_storx":                   {"TABLE $1.generation", "SELECT to_regclass('$1.generation')", "SET search_path = $1; SELECT count(*) FROM generation", "SELECT has_schema_privilege('$1', 'USAGE')"},
}

// said is all that came for a statement on a connection of its own, without the name that it asked for.
func said(t *testing.T, url, sql, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var all []string
	note := func(kind string, what any) {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kind+" "+string(text))
	}
	results := conn.PgConn().Exec(t.Context(), sql)
	for results.NextResult() {
		r := results.ResultReader()
		for _, f := range r.FieldDescriptions() {
			note("column", []any{f.Name, f.DataTypeOID, f.TableOID, f.TableAttributeNumber})
		}
		for r.NextRow() {
			for _, value := range r.Values() {
				note("value", string(value))
			}
		}
		if tag, err := r.Close(); err == nil {
			note("tag", tag.String())
		}
	}
	if err := results.Close(); err != nil {
		refused, is := err.(*pgconn.PgError) //nolint:errorlint // of the driver itself
		if !is {
			t.Fatalf("%s: %v", sql, err)
		}
		told := *refused
		told.Line, told.File, told.Routine = 0, "", ""
		note("error", told)
	}
	return strings.ReplaceAll(strings.Join(all, "\n"), name, "$1")
}

func (s *site) search(t *testing.T, user, search, table, column string) string {
	t.Helper()
	return said(t, s.of(user), strings.NewReplacer("$1", column, "$2", table).Replace(search), column)
}

// searchesFind: half of the searches, and more, tell a column that is there from one that is not.
func (s *site) searchesFind(t *testing.T, user, table, there, absent string) {
	t.Helper()
	found := 0
	for _, search := range searches {
		if s.search(t, user, search, table, there) != s.search(t, user, search, table, absent) {
			found++
		}
	}
	if found < len(searches)/2 {
		t.Errorf("%d of %d searches find a column that is there", found, len(searches))
	}
}

// TestAudiencesDoNotFindWhatIsHidden has users of two audiences of guarded people look for columns and places that are hidden from
// them. Whatever they ask, they are told the same, to the byte, as of what does not exist.
func TestAudiencesDoNotFindWhatIsHidden(t *testing.T) {
	t.Parallel()
	rename := strings.NewReplacer("ward", hiddenVisit, "born", hiddenRoot)
	tables := strings.NewReplacer("updates: immediate", "updates: guarded", "knows: {rows: 1, per: 1y}", "knows: {rows: 1, per: 1y, crowd: 4}").Replace(hospitalTables)
	o := sqlSite(rename.Replace(hospitalSQL), rename.Replace(tables)+searchedAudiences)
	o.settings = "answers: {size: 64MB}\n"
	s := siteWithReaders(t, o, "partner", "press")
	s.serve(t)
	admin := connect(t, s.admin)
	seen := func(schema, sql string) int {
		return scalar[int](t, admin, strings.ReplaceAll(sql, "$", schema+"."))
	}
	schemas := map[string]string{clientUser: "kproxy_release_public", "partner": "kproxy_audience_partners_public", "press": "kproxy_audience_press_public"}
	for user, schema := range schemas {
		eventually(t, user+" sees visits", func() bool {
			return scalar[bool](t, admin, "SELECT to_regclass($1) IS NOT NULL", schema+".visits") && seen(schema, "SELECT count(*) FROM $visits") > 0
		})
	}
	s.searchesFind(t, "partner", "visits", "admitted_range", "admitted_rangx")
	for _, user := range []string{"partner", "press"} {
		hidden := [][3]string{{"visits", hiddenVisit, absentVisit}}
		if user == "press" {
			hidden = append(hidden, [3]string{"patients", hiddenRoot, absentRoot}, [3]string{"patients", hiddenRoot + "_range", absentRoot + "_range"})
		}
		for _, of := range hidden {
			for _, search := range searches {
				if found, absent := s.search(t, user, search, of[0], of[1]), s.search(t, user, search, of[0], of[2]); found != absent || found == "" {
					t.Errorf("%s is told of %s by %s:\n%s\nand of what does not exist:\n%s", user, of[1], search, found, absent)
				}
			}
		}
		for places, statements := range otherPlaces {
			there, absent, _ := strings.Cut(places, "|")
			if schemas[user] == there {
				continue
			}
			for _, statement := range statements {
				ask := func(name string) string { return said(t, s.of(user), strings.ReplaceAll(statement, "$1", name), name) }
				if got, want := ask(there), ask(absent); got != want {
					t.Errorf("%s is told by %s of %s:\n%s\nand of what does not exist:\n%s", user, statement, there, got, want)
				}
			}
		}
		for _, role := range []string{"SET ROLE '$'", "SET SESSION AUTHORIZATION '$'", "SELECT set_config('role', '$', false)", "SELECT pg_has_role('$', 'USAGE')", "SELECT count(*) FROM pg_roles WHERE rolname = '$'"} {
			ask := func(name string) string { return said(t, s.of(user), strings.ReplaceAll(role, "$", name), name) }
			other := s.database + map[string]string{"partner": "_press", "press": "_partner"}[user]
			if got, want := ask(other), ask(other[:len(other)-1]+"x"); got != want {
				t.Errorf("%s is told by %s of another role:\n%s\nand of what does not exist:\n%s", user, role, got, want)
			}
		}
	}
	s.nothingHiddenIsShown(t)
	// Answers that are kept are those of one's own release.
	const dear = "SELECT count(*) FROM $patients a JOIN $patients b ON a.postcode <= b.postcode JOIN $visits v ON v.patient_id = a.patient_id"
	answers := map[int]bool{}
	for range 4 {
		for user, schema := range schemas {
			got, want := scalar[int](t, connect(t, s.of(user)), strings.ReplaceAll(dear, "$", "")), seen(schema, dear)
			if answers[want] = true; got != want {
				t.Errorf("%s gets %d for a statement whose answer is kept, not %d", user, got, want)
			}
		}
	}
	if len(answers) < 3 {
		t.Errorf("releases answer alike: %v", answers)
	}
}

// nothingHiddenIsShown asks for all that there is, and looks for what is hidden in it.
func (s *site) nothingHiddenIsShown(t *testing.T) {
	t.Helper()
	for _, user := range []string{"partner", "press"} {
		for _, statement := range []string{
			"SELECT * FROM visits LIMIT 1", "SELECT to_jsonb(v) FROM visits v LIMIT 1", "SELECT v FROM visits v LIMIT 1", "TABLE patients LIMIT 1", "SELECT row_to_json(p) FROM patients p LIMIT 1", "EXPLAIN (VERBOSE) SELECT * FROM visits JOIN patients USING (patient_id)",
			"EXPLAIN (VERBOSE, FORMAT JSON) SELECT v FROM visits v", "SELECT a.*::text FROM pg_attribute a", "SELECT c.*::text FROM information_schema.columns c", "SELECT s.*::text FROM pg_stats s", "SELECT c.*::text FROM pg_class c", "SELECT t.*::text FROM pg_type t",
			"SELECT r.*::text FROM pg_roles r", "SELECT n.*::text FROM pg_namespace n", "SELECT d.*::text FROM pg_description d", "SELECT v.*::text FROM pg_views v", "SELECT d.* FROM kproxy.describe('visits') d", "SELECT d.* FROM kproxy.describe('patients') d", "SELECT t.* FROM kproxy.tables() t",
			"SELECT s.*::text FROM pg_stat_user_tables s", "SELECT s.*::text FROM pg_stat_activity s", "SELECT i.*::text FROM pg_indexes i", "SELECT c.*, pg_get_constraintdef(c.oid) FROM pg_constraint c", "SELECT s.*::text FROM pg_settings s WHERE name LIKE '%path%' OR name LIKE '%role%'",
			"SELECT pg_get_viewdef('visits'::regclass)", "SELECT pg_describe_object('pg_class'::regclass, 'visits'::regclass, 1)", "SELECT col_description('visits'::regclass, n) FROM generate_series(1, 20) n", "SELECT obj_description('visits'::regclass, 'pg_class')",
			"SELECT 1 / (count(*) - count(*)) FROM visits", "SELECT admitted_range::text::int FROM visits", "SELECT nothing FROM visits", "COPY visits TO STDOUT", "SELECT (v).nothing FROM visits v", "SELECT visits.* FROM visits v",
			"CREATE TEMP TABLE q AS TABLE visits; SELECT a.*::text FROM pg_attribute a WHERE attrelid = 'q'::regclass", "SELECT session_user, current_user, current_schemas(true), current_setting('role', true)",
		} {
			for _, told := range strings.Split(said(t, s.of(user), statement, "$"), "\n") {
				hidden := []string{hiddenVisit, "kproxy_audience", "kproxy_release", "kproxy_store", "release_press", "release_partners", "eye", "skin"}
				if user == "press" {
					hidden = append(hidden, hiddenRoot, "partner")
				}
				for _, word := range hidden {
					if strings.Contains(told, word) && !strings.Contains(s.database, word) {
						t.Errorf("%s is told of %s by %s: %s", user, word, statement, fmt.Sprintf("%.300s", told))
					}
				}
			}
		}
	}
}
