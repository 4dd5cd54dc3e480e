package provision_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// refused are the system relations that clients cannot name: secrets, values of other
// relations, the server's files and memory, and parts that information_schema is made
// of.
var refused = strings.Fields(`pg_authid pg_shadow pg_statistic pg_statistic_ext_data pg_largeobject pg_largeobject_metadata
	pg_user_mapping pg_config pg_hba_file_rules pg_ident_file_mappings pg_file_settings pg_shmem_allocations
	pg_shmem_allocations_numa pg_backend_memory_contexts pg_replication_origin pg_replication_origin_status pg_wait_events pg_aios
	_pg_foreign_data_wrappers _pg_foreign_servers _pg_foreign_table_columns _pg_foreign_tables _pg_user_mappings`)

func TestEverySystemRelationIsDecidedOn(t *testing.T) {
	t.Parallel()
	admin, _ := database(t)
	rows, err := admin.Query(t.Context(), `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowToStructByPos[catalog.Name])
	if err != nil {
		t.Fatal(err)
	}
	snapshot := catalog.NewSnapshot(catalog.Policy{}, nil, nil)
	for _, name := range names {
		open := snapshot.Resolve(name.Schema, name.Relation).Disposition == catalog.SystemCatalog
		if open == slices.Contains(refused, name.Relation) {
			t.Errorf("%s: open to clients is %v", name, open)
		}
	}
}

// TestStandInsShowNothingHidden reads every stand-in in full, every column of it.
func TestStandInsShowNothingHidden(t *testing.T) {
	t.Parallel()
	admin, reader := typed(t)
	execute(t, admin, `CREATE MATERIALIZED VIEW hidden_matview AS SELECT name FROM patients; CREATE SEQUENCE hidden_sequence;
		CREATE SCHEMA hidden_schema; CREATE FUNCTION hidden_function() RETURNS int LANGUAGE sql AS 'SELECT 1';
		CREATE STATISTICS hidden_statistics ON age, name FROM patients; CREATE POLICY hidden_policy ON patients USING (name <> 'hidden');
		CREATE COLLATION hidden_collation (locale = 'C'); ALTER TABLE patients ADD hidden_column text COLLATE hidden_collation;
		GRANT SELECT ON wards TO PUBLIC; ANALYZE`)
	// The name of the policy's publication is an operator's choice; store and catalog are not.
	hidden := regexp.MustCompile(`hidden|kproxy_(store|catalog|release)|(records|release)_1|` + admin.Config().Database + `_owner`)
	for _, s := range catalog.StandIns() {
		if text(t, admin, "SELECT to_regclass("+catalog.QuoteLiteral(s.Of.SQL())+")::text") == "NULL" {
			continue
		}
		rows, err := reader.Query(t.Context(), "SELECT s::text FROM "+s.Name().SQL()+" s")
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		for _, line := range lines {
			if found := hidden.FindString(line); found != "" {
				t.Errorf("%s shows %s: %s", s.Of, found, line)
			}
		}
	}
}

func TestOwnersAndRolesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	admin, reader := typed(t)
	stranger := catalog.QuoteIdentifier(admin.Config().Database + "_stranger")
	execute(t, admin, "CREATE ROLE "+stranger+"; ALTER TABLE wards OWNER TO "+stranger+"; GRANT SELECT ON wards TO "+stranger)
	for _, c := range []struct{ name, sql, want string }{
		{"owners", `SELECT string_agg(DISTINCT relowner::text, ' ') || ' ' || (SELECT nspowner FROM pg_namespace WHERE nspname = 'public')
			FROM kproxy_catalog.pg_class WHERE relname IN ('patients', 'wards') AND oid >= 16384`, ""},
		{"privileges", `SELECT string_agg(DISTINCT item.grantee::regrole::text || ' ' || item.privilege_type, ', ')
			FROM kproxy_catalog.pg_class c, aclexplode(c.relacl) item WHERE c.oid >= 16384`, admin.Config().Database + "_reader SELECT"},
		{"roles", "SELECT string_agg(rolname, ' ') FROM kproxy_catalog.pg_roles WHERE rolname ~ '_(stranger|owner)$' AND oid >= 16384", "NULL"},
		{"the session's own", "SELECT count(*)::text FROM kproxy_catalog.pg_roles WHERE rolname = current_user", "1"},
	} {
		got := text(t, reader, c.sql)
		if words := strings.Fields(got); c.want == "" && (len(words) != 2 || words[0] != words[1]) || c.want != "" && got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
