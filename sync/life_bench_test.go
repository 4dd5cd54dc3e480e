package sync

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// Life with a database: each of these tests injects one fault into a database that
// kproxy lives with, and looks at what it tells, and whether it is in step afterwards.

// patience is how long a test waits for what must come.
const patience = 3 * time.Minute

// ownServer is a server of the test's own, with settings.
func ownServer(t *testing.T, options pgserver.Options) *pgserver.Server {
	t.Helper()
	server, err := pgserver.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// wardPolicy protects a table that follows at once, and a guarded one.
func wardPolicy() catalog.Policy {
	return catalog.Policy{Tables: []catalog.TablePolicy{
		visitsPolicy("ward", "rounded-partition", "", ofSize, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "illness"}),
		guardedVisits("visits", "rounded-partition", "", catalog.Updates{Crowd: 2}, ofSize),
	}}
}

var wardTable, visitsTable = catalog.Name{Schema: "public", Relation: "ward"}, catalog.Name{Schema: "public", Relation: "visits"}

// newWard is a bench with those two, of 100 rows each.
func newWard(t *testing.T, server *pgserver.Server) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.script("SELECT setseed(0.3)")
	for _, table := range wardPolicy().Tables {
		name := table.Table.Relation
		b.script(strings.ReplaceAll(visits, "%s", name) + "INSERT INTO " + name + " SELECT " + visit("i") + " FROM generate_series(1, 100) i")
	}
	return b.provide(server, wardPolicy())
}

// alter changes both tables of a ward, in one transaction.
func (b *bench) alter() {
	b.t.Helper()
	b.script(`BEGIN; UPDATE ward SET age = (age + 7) % 80 WHERE id % 3 = 0; DELETE FROM ward WHERE id % 11 = 1;
		INSERT INTO ward SELECT ` + visit("i") + ` FROM generate_series((SELECT max(id) + 1 FROM ward), (SELECT max(id) + 30 FROM ward)) i;
		UPDATE visits SET age = (age + 7) % 80 WHERE id % 3 = 0; DELETE FROM visits WHERE id % 13 = 1;
		INSERT INTO visits SELECT ` + visit("i") + ` FROM generate_series((SELECT max(id) + 1 FROM visits), (SELECT max(id) + 30 FROM visits)) i; COMMIT`)
}

// live is a Syncer that runs, and what it has told of itself.
type live struct {
	*Syncer
	b      *bench
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of Run, once done is closed

	mu    gosync.Mutex
	diary []Status // every change of state or reason
}

// start runs a Syncer with the bench's configuration, without waiting for anything.
func (b *bench) start() *live {
	b.t.Helper()
	l := &live{b: b, done: make(chan struct{})}
	config := b.config
	config.Changed = l.note
	config.Tables = slices.Clone(b.config.Tables)
	s, err := New(config)
	if err != nil {
		b.t.Fatal(err)
	}
	l.Syncer = s
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go func() {
		l.err = s.Run(ctx)
		close(l.done)
	}()
	b.t.Cleanup(l.stop)
	return l
}

func (l *live) note(s Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.diary); n == 0 || l.diary[n-1].State != s.State || l.diary[n-1].Reason != s.Reason {
		l.diary = append(l.diary, s)
	}
}

// stop ends the Syncer and waits for that.
func (l *live) stop() {
	l.cancel()
	<-l.done
}

// told waits until the Syncer has been in a state with a reason that holds some words,
// and returns it. What lies before an earlier call counts as well.
func (l *live) told(state State, words string) Status {
	l.b.t.Helper()
	var found Status
	l.eventually("it tells of "+state.String()+" with: "+words, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.IndexFunc(l.diary, func(s Status) bool { return s.State == state && strings.Contains(s.Reason, words) })
		if i >= 0 {
			found = l.diary[i]
		}
		return i >= 0
	})
	return found
}

// forget empties the diary.
func (l *live) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diary = nil
}

// eventually waits for something to become true.
func (l *live) eventually(what string, is func() bool) {
	l.b.t.Helper()
	for start := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > patience {
			l.mu.Lock()
			diary := l.diary
			l.mu.Unlock()
			l.b.t.Fatalf("%s: not after %v; %+v; it told: %+v", what, patience, l.Status(), diary)
		}
	}
}

// settled waits until every table is published and nothing is being prepared.
func (l *live) settled() {
	l.b.t.Helper()
	l.eventually("every table is published", func() bool {
		status := l.Status()
		ready := status.State == Streaming
		for _, p := range l.b.config.Tables {
			table := status.Tables[p.Policy.Table]
			ready = ready && table.State == Published && !table.Preparing
		}
		return ready
	})
}

// inStep waits until the store shows all that is committed now, and compares it.
func (l *live) inStep() {
	l.b.t.Helper()
	l.settled()
	l.b.caughtUp(l.Syncer)
	l.settled() // a comparison with the source may have begun meanwhile
	l.b.checkStore(l.Syncer)
}

// stopsWith waits until Run has ended for the operator, and wants some words and a fix.
func (l *live) stopsWith(words string) {
	l.b.t.Helper()
	select {
	case <-l.done:
	case <-time.After(patience):
		l.b.t.Fatalf("it did not stop: %+v", l.Status())
	}
	stop := (*StopError)(nil)
	if !errors.As(l.err, &stop) || stop.Fix == "" || !strings.Contains(l.err.Error(), words) {
		l.b.t.Errorf("it ended with %v, want a StopError with a fix and: %s", l.err, words)
	}
	if status := l.Status(); status.State != Stopped || status.Reason == "" || status.Fix == "" {
		l.b.t.Errorf("status %+v", status)
	}
}

// scanned is one value that the superuser reads.
func scanned[T any](b *bench, sql string, arguments ...any) (value T) {
	b.t.Helper()
	if err := b.source.QueryRow(b.t.Context(), sql, arguments...).Scan(&value); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// insistently runs a statement until it succeeds.
func (b *bench) insistently(sql string, arguments ...any) {
	b.t.Helper()
	var err error
	for start := time.Now(); time.Since(start) < patience; {
		if _, err = b.source.Exec(b.t.Context(), sql, arguments...); err == nil {
			return
		}
	}
	b.t.Fatalf("%s: %v", sql, err)
}

// hold blocks a Syncer once, where it passes a failpoint.
type hold struct {
	reached, release chan struct{}
	once             gosync.Once
	freed            gosync.Once
}

// holdAt makes the bench's next Syncers wait at a failpoint, once.
func (b *bench) holdAt(failpoint string) *hold { return b.holdAtPass(failpoint, 1) }

// holdAtPass is holdAt for the so-and-so-manieth time that it is passed, from 1 on.
func (b *bench) holdAtPass(failpoint string, pass int) *hold {
	h := &hold{reached: make(chan struct{}), release: make(chan struct{})}
	var passed atomic.Int64
	b.config.Failpoint = func(name string) {
		if name == failpoint && passed.Add(1) == int64(pass) {
			h.once.Do(func() {
				close(h.reached)
				<-h.release
			})
		}
	}
	b.t.Cleanup(h.free)
	return h
}

func (h *hold) free() { h.freed.Do(func() { close(h.release) }) }

// awaitHeld waits until the Syncer stands at the failpoint.
func (b *bench) awaitHeld(h *hold) {
	b.t.Helper()
	select {
	case <-h.reached:
	case <-time.After(patience):
		b.t.Fatal("the failpoint was not passed")
	}
}

// quiet has a bench log nothing, for tests that fill the log with attempts.
func (b *bench) quiet() { b.config.Logger = slog.New(slog.DiscardHandler) }
