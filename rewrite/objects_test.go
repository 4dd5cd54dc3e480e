package rewrite

import (
	"strings"
	"testing"
)

// objectCalls are PostgreSQL's functions about objects; o is the object's number.
var objectCalls = strings.Split(strings.TrimSpace(`
has_table_privilege(o, 'SELECT')
has_table_privilege('u', o, 'SELECT')
has_any_column_privilege(o, 'SELECT')
has_any_column_privilege('u', o, 'SELECT')
has_column_privilege(o, 'a', 'SELECT')
has_column_privilege('u', o, 'a', 'SELECT')
has_sequence_privilege(o, 'USAGE')
has_sequence_privilege('u', o, 'USAGE')
has_function_privilege(o, 'EXECUTE')
has_function_privilege('u', o, 'EXECUTE')
has_type_privilege(o, 'USAGE')
has_type_privilege('u', o, 'USAGE')
has_schema_privilege(o, 'USAGE')
has_schema_privilege('u', o, 'USAGE')
has_database_privilege(o, 'CONNECT')
has_database_privilege('u', o, 'CONNECT')
row_security_active(o)
pg_relation_is_publishable(o)
pg_relation_is_updatable(o, true)
pg_column_is_updatable(o, 1::int2, true)
pg_index_has_property(o, 'clusterable')
pg_index_column_has_property(o, 1, 'asc')
pg_relation_size(o)
pg_relation_size(o, 'main')
pg_table_size(o)
pg_indexes_size(o)
pg_total_relation_size(o)
pg_database_size(o)
pg_tablespace_size(o)
pg_get_expr(x, o)
pg_get_expr(x, o, true)
pg_get_constraintdef(o)
pg_get_constraintdef(o, true)
pg_get_indexdef(o)
pg_get_indexdef(o, 1, true)
pg_get_triggerdef(o)
pg_get_triggerdef(o, true)
pg_get_partkeydef(o)
pg_get_partition_constraintdef(o)
pg_get_statisticsobjdef(o)
pg_get_statisticsobjdef_columns(o)
pg_get_function_arg_default(o, 1)
pg_get_function_arguments(o)
pg_get_function_identity_arguments(o)
pg_get_function_result(o)
pg_get_functiondef(o)
pg_get_function_sqlbody(o)
pg_get_ruledef(o)
pg_get_ruledef(o, true)
pg_get_viewdef(o)
pg_get_viewdef(o, true)
pg_get_viewdef(o, 80)
pg_get_userbyid(o)
pg_partition_ancestors(o)
pg_relation_filenode(o)
pg_relation_filepath(o)
pg_tablespace_location(o)
pg_stat_get_live_tuples(o)
pg_stat_get_dead_tuples(o)
pg_stat_get_numscans(o)
pg_table_is_visible(o)
pg_type_is_visible(o)
format_type(o, NULL)
obj_description(o, 'pg_class')
obj_description(o)
col_description(o, 1)
shobj_description(o, 'pg_database')
acldefault('r', o)
to_regclass(o::text)
to_regtype(o::text)
to_regproc(o::text)
to_regprocedure(o::text)
to_regnamespace(o::text)
to_regrole(o::text)
to_regoper(o::text)
to_regoperator(o::text)
to_regcollation(o::text)
pg_get_serial_sequence(o::text, 'a')
o::regclass
o::regtype
o::regproc
o::regprocedure
o::regnamespace
o::regrole
o::regoper
o::regoperator
o::regcollation
o::regconfig
o::regdictionary
ts_lexize(o, 'indices')
`), "\n")

// TestNumbersLeadToNoHiddenObject: numbers of objects can be guessed. A function about one
// is told the number only after a stand-in for its catalog was asked whether the session
// may see it, if it is called at all.
func TestNumbersLeadToNoHiddenObject(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, call := range objectCalls {
		for _, object := range []string{"16500", "'16500'", "($1)", "c.oid", "(c.oid + 1)"} {
			written := strings.NewReplacer("(o", "("+object, " o", " "+object).Replace(" " + call)
			for _, sql := range []string{"SELECT" + written + " FROM pg_class c", "SELECT 1 FROM pg_class c WHERE" + written + " IS NULL"} {
				out, err := r.text(sql)
				if err != nil {
					continue
				}
				out = strings.ReplaceAll(out, "FROM kproxy_catalog.pg_class c", "")
				function, _, _ := strings.Cut(call, "(")
				called := strings.Contains(out, "pg_catalog."+function+"(") || strings.Contains(out, "pg_catalog.reg")
				if called && !strings.Contains(out, "kproxy_") {
					t.Errorf("%s\nbecomes %s", sql, out)
				}
			}
		}
	}
}

// TestDictionariesOfUsers: ts_lexize tells what a dictionary holds, of PostgreSQL's own alone.
func TestDictionariesOfUsers(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, call := range []string{"ts_lexize('%s', 'indices')", "ts_lexize('%s'::text, 'indices')", "pg_catalog.ts_lexize('%s', 'indices')", "ts_lexize('%s'::regdictionary, 'indices')"} {
		for name, passes := range map[string]bool{"simple": true, "pg_catalog.simple": true, "school.syn": false, `"school".syn`: false, "public.simple": false, "clinic.syn": false} {
			sql := "SELECT " + strings.Replace(call, "%s", name, 1)
			if out, err := r.text(sql); (err == nil) != passes {
				t.Errorf("%s: %v, becomes %s", sql, err, out)
			}
		}
	}
}
