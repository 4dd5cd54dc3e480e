package rewrite

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// everyFunction says of each name in pg_catalog what its functions are, all overloads
// together: whether any is volatile, runs with its owner's rights, or takes or gives a
// type that no client has or that names objects or transactions; whether some stands
// behind an operator, and whether all serve types, indexes, aggregates and the like.
const everyFunction = `
WITH odd AS (
  SELECT oid FROM pg_type WHERE typname IN ('internal', 'cstring', 'trigger', 'event_trigger') OR typname LIKE '%\_handler'
     OR typname ~ '^_?reg' OR typname ~ 'xid' OR typname IN ('tid', 'cid', 'pg_snapshot', 'txid_snapshot')
), serving(oid) AS (
  SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze]::oid[]) FROM pg_type
  UNION SELECT amproc::oid FROM pg_amproc
  UNION SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[])
        FROM pg_aggregate
)
SELECT p.proname::text,
       bool_or(p.provolatile = 'v'), bool_or(p.prosecdef),
       bool_or(EXISTS (SELECT FROM odd WHERE odd.oid = ANY (p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')))),
       bool_or(EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)),
       bool_and(p.oid IN (SELECT oid FROM serving))
FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
GROUP BY p.proname ORDER BY p.proname`

// reviewedFunctions are the names that are refused for a reason.
func reviewedFunctions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/refused_functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for line := range strings.Lines(string(text)) {
		if reason, names, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(reason, "#") {
			patterns = append(patterns, strings.Fields(names)...)
		}
	}
	return patterns
}

// allowedThough are functions that are allowed although they are volatile or have
// arguments of types that name objects: random numbers and the clock, and what
// function.go, object.go, neutral.go and principal.go guard. Reviewed one by one.
var allowedThough = words(`
	random random_normal setseed pg_advisory_unlock_all gen_random_uuid uuidv4 uuidv7 clock_timestamp timeofday
	array_sample array_shuffle pg_is_in_recovery pg_jit_available max min
	col_description format_type obj_description age timezone set_config
	regclass text name oid int8 varchar bpchar bytea char bit int2 int4 numeric float4 float8
	to_regclass to_regcollation to_regnamespace to_regoper to_regoperator to_regproc to_regprocedure to_regrole to_regtype
	pg_typeof row_security_active has_any_column_privilege has_column_privilege has_database_privilege
	has_function_privilege has_schema_privilege has_sequence_privilege has_table_privilege has_type_privilege
	pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size pg_database_size pg_tablespace_size
	inet_client_addr inet_client_port inet_server_addr inet_server_port pg_relation_filenode pg_relation_filepath pg_relation_is_publishable pg_relation_is_updatable
	pg_column_is_updatable pg_index_has_property pg_index_column_has_property pg_partition_ancestors
	pg_get_viewdef pg_get_serial_sequence pg_partition_tree pg_partition_root get_current_ts_config
	to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery ts_headline json_to_tsvector
	jsonb_to_tsvector ts_lexize pg_size_pretty pg_encoding_to_char`)

// TestEveryFunctionIsReviewed holds the list of allowed functions to the catalog of the
// server: a function that is new in it, or changed, is found by nobody else.
func TestEveryFunctionIsReviewed(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	reviewed := reviewedFunctions(t)
	used := make(map[string]bool)
	result := conn.ExecParams(t.Context(), everyFunction, nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	for _, row := range result.Rows {
		name := string(row[0])
		is := func(i int) bool { return string(row[i]) == "t" }
		volatile, definer, odd, operator, serving := is(1), is(2), is(3), is(4), is(5)
		if allowedFunctions[name] {
			if (volatile || definer || odd) && !allowedThough[name] {
				t.Errorf("%s is allowed: volatile %t, security definer %t, unusual types %t", name, volatile, definer, odd)
			}
			continue
		}
		i := slices.IndexFunc(reviewed, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
		if i >= 0 {
			used[reviewed[i]] = true
		}
		if i < 0 && !volatile && !definer && !odd && !operator && !serving {
			t.Errorf("%s is neither allowed nor refused for a reason", name)
		}
	}
	for _, pattern := range reviewed {
		if !used[pattern] {
			t.Logf("nothing is called %s in this version", pattern)
		}
	}
}
