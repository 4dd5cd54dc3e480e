package sync

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// moveTo has the test's own session, and the bench's next Syncers, on another server.
func (b *bench) moveTo(server *pgserver.Server) {
	b.t.Helper()
	config, err := pgx.ParseConfig(b.dsn)
	if err != nil {
		b.t.Fatal(err)
	}
	b.dsn = server.DSN(config.Database)
	b.source = b.connect()
	b.config.Owner = b.config.Owner.Copy()
	b.config.Owner.Host, b.config.Owner.Port, b.config.Owner.Fallbacks = "127.0.0.1", uint16(server.Port()), nil //nolint:gosec // a port
}

// afterLoss wants the immediate table in step by its difference, and the guarded one
// halted until the operator asks for it.
func (b *bench) afterLoss(l *live, generation int) {
	b.t.Helper()
	status := func() (ward, visits TableStatus) {
		all := l.Status().Tables
		return all[wardTable], all[visitsTable]
	}
	l.eventually("the guarded table is halted and the other one published", func() bool {
		ward, guarded := status()
		return guarded.State == Halted && ward.State == Published && !ward.Preparing
	})
	if _, guarded := status(); guarded.Problem == "" || !strings.Contains(guarded.Fix, "kproxy resync") {
		b.t.Errorf("the guarded table has no problem or fix: %+v", guarded)
	}
	if !scanned[bool](b, "SELECT needs_consent FROM kproxy_store.generation WHERE table_name = 'visits'") {
		b.t.Error("it would go on without a word of the operator")
	}
	l.Reload(b.config.Tables) // is no consent
	l.eventually("it streams again", func() bool {
		ward, guarded := status()
		return l.Status().State == Streaming && ward.State == Published && !ward.Preparing && guarded.State != Unpublished
	})
	b.caughtUp(l.Syncer)
	if _, guarded := status(); guarded.State != Halted {
		b.t.Errorf("a reload has the guarded table go on: %+v", guarded)
	}
	if b.generationOf("ward") != generation {
		b.t.Error("the immediate table was published afresh")
	}
	if err := Resynchronize(b.t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		b.t.Fatal(err)
	}
	l.inStep()
	b.alter()
	l.inStep()
}

// TestStandbyIsPromoted loses the primary, and the slot with it, under a Syncer whose
// address leads to the standby then.
func TestStandbyIsPromoted(t *testing.T) {
	t.Parallel()
	primary := ownServer(t, pgserver.Options{})
	b := newWard(t, primary)
	r := b.relayed(primary)
	l := b.start()
	l.inStep()
	standby, err := primary.Standby(t.Context(), pgserver.StandbyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	b.alter()
	l.inStep()
	generation := b.generationOf("ward")
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.alter() // some of it may be lost
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Restart(context.Background()) }) // for those who tidy up
	r.leadTo(standby)
	l.told(Reconnecting, "") // a standby is read-only, or not there yet
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := b.config.Owner
	b.moveTo(standby)
	b.config.Owner = address
	b.afterLoss(l, generation)
}

// TestFailoverSlot keeps the slot that kproxy has made across a promotion (PostgreSQL 17 and later): the
// stream goes on, and the guarded table waits for a word all the same, since readers may
// have seen what the standby never got.
func TestFailoverSlot(t *testing.T) {
	if testing.Short() {
		t.Skip("a standby takes up to ten seconds to make its copy of a slot lasting")
	}
	t.Setenv(pgserver.BinDirVariable, "")
	t.Setenv(pgserver.MajorVariable, "17")
	if _, err := pgserver.Find(t.Context(), ""); errors.Is(err, pgserver.ErrNotFound) {
		t.Skipf("there is no PostgreSQL 17: %v", err)
	}
	primary := ownServer(t, pgserver.Options{})
	b := newWard(t, primary)
	r := b.relayed(primary)
	l := b.start()
	l.inStep()
	standby, err := primary.Standby(t.Context(), pgserver.StandbyOptions{Slot: "standby", SyncSlots: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() })
	look, err := pgx.Connect(t.Context(), standby.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	l.eventually("the standby has a lasting copy of the slot", func() (lasts bool) {
		b.alter()
		b.script("CHECKPOINT")
		err := look.QueryRow(t.Context(), "SELECT coalesce(bool_or(synced AND NOT temporary), false) FROM pg_replication_slots WHERE slot_name = $1", b.config.Slot).Scan(&lasts)
		if err != nil {
			t.Fatal(err)
		}
		return lasts
	})
	_ = look.Close(t.Context())
	l.inStep()
	generation := b.generationOf("ward")
	if err := standby.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Restart(context.Background()) })
	r.leadTo(standby)
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := b.config.Owner
	b.moveTo(standby)
	b.config.Owner = address
	b.afterLoss(l, generation)
}

// TestBackupIsRestored starts kproxy on a backup: on a new timeline without the slot, and
// as a snapshot of the disk, where slot and store are of one moment.
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	original := ownServer(t, pgserver.Options{})
	b := newWard(t, original)
	l := b.start()
	l.inStep()
	backup, err := original.Backup(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	generation := b.generationOf("ward")
	b.alter() // readers see what the backup does not have
	l.inStep()
	l.stop()
	for _, same := range []bool{true, false} {
		restored := ownServer(t, pgserver.Options{Backup: backup, SameTimeline: same})
		b.moveTo(restored)
		b.alter()
		l := b.start()
		if same {
			l.inStep()
			b.alter()
			l.inStep()
		} else {
			b.afterLoss(l, generation)
		}
		l.stop()
		_ = b.source.Close(t.Context())
	}
	b.moveTo(original)
	b.start().inStep()
}

// program is a client program of the server's version, or the test is skipped.
func program(t *testing.T, server *pgserver.Server, name string) string {
	t.Helper()
	folders := []string{server.Binaries().Dir}
	if postgres, err := filepath.EvalSymlinks(filepath.Join(server.Binaries().Dir, "postgres")); err == nil {
		folders = append(folders, filepath.Dir(postgres))
	}
	candidates := []string{name} // on the path
	for _, folder := range folders {
		candidates = append(candidates, filepath.Join(folder, name))
	}
	for _, candidate := range candidates {
		said, err := exec.CommandContext(t.Context(), candidate, "--version").Output() //nolint:gosec // PostgreSQL's own
		if err == nil && strings.Contains(string(said), fmt.Sprintf(" %d.", server.Version().Major)) {
			return candidate
		}
	}
	t.Skipf("there is no %s of version %d", name, server.Version().Major)
	return ""
}

// TestDatabaseIsCopied dumps the whole database, the store included, and restores it on a
// server of another system identifier.
func TestDatabaseIsCopied(t *testing.T) {
	t.Parallel()
	original, copied := ownServer(t, pgserver.Options{}), ownServer(t, pgserver.Options{})
	dump, psql := program(t, original, "pg_dump"), program(t, original, "psql")
	b := newWard(t, original)
	l := b.start()
	l.inStep()
	l.stop()
	database := b.config.Owner.Database
	admin, err := pgx.Connect(t.Context(), copied.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"CREATE ROLE owner_" + database + " LOGIN REPLICATION PASSWORD 'owner'", "CREATE ROLE reader_" + database + " LOGIN NOINHERIT PASSWORD 'reader'",
		"CREATE DATABASE " + database,
	} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	_ = admin.Close(t.Context())
	file := filepath.Join(t.TempDir(), "dump.sql")
	for _, command := range [][]string{{dump, "--file", file, b.dsn}, {psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, copied.DSN(database)}} {
		if output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil { //nolint:gosec // PostgreSQL's own
			t.Fatalf("%s: %v: %s", filepath.Base(command[0]), err, output)
		}
	}
	b.moveTo(copied)
	b.alter()
	// The tables have other identifiers there.
	b.config.Tables = b.publications(wardPolicy(), b.config.Reader)
	l = b.start()
	l.eventually("both tables are halted, since they are others than were accepted", func() bool {
		tables := l.Status().Tables
		return tables[visitsTable].State == Halted && tables[wardTable].State == Halted
	})
	if status := l.Status().Tables[wardTable]; !strings.Contains(status.Fix, "kproxy accept") {
		t.Errorf("the table is halted for another reason: %+v", status)
	}
	b.accept(l.Syncer, wardTable.Relation)
	b.accept(l.Syncer, visitsTable.Relation)
	l.eventually("the guarded table is halted and the other one published", func() bool {
		tables := l.Status().Tables
		return tables[visitsTable].State == Halted && tables[wardTable].State == Published && !tables[wardTable].Preparing
	})
	if status := l.Status().Tables[visitsTable]; !strings.Contains(status.Fix, "kproxy rebuild") {
		t.Errorf("the guarded table has no fix: %+v", status)
	}
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{visitsTable}); err != nil {
		t.Fatal(err)
	}
	l.inStep()
	b.alter()
	l.inStep()
}
