package rewrite

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// outcomeOf is the SQLSTATE of a refusal; empty where a text passes.
func outcomeOf(t *testing.T, r *Rewriter, sql string) string {
	t.Helper()
	_, err := r.Rewrite(sql, nil)
	var refusal *Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("%s: %v", sql, err)
	}
	if err == nil {
		return ""
	}
	return refusal.SQLState()
}

// TestEveryWayToSetIsOne has all ways to set, to reset and to show a setting agree on
// whether that is allowed.
func TestEveryWayToSetIsOne(t *testing.T) {
	t.Parallel()
	r := New(Options{Pinned: []string{"Statement_Timeout"}})
	names := words("work_mem log_statement backslash_quote transform_null_equals session_replication_role app.tenant data_directory")
	maps.Copy(names, allowedSettings)
	maps.Copy(names, readableSettings)
	maps.Copy(names, transactionSettings)
	for name := range fixedSettings {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		settable := allowedSettings[name] || isFixed(name)
		same := func(want string, texts ...string) {
			t.Helper()
			for _, sql := range texts {
				if got := outcomeOf(t, r, sql); got != want {
					t.Errorf("%s: %q, want %q", sql, got, want)
				}
			}
		}
		reset := statePrivilege
		if (settable || name == "search_path") && !transactionSettings[name] {
			reset = ""
		}
		same(reset, "RESET "+name, "SET "+name+" TO DEFAULT", "SET LOCAL "+name+" = DEFAULT", "RESET "+strings.ToUpper(name),
			"SELECT set_config('"+name+"', NULL, false)", "SELECT set_config('"+name+"', NULL, true)")
		shown := statePrivilege
		if settable || readableSettings[name] {
			shown = ""
		}
		same(shown, "SHOW "+name, "SHOW "+strings.ToUpper(name), "SELECT current_setting('"+name+"')",
			"SELECT current_setting('"+strings.ToUpper(name)+"', false)")
		same("", "SELECT current_setting('"+name+"', true)") // of any other the value in pg_settings, or NULL
		if name == "search_path" {
			continue
		}
		for _, value := range []string{"on", "ON", "1", "0", "utf8", "UTF-8", "error", "debug1", "off", "x y", ""} {
			set := outcomeOf(t, r, "SET "+name+" = '"+value+"'")
			same(set, "SET "+strings.ToUpper(name)+" TO '"+value+"'", "SET LOCAL "+name+" = '"+value+"'", "SET SESSION "+name+" = '"+value+"'",
				"SELECT set_config('"+name+"', '"+value+"', false)", "SELECT pg_catalog.set_config('"+strings.ToUpper(name)+"', '"+value+"', true)",
				"SELECT set_config('"+name+"', '"+value+"', false) FROM pg_settings WHERE name = '"+name+"'")
			switch passes := set == ""; {
			case name == "statement_timeout" && passes:
				t.Errorf("%s can be set, but it is the operator's", name)
			case name == EncodingParameter && passes == strings.HasPrefix(strings.ToLower(value), "utf"):
			case passes && !settable, !passes && allowedSettings[name] && name != "statement_timeout":
				t.Errorf("SET %s = '%s': %q", name, value, set)
			}
		}
		if isFixed(name) {
			same(stateInvalidValue, "SET "+name+" = 'on', 'on'", "SET "+name+" = 'off', 'on'", "SET "+name+" = 1.5", "SET "+name+" = -1")
		}
	}
}

// TestSetConfigIsTheWholeStatement refuses set_config wherever it might run often, or never,
// so that nobody would know what is set.
func TestSetConfigIsTheWholeStatement(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, call := range []string{"set_config('bytea_output', 'hex', false)", "set_config('search_path', 'hospital', false)"} {
		for _, sql := range []string{"SELECT %", "SELECT % AS a", "SELECT % UNION ALL SELECT %", "VALUES (%)"} {
			want := ""
			if strings.Contains(sql, "UNION") || strings.Contains(sql, "VALUES") {
				want = statePrivilege
			}
			if got := outcomeOf(t, r, strings.ReplaceAll(sql, "%", call)); got != want {
				t.Errorf("%s of %s: %q, want %q", sql, call, got, want)
			}
		}
		for _, sql := range []string{
			"SELECT %, 1", "SELECT 1, %", "SELECT DISTINCT %", "SELECT DISTINCT ON (1) %", "SELECT % GROUP BY 1", "SELECT % HAVING true", "SELECT % ORDER BY 1", "SELECT % LIMIT 1",
			"SELECT % OFFSET 1", "SELECT % WINDOW w AS ()", "WITH a AS (SELECT 1) SELECT %", "SELECT % WHERE false", "SELECT % OVER ()",
			"SELECT % FILTER (WHERE true)", "SELECT %::text", "SELECT (SELECT %)", "SELECT 1 WHERE % = 'a'", "SELECT % FROM wards",
			"SELECT % FROM pg_settings", "SELECT % FROM pg_settings, wards WHERE name = 'bytea_output'", "SELECT % FROM pg_settings s WHERE name = 'bytea_output'",
			"SELECT % FROM pg_settings WHERE name <> 'bytea_output'", "SELECT % FROM pg_settings WHERE name LIKE 'bytea_output'",
			"SELECT % FROM pg_settings WHERE name IN ('bytea_output')", "SELECT % FROM pg_settings WHERE setting = 'bytea_output'",
			"SELECT % FROM pg_settings WHERE 'bytea_output' = name", "SELECT % FROM pg_settings WHERE name = name",
			"SELECT % FROM pg_settings WHERE name = 'bytea_output' AND true", "SELECT % FROM pg_settings WHERE name = 'Bytea_output'",
			"SELECT % FROM pg_settings WHERE name = 'work_mem'", "SELECT % FROM pg_settings WHERE pg_settings.name = 'bytea_output'",
			"SELECT % FROM public.pg_settings WHERE name = 'bytea_output'", "SELECT % FROM other.pg_catalog.pg_settings WHERE name = 'bytea_output'",
			"SELECT % FROM pg_class WHERE name = 'bytea_output'", "SELECT % FROM generate_series(1, 9) name WHERE name = 'bytea_output'",
			"SELECT % FROM generate_series(1, 9) WHERE name = 'bytea_output'", "SELECT % FROM pg_show_all_settings() s WHERE name = 'bytea_output'",
			"SELECT % FROM pg_show_all_settings(1) WHERE name = 'bytea_output'", "SELECT % FROM pg_show_all_settings(), wards WHERE name = 'bytea_output'",
			"SELECT % FROM ROWS FROM (pg_show_all_settings(), pg_show_all_settings()) WHERE name = 'bytea_output'",
		} {
			sql := strings.ReplaceAll(sql, "%", call)
			if statement, err := r.Rewrite(sql, nil); err == nil {
				t.Errorf("%s passes: %s", sql, statement.SQL)
			}
		}
	}
	for _, sql := range []string{
		"SELECT set_config('bytea_output', 'hex')", "SELECT set_config('bytea_output', 'hex', 'false')", "SELECT set_config('bytea_output', 'hex', NULL)",
		"SELECT set_config('bytea_output', 1, false)", "SELECT set_config(NULL, 'hex', false)", "SELECT set_config('bytea_output', $1, false)",
		"SELECT set_config('search_path', $2, false)", "SELECT set_config('search_path', $1, $2)", "SELECT set_config('search_path', $1)",
		"SELECT set_config('search_path', $1 || 'a', false)", "SELECT set_config('search_path', $1, false) FROM pg_settings WHERE name = 'search_path'",
		"SELECT set_config('search_path', $1, false), 1", "SELECT current_setting('search_path'), set_config('search_path', $1, false)",
		"SELECT current_setting('timezone'), set_config('search_path', 'a', false)", "SELECT set_config('search_path', 'a', false), current_setting('search_path')",
		"SELECT current_setting('search_path'), set_config('bytea_output', 'hex', false)", "SELECT current_setting('search_path', true), set_config('search_path', 'a', false)",
		"SELECT current_setting('search_path') || 'a', set_config('search_path', 'a', false)", "SELECT current_setting($1), set_config('search_path', 'a', false)",
		"SELECT current_setting('search_path'), set_config('search_path', 'a', false) FROM wards", "SELECT public.current_setting('search_path'), set_config('search_path', 'a', false)",
		"SELECT current_setting('search_path'), set_config('search_path', 'a', false) FROM pg_settings WHERE name = 'search_path'",
		"SELECT set_config('search_path', 'a', false), set_config('search_path', 'b', false)", "PREPARE p AS SELECT set_config('search_path', $1, false)",
		"SELECT set_config($1, 'hex', false)", "SELECT set_config(*)", "SELECT set_config('bytea_output', 'hex', false, false)",
		"SELECT public.set_config('bytea_output', 'hex', false)", "SELECT x.pg_catalog.set_config('bytea_output', 'hex', false)",
		"SELECT set_config('search_path', 'hospital', false) FROM pg_settings WHERE name = 'search_path'",
		"SELECT set_config('search_path', 'hospital', false) INTO TEMP a", "EXPLAIN SELECT set_config('bytea_output', 'hex', false)",
		"PREPARE p AS SELECT set_config('bytea_output', 'hex', false)", "COPY (SELECT set_config('bytea_output', 'hex', false)) TO STDOUT",
		"DECLARE c CURSOR FOR SELECT set_config('bytea_output', 'hex', false)",
	} {
		if statement, err := r.Rewrite(sql, nil); err == nil {
			t.Errorf("%s passes: %s", sql, statement.SQL)
		}
	}
}

// TestPlainValues asks of each kind of value, and of none.
func TestPlainValues(t *testing.T) {
	t.Parallel()
	text, number := pg.MakeAConstStrNode("a", 0), pg.MakeAConstIntNode(1, 0)
	decimal := &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Fval{Fval: &pg.Float{Fval: "1.5"}}}}}
	truth := &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Boolval{}}}}
	if !plainValues([]*pg.Node{text, number, decimal}) {
		t.Error("texts and numbers are not plain")
	}
	for _, args := range [][]*pg.Node{nil, {truth}, {text, truth}, {{}}, {pg.MakeStrNode("a")}} {
		if plainValues(args) {
			t.Errorf("%v are plain", args)
		}
	}
}

func isFixed(name string) bool { _, fixed := fixedSettings[name]; return fixed }
