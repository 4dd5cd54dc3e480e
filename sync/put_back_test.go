package sync

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestSourceIsPutBack has the source begin again as a snapshot of its disk, with the system, the timeline and the slot that it
// had, while the release is elsewhere and shows what was committed since. What is committed afterwards lies before the stored
// position, where the stream of this slot would skip it.
func TestSourceIsPutBack(t *testing.T) {
	t.Parallel()
	policy := testPolicy()
	policy.Tables[1].Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 2, Batch: 8, Within: time.Second}
	original := ownServer(t, pgserver.Options{})
	b := newApartBench(t, original, pgtest.Shared(t), sourceTables, policy)
	b.fill(100)
	b.exec(`INSERT INTO "Odd ""Names" SELECT i, 'b' || i, i, 'flu' FROM generate_series(1, 40) i`)
	s, stop := b.run()
	b.caughtUp(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	snapshot, err := original.Backup(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, stop = b.run()
	b.exec("DELETE FROM people WHERE id % 3 = 0")
	b.exec(`DELETE FROM "Odd ""Names" WHERE a % 5 = 0`)
	b.caughtUp(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.leadTo(ownServer(t, pgserver.Options{Backup: snapshot, SameTimeline: true}))
	b.exec("UPDATE people SET age = age + 1 WHERE id = 1")
	s, _ = b.run()
	people, odd := publicTable("people"), publicTable(`Odd "Names`)
	await(t, "the guarded table waits for the operator", func() bool { return s.Status().Tables[odd].State == Halted })
	if why := s.Status().Tables[odd].Problem; !strings.Contains(why, "an earlier state of its disk") {
		t.Errorf("it is halted since %s", why)
	}
	await(t, "the other one is compared", func() bool {
		table := s.Status().Tables[people]
		return table.State == Published && !table.Preparing && table.Records == 100
	})
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{odd}); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE people SET age = age + 1 WHERE id = 2")
	await(t, "the guarded table goes on", func() bool {
		table := s.Status().Tables[odd]
		return table.State == Published && !table.Preparing
	})
	b.caughtUp(s)
	b.checkStore(s)
}

// leadTo has the source on another server.
func (b *bench) leadTo(server *pgserver.Server) {
	b.t.Helper()
	database := b.config.Source.Database
	_ = b.source.Close(context.Background())
	b.dsn = server.DSN(database)
	b.source = b.connect()
	config, err := pgx.ParseConfig(b.dsn)
	if err != nil {
		b.t.Fatal(err)
	}
	b.config.Source = b.config.Source.Copy()
	b.config.Source.Port, b.config.Source.Fallbacks = config.Port, nil
}
