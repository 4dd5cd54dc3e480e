package sync

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestContinues asks, as 'kproxy check' does, whether kproxy could go on from a store that
// meets one thing after the other. To ask changes nothing.
func TestContinues(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	owner, err := pgx.ConnectConfig(t.Context(), b.config.Owner)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	system := scanned[string](b, "SELECT system_identifier::text FROM pg_control_system()")
	slot := b.config.Slot
	store := func() string {
		return scanned[string](b, "SELECT coalesce((SELECT string_agg(p::text, ',') FROM kproxy_store.position p), '') || coalesce((SELECT string_agg(g::text, ',') FROM kproxy_store.generation g), '')")
	}
	check := func(when, slot, system string, recovery Recovery, want string) {
		t.Helper()
		before := store()
		err := Continues(t.Context(), owner, owner, slot, system, recovery)
		if stop := (*StopError)(nil); want == "" && err != nil || want != "" && (!errors.As(err, &stop) || !strings.Contains(stop.What, want)) {
			t.Errorf("%s: %v, not %q", when, err, want)
		}
		if store() != before {
			t.Errorf("%s: to ask has changed the store", when)
		}
	}
	check("nothing is published", slot, system, StopOnLoss, "")
	b.fill(60)
	_, stop := b.run()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	check("published", slot, system, StopOnLoss, "")
	check("another slot", slot+"_b", system, StopOnLoss, slot)
	check("another server", slot, "1", StopOnLoss, "another server")
	check("another server, and recovery", slot, "1", ResynchronizeOnLoss, "")
	b.exec("UPDATE kproxy_store.position SET timeline = timeline + 1")
	check("a promotion", slot, system, StopOnLoss, "")
	b.exec("UPDATE kproxy_store.position SET timeline = timeline - 1")
	b.exec("SELECT pg_drop_replication_slot($1)", slot)
	check("the slot is gone", slot, system, StopOnLoss, "is gone")
	check("the slot is gone, and recovery", slot, system, ResynchronizeOnLoss, "")
	people := catalog.Name{Schema: "public", Relation: "people"}
	if err := Resynchronize(t.Context(), b.config.Owner, slot, []catalog.Name{people}); err != nil {
		t.Fatal(err)
	}
	check("one table is asked for", slot, system, StopOnLoss, "is gone")
	never := (*StopError)(nil)
	if err := Rebuild(t.Context(), b.config.Owner, slot, []catalog.Name{{Schema: "public", Relation: "nobody"}}); !errors.As(err, &never) || !strings.Contains(never.What, "1 of the 1 tables") {
		t.Errorf("a table that was never published is asked for: %v", err)
	}
	if err := Resynchronize(t.Context(), b.config.Owner, slot, nil); err != nil {
		t.Fatal(err)
	}
	check("all tables are asked for", slot, system, StopOnLoss, "")
	b.exec("SELECT pg_create_logical_replication_slot($1, 'test_decoding')", slot)
	check("the slot is something else's", slot, system, ResynchronizeOnLoss, "belongs to something else")
}
