package sync

import (
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// phases are the moments of a Syncer's life at which a server may end, by failpoint, and
// what brings a Syncer there.
var phases = []struct {
	failpoint string
	bring     func(b *bench)
}{
	{FailSlotCreated, nil},
	{FailSnapshotTaken, nil},
	{FailSnapshotCopied, nil},
	{FailBeforeJoin, nil},
	{FailAfterJoin, nil},
	{FailBeforeCommit, (*bench).alter},
	{FailAfterCommit, (*bench).alter},
	{FailSpilled, func(b *bench) {
		b.script("UPDATE ward SET age = (age + 1) % 80; INSERT INTO ward SELECT " + visit("i") + " FROM generate_series(1000, 3500) i")
	}},
}

// TestServerEnds restarts the server, or crashes it, in every phase.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*pgserver.Server) error{
		"restart": func(s *pgserver.Server) error { return s.Restart(t.Context()) },
		"crash": func(s *pgserver.Server) error {
			if err := s.Kill(); err != nil {
				return err
			}
			return s.Restart(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := ownServer(t, pgserver.Options{})
			for _, phase := range phases {
				t.Run(phase.failpoint, func(t *testing.T) {
					if testing.Short() && name == "restart" && phase.failpoint == FailSpilled {
						t.Skip("a large transaction takes long; the crash goes the same way")
					}
					b := newWard(t, server)
					b.quiet()
					h := b.holdAt(phase.failpoint)
					l := b.start()
					if phase.bring != nil {
						l.settled()
						phase.bring(b)
					}
					b.awaitHeld(h)
					began := time.Now()
					if name == "restart" { // which waits for the walsender, and that for kproxy
						go func() {
							time.Sleep(100 * time.Millisecond)
							h.free()
						}()
					}
					if err := end(server); err != nil {
						t.Fatal(err)
					}
					t.Logf("the server was back after %v", time.Since(began))
					h.free()
					b.source = b.connect()
					if phase.bring != nil { // else the first attempt may have had nothing to lose
						l.told(Reconnecting, "")
					}
					l.inStep()
					b.alter()
					l.inStep()
					l.stop()
				})
			}
		})
	}
}

// TestServerStopsInTime shuts the server down while what was written last concerns no
// protected table: the server waits until kproxy has acknowledged that, or has gone, and no
// heartbeat moves its position.
func TestServerStopsInTime(t *testing.T) {
	t.Parallel()
	server := ownServer(t, pgserver.Options{})
	b := newWard(t, server)
	b.config.Heartbeat = time.Hour
	b.script("CREATE TABLE other (x text); CREATE UNLOGGED TABLE mark AS SELECT 1 AS one")
	l := b.start()
	l.inStep()
	b.script("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 2000)")
	l.forget()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.told(Reconnecting, "")
	b.source = b.connect()
	if scanned[int](b, "SELECT count(*) FROM mark") != 1 { // a crash empties what is not logged
		t.Error("the server did not stop until it was killed")
	}
	l.inStep()
}

// sessions are kproxy's on a server, each by what it is for: the n-th of its kind by age.
var sessions = map[string]string{
	"control":           "backend_type <> 'walsender' ORDER BY backend_start OFFSET 0",
	"replication":       "backend_type = 'walsender' ORDER BY backend_start OFFSET 0",
	"watcher":           "backend_type <> 'walsender' ORDER BY backend_start OFFSET 1",
	"snapshot":          "backend_type = 'walsender' ORDER BY backend_start OFFSET 1",
	"worker":            "backend_type <> 'walsender' ORDER BY backend_start DESC OFFSET 0",
	"worker, in a COPY": "backend_type <> 'walsender' ORDER BY backend_start DESC OFFSET 0",
}

// TestConnectionIsEnded ends each of kproxy's connections alone.
func TestConnectionIsEnded(t *testing.T) {
	t.Parallel()
	for name, which := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			end := func() {
				b.t.Helper()
				sql := fmt.Sprintf("SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE usename = $1 AND %s LIMIT 1) x", which)
				await(t, "the session is there", func() bool { return scanned[int](b, sql, b.config.Owner.User) == 1 })
			}
			if name == "snapshot" || name[:6] == "worker" {
				point := FailSnapshotTaken
				if name == "worker, in a COPY" {
					point = FailSnapshotCopied
				}
				h := b.holdAt(point)
				l := b.start()
				b.awaitHeld(h)
				end()
				h.free()
				l.inStep()
				return
			}
			l := b.start()
			l.inStep() // the worker's connections are gone
			l.forget()
			end()
			b.alter()
			if name != "watcher" { // which only connects anew
				l.told(Reconnecting, "")
			}
			l.inStep()
			b.alter()
			l.inStep()
		})
	}
}
