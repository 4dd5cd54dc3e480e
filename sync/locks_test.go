package sync

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// waiting tells how many sessions wait for a lock in the database.
func (b *bench) waiting() (n int) {
	b.scan([]any{&n}, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
	return n
}

// TestAlterWhilePublishing alters a table while it is being read: the worker holds it, the
// ALTER waits for the worker, and the worker must not wait for the ALTER.
func TestAlterWhilePublishing(t *testing.T) {
	b := newWard(t, pgtest.Shared(t))
	h := b.holdAt(FailSnapshotCopied)
	l := b.start()
	b.awaitHeld(h)
	altered := make(chan error, 1)
	go func(conn *pgx.Conn) {
		_, err := conn.Exec(context.Background(), "ALTER TABLE ward ADD extra int")
		altered <- err
	}(b.connect())
	await(t, "the ALTER waits", func() bool { return b.waiting() > 0 })
	h.free()
	if err := <-altered; err != nil {
		t.Fatal(err)
	}
	l.inStep()
}

// TestReaderKeepsRelease has a reader keep a transaction open that has read a table which
// is rebuilt: the other table goes on, and other readers do.
func TestReaderKeepsRelease(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	l := b.start()
	l.inStep()
	config := b.source.Config().Copy()
	config.User, config.Password = b.config.Reader, "reader"
	connect := func() *pgx.Conn {
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	reader, other := connect(), connect()
	if _, err := reader.Exec(t.Context(), "BEGIN; SELECT FROM "+viewOf("ward")); err != nil {
		t.Fatal(err)
	}
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{wardTable}); err != nil {
		t.Fatal(err)
	}
	await(t, "the new release waits", func() bool { return b.waiting() > 0 })
	before := l.Status().Position
	b.exec("UPDATE visits SET age = age + 1")
	await(t, "the stream goes on", func() bool { return l.Status().Position > before })
	if _, err := other.Exec(t.Context(), "SELECT FROM "+viewOf("ward")); err != nil {
		t.Error(err)
	}
	if _, err := reader.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	l.inStep()
}
