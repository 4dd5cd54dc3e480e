package integration

import (
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// attackByParameters sends names of hidden things as parameters, where no gate can
// see them in the text, each declared as unknown and as text.
func (s *site) attackByParameters(t *testing.T, secret canaries) {
	names := []string{
		"qvzrel_vault", "public.people_view", "kproxy_store.records_1", "kproxy_release_public.people", "kproxy_catalog.pg_class",
		"other.people", "16400", "-", "people; SELECT 1", `"people`, "role", "search_path", "data_directory", "as_owner(text)", "probe", "kproxy_store",
	}
	w := dialed(t, s.url())
	for _, sql := range []string{
		"SELECT $1::regclass", "SELECT $1::text::regclass::oid", "SELECT to_regclass($1), to_regtype($1), to_regnamespace($1)",
		"SELECT to_regproc($1), to_regprocedure($1)", "SELECT $1::regtype, $1::regproc", "SELECT $1::regnamespace",
		"SELECT has_table_privilege($1, 'SELECT')", "SELECT has_table_privilege($1::regclass, 'SELECT')", "SELECT has_schema_privilege($1, 'USAGE')",
		"SELECT pg_table_size($1)", "SELECT pg_get_serial_sequence($1, 'id')", "SELECT current_setting($1)", "SELECT current_setting($1, true)",
		"SELECT set_config($1, 'other', false)", "SELECT pg_get_viewdef($1)", "SELECT obj_description($1::regclass, 'pg_class')",
		"SELECT relname, reltuples FROM pg_class WHERE oid = $1::regclass", "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass",
		"SELECT * FROM pg_class WHERE relname = $1", "SELECT column_name FROM information_schema.columns WHERE table_name = $1",
		"SELECT format('%I', $1::text)::regclass", "SELECT to_tsvector($1::regconfig, 'x')", "SELECT * FROM pg_partition_ancestors($1)",
		"SELECT query_to_xml($1, true, false, '')", "SELECT format_type($1::text::oid, NULL)", "SELECT json_populate_record(NULL::people, $1::text::json)",
	} {
		for _, value := range names {
			for _, declared := range []uint32{0, 25} {
				err := w.send(&oldproto.Parse{Query: sql, ParameterOIDs: []uint32{declared}}, &oldproto.Describe{ObjectType: 'S'},
					&oldproto.Bind{Parameters: [][]byte{[]byte(value)}}, &oldproto.Execute{}, &oldproto.Sync{})
				if err == nil {
					_, err = w.receive(true)
				}
				if err == nil {
					err = w.settle()
				}
				if kinds := secret.kinds(w.drain(), sql+value); len(kinds) > 0 {
					t.Errorf("%s with %q shows %q", sql, value, kinds)
				}
				if err != nil {
					t.Errorf("after %s with %q the session is lost: %v", sql, value, err)
					w = dialed(t, s.url())
				}
			}
		}
	}
}
