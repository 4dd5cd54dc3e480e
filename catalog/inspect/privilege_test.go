package inspect_test

import (
	"strings"
	"testing"
)

// What the owner role may do is what kproxy's documentation says it needs.
func TestOwnerHasNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	slot := p.fill("{database}_slot")
	execute(t, p.admin, p.fill(`REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {owner}, {reader};
		DROP PUBLICATION kproxy; CREATE PUBLICATION kproxy FOR TABLE patients, visits, journeys`))
	execute(t, p.admin, "SELECT pg_create_logical_replication_slot('"+slot+"', 'pgoutput')")
	execute(t, p.admin, "INSERT INTO visits VALUES (1, '2020-01-01')")
	defer func() {
		if err := p.drop(slot); err != nil {
			t.Error(err)
		}
	}()
	if report := p.check().Errors(); len(report) > 0 {
		t.Errorf("findings:\n%s", report)
	}
	const rights = `SELECT concat_ws(' ', rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolcanlogin, rolreplication,
		(SELECT count(*) FROM pg_auth_members WHERE member = r.oid), has_database_privilege(r.oid, current_database(), 'CREATE'),
		has_schema_privilege(r.oid, 'public', 'CREATE'),
		(SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v') AND c.relnamespace = 'public'::regnamespace
		 AND has_any_column_privilege(r.oid, c.oid, 'SELECT')),
		(SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
		 AND has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE, REFERENCES')))
		FROM pg_roles r WHERE rolname = $1`
	var got string
	if err := p.admin.QueryRow(t.Context(), rights, p.in.Owner).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if got != "f f f f t t 0 f f journeys patients visits wards 0" {
		t.Errorf("the owner's rights are %s", got)
	}
	// It reads partitions through their table alone, and a slot that another role made.
	for _, sql := range []string{
		"SELECT tableoid, * FROM journeys",
		"SELECT count(*) FROM pg_logical_slot_peek_binary_changes('" + slot + "', NULL, NULL, 'proto_version', '1', 'publication_names', 'kproxy') HAVING count(*) > 3",
	} {
		tag, err := p.owner.Exec(t.Context(), sql)
		if err != nil || strings.HasPrefix(sql, "SELECT count") && tag.RowsAffected() != 1 {
			t.Errorf("%s: %v, %v", sql, tag, err)
		}
	}
}
