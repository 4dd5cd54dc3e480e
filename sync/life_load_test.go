package sync

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// loadedWard is a ward with so many records that the store is read in ranges by several
// connections, and a Syncer that has ended.
func loadedWard(t *testing.T) *bench {
	t.Helper()
	b := newWard(t, pgtest.Shared(t))
	b.script("INSERT INTO ward SELECT " + visit("i") + " FROM generate_series(1000, 3000) i")
	b.inRanges()
	l := b.start()
	l.inStep()
	l.stop()
	b.ownerGone()
	return b
}

// loaders are the sessions that load the store, but for the first one.
const loaders = `FROM pg_stat_activity WHERE usename = $1 AND state = 'idle in transaction' AND query LIKE '%SET TRANSACTION SNAPSHOT%'`

// TestLoadsBySeveralConnections changes the tables while no Syncer runs, and while one
// loads: what is loaded is what stands in the store.
func TestLoadsBySeveralConnections(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	generation := b.generationOf("ward")
	b.alter()
	h := b.holdAt(FailStoreSeen)
	l := b.start()
	b.awaitHeld(h)
	if n := scanned[int](b, "SELECT count(*) "+loaders, b.config.Owner.User); n != smallRanges.connections-1 {
		t.Errorf("%d connections load the store beside the first one", n)
	}
	b.alter()
	h.free()
	l.inStep()
	b.alter()
	l.inStep()
	if n := scanned[int](b, "SELECT count(*) "+loaders, b.config.Owner.User); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	l.stop()
	if b.generationOf("ward") != generation {
		t.Error("the table was published afresh")
	}
}

// TestLoadIsKilled ends a process, or connections, where the store is being loaded. The next
// attempt takes over the same classes.
func TestLoadIsKilled(t *testing.T) {
	t.Parallel()
	cut := func(which string) func(b *bench, point string) {
		return func(b *bench, point string) {
			h := b.holdAt(point)
			l := b.start()
			b.awaitHeld(h)
			b.insistently("SELECT pg_terminate_backend(pid) "+which, b.config.Owner.User)
			h.free()
			l.inStep()
			l.stop()
		}
	}
	for name, fault := range map[string]func(b *bench, point string){
		"process": func(b *bench, point string) {
			c := b.spawn(errand{Die: point, Ranges: true})
			c.dies()
		},
		"canceled": func(b *bench, point string) {
			h := b.holdAt(point)
			l := b.start()
			b.awaitHeld(h)
			l.cancel()
			h.free()
			<-l.done
		},
		"one reader":  cut(loaders + " AND pid = (SELECT min(pid) " + loaders + ")"),
		"all readers": cut(loaders),
		"first":       cut("FROM pg_stat_activity WHERE usename = $1 AND state = 'idle in transaction' AND query LIKE '%pg_export_snapshot%'"),
	} {
		for _, point := range []string{FailStoreSeen, FailLoading} {
			t.Run(name+"/"+point, func(t *testing.T) {
				t.Parallel()
				b := loadedWard(t)
				generation, before := b.generationOf("ward"), b.placesOf("ward")
				fault(b, point)
				b.ownerGone()
				if after := b.placesOf("ward"); after != before {
					t.Error("the classes in the store are others")
				}
				b.config.Failpoint = nil
				b.alter()
				l := b.start()
				l.inStep()
				l.stop()
				if b.generationOf("ward") != generation {
					t.Error("the table was published afresh")
				}
			})
		}
	}
}

// placesOf is a digest of the table's classes.
func (b *bench) placesOf(table string) string {
	b.t.Helper()
	return scanned[string](b, fmt.Sprintf("SELECT md5(string_agg(kproxy_record || ' ' || kproxy_class, ',' ORDER BY kproxy_record)) FROM kproxy_store.records_%d", b.generationOf(table)))
}

// TestLoadIsRefused has a store that cannot be: its table is halted, on the connection that
// has read it, and the other one goes on.
func TestLoadIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"a record twice":           "INSERT INTO kproxy_store.packed_%[1]d SELECT * FROM kproxy_store.packed_%[1]d LIMIT 1",
		"a record that is missing": "DELETE FROM kproxy_store.stored_%[1]d WHERE kproxy_record = 7",
		"a key twice":              "UPDATE kproxy_store.stored_%[1]d SET id = 8 WHERE kproxy_record = 7 OR id = 8",
		"no class":                 "UPDATE kproxy_store.packed_%[1]d SET kproxy_class = NULL WHERE kproxy_class = (SELECT min(kproxy_class) FROM kproxy_store.packed_%[1]d)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := loadedWard(t)
			b.exec(fmt.Sprintf(spoil, b.generationOf("ward")))
			l := b.start()
			l.eventually("the table is halted", func() bool { return l.Status().Tables[wardTable].State == Halted })
			l.eventually("the other one goes on", func() bool { return l.Status().Tables[visitsTable].State == Published && l.Status().State == Streaming })
			if problem := l.Status().Tables[wardTable].Problem; problem == "" || strings.Contains(problem, "SQLSTATE 25") {
				t.Errorf("it is halted for %q", problem)
			}
			l.stop()
		})
	}
}

// TestLoadIsOfOneState has the store move on between the moment at which its position was
// read and that at which it is loaded, as where another process has taken over.
func TestLoadIsOfOneState(t *testing.T) {
	t.Parallel()
	b := loadedWard(t)
	s, err := New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	ses := &session{Syncer: s, epoch: scanned[int64](b, "SELECT epoch FROM kproxy_store.position")}
	if ses.control, err = s.open(t.Context(), followerName); err != nil {
		t.Fatal(err)
	}
	defer farewell(ses.control)
	found, err := ses.generations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	take := func() error {
		of, err := newTable(b.config.Tables[0])
		if err != nil {
			t.Fatal(err)
		}
		return ses.takeAsFound(t.Context(), of, found[wardTable])
	}
	if err := take(); err != nil {
		t.Fatal(err)
	}
	for _, moved := range []string{"UPDATE kproxy_store.generation SET lsn = '0/1'", "UPDATE kproxy_store.position SET epoch = epoch + 1"} {
		b.exec(moved)
		if err := take(); err == nil || !transient(err) {
			t.Errorf("%s: the store is loaded with the error %v", moved, err)
		}
	}
}
