package sync

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// loads counts the stores that were loaded, by their tables.
type loads struct {
	slog.Handler
	mu gosync.Mutex
	of map[string]int
}

func (l *loads) Enabled(context.Context, slog.Level) bool { return true }

func (l *loads) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "the store of a table was loaded" {
		r.Attrs(func(a slog.Attr) bool {
			l.mu.Lock()
			l.of[a.Value.String()]++
			l.mu.Unlock()
			return true
		})
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// mustBe wants a number of loads of some tables.
func (l *loads) mustBe(t *testing.T, when string, want int, tables ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, table := range tables {
		if l.of["public."+table] != want {
			t.Errorf("%s: the store of %s was loaded %d times, want %d", when, table, l.of["public."+table], want)
		}
	}
}

// countLoads has the bench's next Syncers count the stores that they load.
func (b *bench) countLoads() *loads {
	l := &loads{Handler: slog.NewTextHandler(b.t.Output(), nil), of: make(map[string]int)}
	b.config.Logger = slog.New(l)
	return l
}

// TestReloadKeepsOthersInMemory adds a table and takes it out while others change: their stores are not
// loaded again, and all that was committed meanwhile arrives once. A start loads them.
func TestReloadKeepsOthersInMemory(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	loaded := b.countLoads()
	l := b.start()
	l.inStep()
	loaded.mustBe(t, "after the first start", 0, "ward", "visits")
	writing, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-writing:
				return
			default:
				b.alter()
			}
		}
	}()
	for round := range 6 {
		b.config.Tables = all[:2+(round+1)%2]
		l.Reload(b.config.Tables)
		l.settled()
	}
	close(writing)
	<-done
	l.inStep()
	loaded.mustBe(t, "after six reloads", 0, "ward", "visits", "third")
	b.config.Tables = all
	l.Reload(all)
	b.alter()
	l.inStep()
	l.Reload(all) // which changes nothing
	l.inStep()
	loaded.mustBe(t, "after a reload of the same", 0, "ward", "visits", "third")
	l.stop()
	b.alter()
	l = b.start()
	l.inStep()
	loaded.mustBe(t, "after a start", 1, "ward", "visits", "third")
}

// TestReloadsInARow asks for another reload while the session that the first one began is about to apply: its tables
// are handed over as well.
func TestReloadsInARow(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	b.config.Tables = all
	loaded := b.countLoads()
	again := &onKept{loads: loaded}
	b.config.Logger = slog.New(again)
	l := b.start()
	l.inStep()
	again.reload = func() { l.Reload(all) }
	l.Reload(all)
	b.alter()
	l.inStep()
	l.eventually("the second reload has ended", func() bool { return again.times.Load() == 2 })
	b.alter()
	l.inStep()
	loaded.mustBe(t, "after two reloads in a row", 0, "ward", "visits", "third")
}

// onKept asks for a reload when the first session is told to apply on from memory, and counts these.
type onKept struct {
	*loads
	times  atomic.Int32
	reload func()
}

func (k *onKept) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "tables are applied on from memory") && k.times.Add(1) == 1 {
		k.reload()
	}
	return k.loads.Handle(ctx, r)
}

// TestChangedTableIsNotKept: of a table whose policy has changed, or that is asked to be rebuilt, nothing
// is handed over; of the others everything is.
func TestChangedTableIsNotKept(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	b.config.Tables = all
	loaded := b.countLoads()
	l := b.start()
	l.inStep()
	changed := append([]catalog.Publication(nil), all...)
	changed[2].Policy.Reanonymize = 0.5 // which the store does not depend on
	b.config.Tables = changed
	l.Reload(changed)
	b.alter()
	l.inStep()
	loaded.mustBe(t, "after another threshold", 0, "ward", "visits")
	loaded.mustBe(t, "after another threshold", 1, "third")
	before := b.generationOf("third")
	if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{all[2].Policy.Table}); err != nil {
		t.Fatal(err)
	}
	l.eventually("the table is made anew", func() bool { return b.generationOf("third") > before })
	b.alter()
	l.inStep()
	loaded.mustBe(t, "after a rebuild", 0, "ward", "visits")
	loaded.mustBe(t, "after a rebuild", 2, "third")
}

// TestReloadKeepsGroups: tables that are released together are kept together, with their pseudonyms.
func TestReloadKeepsGroups(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]*hospital{
		"immediate": newHospital(t, pgtest.Shared(t), "1/1y:2", faultyPatients),
		"audiences": newAudienceHospital(t, "1/1y:2", faultyPatients),
		"guarded":   guardedHospital(t, "1/1y:2", faultyPatients),
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			loaded := h.countLoads()
			l := h.start()
			h.inStep(l.Syncer)
			for range 3 {
				for range 8 {
					h.changeHospital(faultyPatients)
				}
				l.Reload(h.config.Tables)
				for range 8 {
					h.changeHospital(faultyPatients)
				}
				l.settled()
				h.inStep(l.Syncer)
				h.checkRelease()
			}
			loaded.mustBe(t, "after three reloads", 0, "patients", "visits", "drugs")
			l.stop()
			l = h.start()
			h.inStep(l.Syncer)
			loaded.mustBe(t, "after a start", 1, "patients", "visits", "drugs")
		})
	}
}

// TestHandoverIsFenced ends what a session has handed over by whatever makes memory and store differ
// before the next one: the stores are loaded, and all arrives once.
func TestHandoverIsFenced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(b *bench, l *live)
		loaded    int
	}{
		"nothing": {func(*bench, *live) {}, 0},
		"changes": {func(b *bench, _ *live) { b.alter() }, 0},
		"connections are cut": {func(b *bench, _ *live) {
			b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User)
		}, 0},
		"a policy is accepted": {func(b *bench, _ *live) {
			if _, err := AcceptPolicy(b.t.Context(), b.source, Policy{Fingerprint: "another", Text: []byte("{}"), Place: "here"}); err != nil {
				b.t.Fatal(err)
			}
		}, 0},
		"another process applies": {func(b *bench, _ *live) {
			b.alter()
			b.config.Failpoint = func(string) {}
			b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND backend_type = 'walsender'", b.config.Owner.User)
			other := b.start()
			other.inStep()
			b.alter()
			other.inStep()
			other.stop()
		}, 2},
		"another process has applied, and changed nothing": {func(b *bench, _ *live) {
			b.exec("UPDATE kproxy_store.position SET epoch = epoch + 1")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, all := withThird(t)
			loaded := b.countLoads()
			h := b.holdAt(FailHandedOver)
			l := b.start()
			l.inStep()
			b.config.Tables = all
			l.Reload(all)
			b.awaitHeld(h)
			c.meanwhile(b, l)
			h.free()
			l.inStep()
			b.alter()
			l.inStep()
			loaded.mustBe(t, name, c.loaded, "ward", "visits")
		})
	}
}

// TestReportAfterReload: what a session reports that a reload has not ended yet does not give readers what
// the reload has taken from them.
func TestReportAfterReload(t *testing.T) {
	t.Parallel()
	a, of := memoryApplier(), memoryTable(t, sizeOnly(3))
	s := a.session.syncer
	s.leaving, s.published, s.removed, a.session.tables = newLeaving(func(error) {}), make(chan struct{}), map[catalog.Name]bool{}, tables{of}
	s.config.Changed = func(Status) {}
	s.leaving.begin()
	name := of.layout.name()
	s.tables = []catalog.Publication{of.layout.publication}
	if a.session.report(a.session.figures()); s.Status().Tables[name].State != Published {
		t.Fatal("the table is not published before")
	}
	stricter := of.layout.publication
	stricter.Policy = sizeOnly(7)
	for _, next := range [][]catalog.Publication{{stricter}, nil} {
		s.Reload(next)
		a.session.report(a.session.figures())
		s.setTable(name, TableStatus{State: Published})
		if status, told := s.Status().Tables[name]; told {
			t.Errorf("with %d tables, readers have what they may not: %+v", len(next), status)
		}
	}
}

// TestLeaving: a session that does not apply yet ends at once, one that does at a boundary, and without
// one in the end.
func TestLeaving(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 2)
	end := func(err error) { ended <- err }
	l := newLeaving(end)
	l.ask()
	if err := <-ended; !errors.Is(err, errReload) {
		t.Errorf("it ended with %v", err)
	}
	l = newLeaving(end)
	l.patience = time.Hour
	l.begin()
	l.ask()
	l.ask()
	<-l.boundary
	select {
	case err := <-ended:
		t.Errorf("it ended with %v before a boundary", err)
	default:
	}
	l = newLeaving(end)
	l.patience = 0
	l.begin()
	l.ask()
	if err := <-ended; !errors.Is(err, errReload) {
		t.Errorf("it ended with %v", err)
	}
}
