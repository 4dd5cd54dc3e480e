package rewrite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// keepSnapshot has tables of which marks tell, moods of which none does, and wards that are not
// protected.
func keepSnapshot() *catalog.Snapshot {
	column := func(name, base string) catalog.Column { return catalog.Column{Name: name, Type: base, BaseType: base} }
	var policy catalog.Policy
	var relations []catalog.Relation
	table := func(name string, columns ...catalog.Column) {
		of := catalog.Name{Schema: "public", Relation: name}
		p := catalog.TablePolicy{Table: of}
		for _, c := range columns {
			p.Columns = append(p.Columns, catalog.ColumnPolicy{Name: c.Name, Role: catalog.Insensitive})
		}
		policy.Tables = append(policy.Tables, p)
		relations = append(relations, catalog.Relation{Name: of, Columns: columns})
	}
	table("patients", column("years", "int4"), column("seen", "timestamptz"), column("note", "text"), column("tags", "_text"))
	table("visits", column("years", "int4"), column("ward", "text"))
	mood := column("mood", "public.mood")
	mood.UserType = catalog.Name{Schema: "public", Relation: "mood"}
	table("moods", mood)
	table("shifts", column("begins", "time"))
	wards := catalog.Name{Schema: "public", Relation: "wards"}
	policy.Readable = []catalog.Name{wards}
	policy.Functions = []catalog.Name{{Schema: "public", Relation: "similarity"}}
	return catalog.NewSnapshot(policy, append(relations, catalog.Relation{Name: wards, Columns: []catalog.Column{column("name", "text")}}), nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}})
}

func keepRewriter() *Rewriter {
	r := New(Options{TemporaryTables: true})
	r.SetSnapshot(keepSnapshot())
	return r
}

// keptTexts are texts whose answers are kept.
var keptTexts = []string{
	"SELECT count(*) FROM patients",
	"SELECT years, count(*) FILTER (WHERE note LIKE 'a%'), avg(years) FROM patients WHERE seen >= '2024-01-01' GROUP BY years HAVING count(*) > 5 ORDER BY 2 DESC LIMIT 10",
	"SELECT date_trunc('month', p.seen) AS month, sum(v.years) FROM patients p LEFT JOIN visits v USING (years) GROUP BY ROLLUP (1)",
	"WITH a AS (SELECT years FROM patients) SELECT a.years, rank() OVER (PARTITION BY a.years ORDER BY a.years) FROM a WHERE EXISTS (SELECT FROM visits v WHERE v.years = a.years)",
	"SELECT CASE WHEN years BETWEEN 1 AND 5 THEN 'low' ELSE coalesce(note, 'high') END, tags[1], p.* FROM patients p WHERE ward IN ('a', 'b') AND years::text = $1 OR $2::date < seen",
	"SELECT p.years FROM patients p UNION ALL SELECT max(v.years) FROM visits v",
	"SELECT to_char(seen AT TIME ZONE 'Europe/Berlin', 'YYYY'), extract(year FROM seen), row_to_json(p) FROM patients p",
	"TABLE patients",
}

// unkeptTexts are texts whose answers are not kept.
var unkeptTexts = []string{
	"SELECT 1", "VALUES (1)", "SELECT count(*) FROM wards", "SELECT count(*) FROM patients, wards", "SELECT mood FROM moods", "SELECT begins FROM shifts",
	"SELECT count(*) FROM patients, pg_class", "SELECT count(*) FROM patients; SELECT count(*) FROM visits", "EXPLAIN SELECT count(*) FROM patients",
	"COPY (SELECT count(*) FROM patients) TO STDOUT", "DECLARE c CURSOR FOR SELECT years FROM patients", "PREPARE s AS SELECT years FROM patients", "EXECUTE s",
	"SELECT years FROM patients TABLESAMPLE BERNOULLI (10)", "SELECT * FROM patients WHERE seen > now()", "SELECT years, current_date FROM patients",
	"SELECT note::date FROM patients", "SELECT cast(lower(note) AS timestamptz) FROM patients", "SELECT (note || 'x')::daterange FROM patients", "SELECT date(note) FROM patients",
	"SELECT to_timestamp(note, 'YYYY') FROM patients", "SELECT '10:00'::time FROM patients", "SELECT $1 AT TIME ZONE 'UTC' FROM patients",
	"SELECT similarity(note, 'a') FROM patients", "SELECT public.similarity(note, 'a') FROM patients", "SELECT 'patients'::regclass FROM patients", "SELECT pg_typeof(years) FROM patients",
	"SELECT years FROM patients, generate_series(1, 2)", "SELECT current_setting('timezone') FROM patients", "CREATE TEMP TABLE t AS SELECT years FROM patients",
	"SELECT has_table_privilege('patients', 'SELECT') FROM patients", "SELECT note @@ 'a' FROM patients",
}

func lookOf(t *testing.T, r *Rewriter, sql string) (look string, passes bool) {
	t.Helper()
	s, err := r.Rewrite(sql, nil)
	if err != nil {
		return "", false
	}
	return s.Look, true
}

func TestWhichAnswersAreKept(t *testing.T) {
	t.Parallel()
	r := keepRewriter()
	for range 3 { // then from the cache, and from templates
		for _, sql := range keptTexts {
			if look, passes := lookOf(t, r, sql); !passes || look == "" {
				t.Errorf("not kept: %s (passes: %v)", sql, passes)
			}
		}
		for _, sql := range unkeptTexts {
			if look, passes := lookOf(t, r, sql); !passes || look != "" {
				t.Errorf("kept: %s (passes: %v)", sql, passes)
			}
		}
	}
	look, _ := lookOf(t, r, "SELECT count(*) FROM visits v, patients p, visits w")
	for _, part := range []string{"'patients'", "'visits'", `'"kproxy_release_public"."visits"'`, "current_user", "timezone", "datestyle", "kproxy.cache"} {
		if strings.Count(look, part) != 1 {
			t.Errorf("%s is not once in the look: %s", part, look)
		}
	}
}

// TestNothingElseIsKept puts each function that clients may call and that is not listed, and whatever
// tells the time, into statements that are kept, wherever an expression may stand.
func TestNothingElseIsKept(t *testing.T) {
	t.Parallel()
	r, rng := keepRewriter(), rand.New(rand.NewPCG(3, 3))
	places := []string{
		"SELECT %s FROM patients", "SELECT years FROM patients WHERE %s IS NULL", "SELECT years FROM patients GROUP BY years, %s", "SELECT years FROM patients ORDER BY %s",
		"SELECT max(years) FILTER (WHERE %s IS NULL) FROM patients", "SELECT CASE WHEN years = 1 THEN %s END FROM patients", "SELECT coalesce(NULL, %s) FROM patients",
		"SELECT years FROM patients WHERE EXISTS (SELECT FROM visits WHERE %s IS NULL)", "WITH a AS (SELECT %s AS x FROM visits) SELECT a.x FROM a, patients",
		"SELECT years FROM patients p JOIN visits v ON %s IS NULL", "SELECT count(*) OVER (ORDER BY %s) FROM patients", "SELECT ARRAY[%s] FROM patients", "SELECT (ROW(%s)) FROM patients",
		"SELECT years FROM patients LIMIT (SELECT count(%s) FROM visits)", "SELECT sum(years ORDER BY %s) FROM patients", "SELECT DISTINCT ON (%s) years FROM patients", "SELECT years FROM patients HAVING %s IS NULL",
		"SELECT years FROM patients UNION ALL SELECT 1 FROM visits WHERE %s IS NULL", "SELECT lower(%s::text) FROM patients", "SELECT years FROM (VALUES (%s)) v(x), patients",
	}
	var others []string
	for name := range allowedFunctions {
		if !keptFunctions[name] {
			others = append(others, name+"()", name+"(years)", name+"(note, note)", name+"(note, years, years)")
		}
	}
	others = append(others, "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "current_user", "session_user", "current_catalog", "current_schema")
	tried, passed := 0, 0
	for _, other := range others {
		for range 3 {
			sql := fmt.Sprintf(places[rng.IntN(len(places))], other)
			tried++
			s, err := r.Rewrite(sql, nil)
			if err != nil {
				continue
			}
			passed++
			called := other
			if name, _, is := strings.Cut(other, "("); is {
				called = name + "("
			}
			// What becomes a constant, as the schema that comes first, is part of the text.
			if s.Look != "" && strings.Contains(strings.ToLower(s.SQL), called) && called != "current_schema" {
				t.Errorf("kept: %s as %s", sql, s.SQL)
			}
		}
	}
	t.Logf("%d of %d statements pass", passed, tried)
	if passed < tried/2 {
		t.Error("too few pass to say anything")
	}
	// The same places with what is listed are kept.
	for _, place := range places {
		if look, passes := lookOf(t, r, fmt.Sprintf(place, "abs(years)")); passes && look == "" {
			t.Errorf("not kept: %s", place)
		}
	}
}

// TestEverySettingIsReviewed: what a session may set is a part of what an answer is of, or cannot
// change whether an answer is right.
func TestEverySettingIsReviewed(t *testing.T) {
	t.Parallel()
	harmless := words(`application_name check_function_bodies default_transaction_deferrable default_transaction_isolation
		idle_in_transaction_session_timeout idle_session_timeout lock_timeout statement_timeout synchronous_commit tcp_keepalives_count
		tcp_keepalives_idle tcp_keepalives_interval transaction_deferrable transaction_isolation transaction_timeout
		default_text_search_config standard_conforming_strings default_transaction_read_only transaction_read_only row_security ssl_renegotiation_limit
		constraint_exclusion cursor_tuple_fraction cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost debug_parallel_query
		effective_cache_size force_parallel_mode from_collapse_limit geqo geqo_effort geqo_generations geqo_pool_size geqo_seed geqo_selection_bias
		geqo_threshold jit jit_above_cost jit_inline_above_cost jit_optimize_above_cost join_collapse_limit
		min_parallel_index_scan_size min_parallel_table_scan_size parallel_leader_participation
		parallel_setup_cost parallel_tuple_cost plan_cache_mode random_page_cost recursive_worktable_factor seq_page_cost kproxy.cache`)
	settable := maps.Clone(allowedSettings)
	for name := range fixedSettings {
		settable[name] = true
	}
	for name := range settable {
		keyed, planner := slices.Contains(keyedSettings, name), strings.HasPrefix(name, "enable_")
		if keyed == (harmless[name] || planner) {
			t.Errorf("%s is keyed: %v, reviewed as harmless: %v", name, keyed, harmless[name] || planner)
		}
	}
	for _, name := range keyedSettings {
		if !settable[name] {
			t.Errorf("no session can set %s", name)
		}
	}
}

// stableFunctions are those of the list that are not immutable, in one of their overloads: they depend
// on the settings of the session, and on nothing that passes.
var stableFunctions = words(`array_to_json array_to_string concat concat_ws date_part date_trunc extract isfinite json_agg
	json_build_array json_build_object json_object_agg jsonb_agg jsonb_build_array jsonb_build_object jsonb_object_agg length
	make_timestamptz overlaps row_to_json string_agg substring timezone to_char to_json to_jsonb to_number num_nulls num_nonnulls format`)

// TestKeptFunctionsDependOnNothingElse asks the server how volatile what is listed is.
func TestKeptFunctionsDependOnNothingElse(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	for _, row := range rowsOf(t, conn, `SELECT p.proname, bool_or(p.provolatile = 'v'), bool_or(p.provolatile = 's') FROM pg_proc p
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w') AND NOT p.prorettype = 'trigger'::regtype GROUP BY 1`) {
		name, isVolatile, isStable := row[0], row[1] == "t", row[2] == "t"
		if keptFunctions[name] && isVolatile {
			t.Errorf("%s is volatile", name)
		}
		if keptFunctions[name] && isStable && !stableFunctions[name] {
			t.Errorf("%s is stable: on what does it depend?", name)
		}
	}
	for _, row := range rowsOf(t, conn, `SELECT o.oprname FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
		WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND p.provolatile = 'v'`) {
		if keptOperators[row[0]] {
			t.Errorf("operator %s is volatile", row[0])
		}
	}
	for name := range keptFunctions {
		if !allowedFunctions[name] {
			t.Errorf("clients may not call %s", name)
		}
	}
}

// rowsOf runs a query and returns its rows as texts; NULL is "".
func rowsOf(t *testing.T, conn *pgconn.PgConn, sql string) (all [][]string) {
	t.Helper()
	r := conn.ExecParams(t.Context(), sql, nil, nil, nil, nil).Read()
	if r.Err != nil {
		t.Fatalf("%s: %v", sql, r.Err)
	}
	for _, row := range r.Rows {
		var values []string
		for _, value := range row {
			values = append(values, string(value))
		}
		all = append(all, values)
	}
	return all
}

// TestLookRuns on a server, as it is written.
func TestLookRuns(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	for _, sql := range []string{
		"CREATE SCHEMA kproxy_catalog", "CREATE SCHEMA kproxy_release_a", "CREATE TABLE kproxy_catalog.mark (table_schema text, table_name text, mark uuid)",
		`CREATE VIEW kproxy_release_a."t's" AS SELECT 1`, `INSERT INTO kproxy_catalog.mark VALUES ('a', 't''s', gen_random_uuid())`,
	} {
		rowsOf(t, conn, sql)
	}
	sql := look([]catalog.Name{{Schema: "a", Relation: "t's"}}, catalog.Published)
	before := rowsOf(t, conn, sql)[0]
	if len(before[0]) != 36 || before[2] != "" || before[3] != "0" {
		t.Errorf("%q", before)
	}
	for _, set := range []string{"timezone = 'Asia/Tokyo'", "datestyle = 'German'", "extra_float_digits = 0", "kproxy.cache = 'OFF'"} {
		rowsOf(t, conn, "SET "+set)
		now := rowsOf(t, conn, sql)[0]
		if (now[1] == before[1]) != strings.HasPrefix(set, "kproxy") {
			t.Errorf("after SET %s the settings are %q", set, now[1])
		}
		before = now
	}
	if before[2] != "off" {
		t.Error("kept answers are not turned off")
	}
}
