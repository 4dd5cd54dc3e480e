package inspect_test

import (
	"strings"
	"testing"
)

// TestNumbersOfAnotherDatabase has a stand-in bear the number of a protected table: it is that table under another name,
// unless the store follows tables of another database.
func TestNumbersOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	p := prepare(t)
	execute(t, p.owner, `INSERT INTO kproxy_store.accepted (kind, accepted_schema, accepted_name, identity)
		SELECT 'table', 'public', 'patients', jsonb_build_object('oid', 'kproxy_catalog.pg_class'::regclass::oid::text)
		ON CONFLICT (kind, accepted_schema, accepted_name) DO UPDATE SET identity = excluded.identity`)
	alarmed := func() bool {
		t.Helper()
		for _, f := range p.audit() {
			if strings.Contains(f.What, "kproxy_catalog.pg_class") {
				return true
			}
		}
		return false
	}
	execute(t, p.owner, "DELETE FROM kproxy_store.position")
	if !alarmed() {
		t.Error("a protected table under another name is not found")
	}
	execute(t, p.owner, "INSERT INTO kproxy_store.position (slot, epoch, lsn, system_identifier, store_system) VALUES ('a', 1, '0/1', '1', '2')")
	if alarmed() {
		t.Error("a number of another database is taken for one of this")
	}
	execute(t, p.owner, "INSERT INTO kproxy_store.position (slot, epoch, lsn, system_identifier) VALUES ('b', 1, '0/1', '1')")
	if !alarmed() {
		t.Error("a protected table is not found where another slot has followed another database")
	}
}
