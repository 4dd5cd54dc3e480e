package sync

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// dueStage is a stage that has something to publish at a time, or fails when it is settled.
type dueStage struct {
	updateMode
	at      time.Time
	failure error
}

func (s dueStage) due() time.Time { return s.at }

func (s dueStage) settle(ctx context.Context, now time.Time) error {
	if s.failure != nil {
		return s.failure
	}
	return s.updateMode.settle(ctx, now)
}

// landed is a group that has ended, up to a position.
func landed(to pglogrepl.LSN, err error) *batch {
	f := &batch{to: to, ended: make(chan struct{}), err: err, started: time.Now(), status: map[*table]TableStatus{}}
	close(f.ended)
	return f
}

// TestGroupsWaitForEachOther sends a group on its way while others are under way: as many may be
// as the server can be given, one alone while a release is not shown yet.
func TestGroupsWaitForEachOther(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before  int
		shows   pglogrepl.LSN
		waits   int // of those before, how many are waited for
		spilled bool
	}{{0, 0, 0, false}, {1, 0, 0, true}, {2, 0, 1, false}, {0, 5000, 0, true}, {1, 5000, 1, false}, {2, 5000, 2, false}} {
		of := partsTable(t)
		a, store := storedApplier(t, of)
		of.release.showAt, of.pending.spilled, a.group.rows = test.shows, test.spilled, 3
		for i := range test.before {
			a.writer.batches = append(a.writer.batches, landed(pglogrepl.LSN(910+10*i), nil))
		}
		from := pglogrepl.LSN(900 + 10*test.before)
		store.position = from
		if err := a.startBatch(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		f := a.writer.batches[len(a.writer.batches)-1]
		if len(a.writer.batches) != test.before-test.waits+1 || a.session.position != pglogrepl.LSN(900+10*test.waits) || f.from != from || f.to != 1000 {
			t.Errorf("%+v: %d groups are on their way, the last from %s, and the position is %s", test, len(a.writer.batches), f.from, a.session.position)
		}
		if !f.changes || !f.complete || a.group.rows != 0 || a.writer.spilled != nil || f.started.IsZero() || cap(f.steps) != map[bool]int{false: maxSteps, true: maxSpilledSteps}[test.spilled] {
			t.Errorf("%+v: the group is %+v", test, f)
		}
		if err := a.writer.awaitAll(t.Context()); err != nil || a.session.position != 1000 || store.position != 1000 || f.earlier != nil {
			t.Errorf("%+v: they end at %s: %v", test, a.session.position, err)
		}
	}
}

// TestLostGroupsTellTheCause loses groups: all are waited for, and what went wrong with the first
// of them is told, unless that is only that it had nothing to commit.
func TestLostGroupsTellTheCause(t *testing.T) {
	t.Parallel()
	one, two, mine := errors.New("one"), errors.New("two"), errors.New("mine")
	for _, test := range []struct {
		failures []error
		want     error
	}{{nil, mine}, {[]error{nil, nil}, mine}, {[]error{errIncomplete, one, two}, one}, {[]error{nil, two}, two}, {[]error{errIncomplete}, mine}} {
		a := memoryApplier()
		for _, failure := range test.failures {
			a.writer.batches = append(a.writer.batches, landed(5, failure))
		}
		if err := a.writer.fail(mine); !errors.Is(err, test.want) || a.writer.batches != nil {
			t.Errorf("of %v, %v is told", test.failures, err)
		}
	}
	a := memoryApplier()
	slow := &batch{ended: make(chan struct{})}
	a.writer.batches = []*batch{slow}
	if a.writer.oldestEnded() != (<-chan struct{})(slow.ended) {
		t.Error("the end of another group is awaited")
	}
	go func() {
		slow.err = one
		close(slow.ended)
	}()
	if err := a.writer.fail(mine); !errors.Is(err, one) || a.writer.oldestEnded() != nil {
		t.Errorf("a group is not waited for: %v", err)
	}
	a.writer.batches = []*batch{landed(7, one), landed(8, nil)}
	if err := a.writer.awaitAll(t.Context()); !errors.Is(err, one) || len(a.writer.batches) > 0 || a.session.position == 7 {
		t.Errorf("they end at %s: %v", a.session.position, err)
	}
}

// TestLandingIsNoted has a group land, with or without changes, after some time.
func TestLandingIsNoted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		took, wrote time.Duration
		changes     bool
	}{{time.Millisecond, time.Millisecond, true}, {maxGroupTime, maxGroupTime, false}, {time.Hour, maxGroupTime, true}} {
		synctest.Test(t, func(t *testing.T) {
			of := partsTable(t)
			a, _ := storedApplier(t, of)
			of.mode = dueStage{updateMode: of.mode, at: time.Now().Add(test.took + time.Second)}
			a.writer.batches = []*batch{landed(950, nil), landed(960, nil)}
			a.writer.batches[0].changes = test.changes
			a.writer.batches[0].status[of] = TableStatus{Records: 77}
			time.Sleep(test.took)
			if err := a.writer.awaitOldest(t.Context()); err != nil {
				t.Fatal(err)
			}
			if a.session.position != 950 || !a.moved.Equal(time.Now()) || a.group.writeTime != test.wrote || of.release.position != 950 || a.session.shared.ack.lsn() != 950 || len(a.writer.batches) != 1 {
				t.Errorf("%+v: the position is %s, moved at %v, written for %v", test, a.session.position, a.moved, a.group.writeTime)
			}
			if status := a.session.syncer.Status(); status.Position != 950 || status.Tables[of.layout.name()].Records != 77 {
				t.Errorf("%+v: the status tells of %s", test, status.Position)
			}
			time.Sleep(time.Second)
			select {
			case <-a.due.C:
				if !test.changes {
					t.Error("it is looked for what is due after nothing")
				}
			default:
				if test.changes {
					t.Error("what is due is not looked for")
				}
			}
			a.due.Stop()
		})
	}
}

// TestGroupsWriteTheirTables looks at what a group writes of tables that have changed, and of
// others: up to where each stands, which may be ahead of the group.
func TestGroupsWriteTheirTables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lsn, want pglogrepl.LSN
		changed   bool
		due       time.Duration // when something is to be published by the clock; 0 for never
	}{{5, 1000, true, 0}, {1200, 1200, true, 0}, {5, 0, false, 0}, {5, 1000, false, -time.Second}, {5, 0, false, time.Hour}} {
		of := partsTable(t)
		a, store := storedApplier(t, of)
		of.release.position, of.pending.dirty = test.lsn, test.changed
		if test.due != 0 {
			of.mode = dueStage{updateMode: of.mode, at: time.Now().Add(test.due)}
		}
		var points []string
		a.session.syncer.config.Failpoint = func(name string) { points = append(points, name) }
		if err := a.flush(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		if got := store.lsn[of.layout.name()]; got != test.want || of.pending.dirty || of.release.position != max(test.lsn, 1000) {
			t.Errorf("%+v: the table is written up to %s, stands at %s, and is changed: %t", test, got, of.release.position, of.pending.dirty)
		}
		if !slices.Equal(points, []string{FailBeforeCommit, FailAfterCommit}) {
			t.Errorf("it passes %v", points)
		}
	}
}

// TestGroupsBringRenewalsOnTheirWay has a group depart when a renewal is asked for: it is begun
// with it, but not while another one runs.
func TestGroupsBringRenewalsOnTheirWay(t *testing.T) {
	t.Parallel()
	for _, running := range []*renewal{nil, {}} {
		a, _ := storedApplier(t, partsTable(t))
		a.renewer.running, a.renewer.requests = running, []request{{id: 6, table: catalog.Name{Relation: "unknown"}}}
		if err := a.flush(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
		if begun := len(a.renewer.outcomes) > 0; begun != (running == nil) || begun != (len(a.renewer.requests) == 0) {
			t.Errorf("%+v: %d renewals are asked for, and %d answered", running, len(a.renewer.requests), len(a.renewer.outcomes))
		}
	}
}

// TestGroupsThatFail has a table not be settled, the store refuse what is written of it, or the
// group before it be lost: nothing of the group is stored, and the failure is told.
func TestGroupsThatFail(t *testing.T) {
	t.Parallel()
	failure := errors.New("unsettled")
	for name, test := range map[string]struct {
		prepare func(a *applier, of *table)
		want    error
		halts   bool
	}{
		"not settled": {func(_ *applier, of *table) { of.mode = dueStage{updateMode: of.mode, failure: failure} }, failure, false},
		"refused": {func(_ *applier, of *table) {
			of.mode = dueStage{updateMode: of.mode, failure: refusedBy("23505")}
		}, nil, true},
		"the one before is lost": {func(a *applier, _ *table) { a.writer.batches = []*batch{landed(910, failure)} }, failure, false},
	} {
		of := partsTable(t)
		a, store := storedApplier(t, of)
		of.pending.dirty, a.group.rows = true, 4
		test.prepare(a, of)
		err := a.flush(t.Context(), 1000)
		if halt := (*TableError)(nil); test.want != nil && !errors.Is(err, test.want) || err == nil || errors.As(err, &halt) != test.halts {
			t.Errorf("%s: it ends with %v", name, err)
		}
		if a.session.position != 900 || store.position != 900 || len(a.writer.batches) > 0 || a.group.rows != 0 {
			t.Errorf("%s: the position is %s, with %d groups on their way", name, a.session.position, len(a.writer.batches))
		}
	}
}

// TestOneErrorOfOneTable has the server refuse what is written of a table: that one is halted.
func TestOneErrorOfOneTable(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	a := memoryApplier(of)
	of.pending.dirty = true
	f := &batch{to: 50, steps: make(chan step, 20), ended: make(chan struct{})}
	if err := a.fillBatch(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	close(f.steps)
	orders := 0
	for do := range f.steps {
		orders++
		if orders > 1 {
			break // no request has been answered
		}
		halt := (*TableError)(nil)
		if err := do(t.Context(), refusingTx{}); !errors.As(err, &halt) || halt.Table != of.layout.name() {
			t.Errorf("order %d ends with %v", orders, err)
		}
	}
	if orders == 0 {
		t.Error("nothing is written")
	}
}

// refusedBy is the refusal of a server.
func refusedBy(code string) error { return &pgconn.PgError{Code: code} }

// refusingTx refuses whatever it is sent.
type refusingTx struct{ pgx.Tx }

// refusedResults are those of statements that are refused.
type refusedResults struct{ pgx.BatchResults }

func (refusedResults) Close() error { return refusedBy("23505") }

func (refusingTx) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults { return refusedResults{} }

// TestGroupsAreSentAtBoundaries looks at what becomes of the open group where a transaction has
// ended: whether it departs, is waited for, or grows.
func TestGroupsAreSentAtBoundaries(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	finding := &finding{table: catalog.Name{Relation: "others"}, err: &TableError{Table: catalog.Name{Relation: "others"}}}
	for name, test := range map[string]struct {
		prepare  func(a *applier)
		position pglogrepl.LSN
		flights  int
		left     int  // rows of the open group
		found    bool // the finding still waits
	}{
		"amid a transaction":             {func(a *applier) { a.transaction.open, a.found = true, finding }, 900, 0, 4, true},
		"nothing behind it":              {func(*applier) {}, 900, 1, 0, false},
		"more behind it":                 {func(a *applier) { a.group.moreReceived, a.group.began = true, time.Now().Add(time.Hour) }, 900, 0, 4, false},
		"awaited":                        {func(a *applier) { a.group.moreReceived, a.found = true, finding }, 1000, 0, 0, false},
		"nothing new behind another":     {func(a *applier) { a.group.rows, a.found, a.writer.batches = 0, finding, []*batch{landed(910, nil)} }, 900, 1, 0, true},
		"nothing new":                    {func(a *applier) { a.group.rows, a.found = 0, finding }, 900, 0, 0, false},
		"nothing new, and far":           {func(a *applier) { a.group.rows, a.end, a.found = 0, 900+idleBytes, finding }, 900 + idleBytes, 0, 0, false},
		"behind another, but awaited":    {func(a *applier) { a.found, a.writer.batches = finding, []*batch{landed(900, nil)} }, 1000, 0, 0, false},
		"behind another, and small":      {func(a *applier) { a.group.rows, a.writer.batches = aheadRows()-1, []*batch{landed(910, nil)} }, 900, 1, aheadRows() - 1, false},
		"behind another, and larger":     {func(a *applier) { a.group.rows, a.writer.batches = aheadRows(), []*batch{landed(900, nil)} }, 900, 2, 0, false},
		"behind another, but it is full": {func(a *applier) { a.group.rows, a.writer.batches = groupRows, []*batch{landed(900, nil)} }, 900, 2, 0, false},
	} {
		a, _ := storedApplier(t, of)
		a.group.rows, a.end = 4, 1000
		test.prepare(a)
		if err := a.flushIfDue(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.session.position != test.position || len(a.writer.batches) != test.flights || a.group.rows != test.left || (a.found != nil) != test.found {
			t.Errorf("%s: the position is %s, %d groups are on their way, %d rows are left, and a finding waits: %t", name, a.session.position, len(a.writer.batches), a.group.rows, a.found != nil)
		}
		if err := a.writer.awaitAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeepalivesMoveOn has keepalives come at a commit boundary and elsewhere.
func TestKeepalivesMoveOn(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	for _, test := range []struct {
		amid     bool
		end      pglogrepl.LSN
		consumed uint64
		position pglogrepl.LSN
	}{{false, 950, 950, 900}, {true, 950, 0, 900}, {false, 900 + idleBytes, 900 + idleBytes, 900 + idleBytes}, {true, 900 + idleBytes, 0, 900}} {
		a := newMemoryServer(t).applier(of)
		a.transaction.open = test.amid
		a.found = &finding{table: of.layout.name(), err: &TableError{Table: catalog.Name{Relation: "others"}}}
		if err := a.handle(t.Context(), message{keepalive: test.end}); err != nil {
			t.Fatal(err)
		}
		if a.session.shared.consumed.Load() != test.consumed || a.session.position != test.position || (a.found != nil) != test.amid {
			t.Errorf("%+v: %d is consumed, and the position is %s", test, a.session.shared.consumed.Load(), a.session.position)
		}
	}
}

// applier applies tables by sessions of the server, from 900 on.
func (m *memoryServer) applier(tables ...*table) *applier {
	m.t.Helper()
	a := memoryApplier()
	a.due.Stop()
	a.use(m.session())
	a.session.tables, a.session.position, a.stream = tables, 900, &stream{}
	return a
}

// TestPartsAreLeftOut does a part of a transaction, of which each statement is refused in turn:
// it is done only where all of it was.
func TestPartsAreLeftOut(t *testing.T) {
	t.Parallel()
	for refuses := -1; ; refuses++ {
		m := newMemoryServer(t)
		s := m.session()
		m.begin(refuses)
		var done bool
		err := within(t.Context(), s, func(tx pgx.Tx) (err error) {
			done, err = briefly(t.Context(), tx, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), "DROP something")
				return err
			})
			return err
		})
		if refuses >= 0 && m.refused == "" {
			break
		}
		all := m.refused == "" || m.refused == "commit" || strings.HasPrefix(m.refused, "release")
		if done != all || (err != nil) != (refuses >= 0) {
			t.Errorf("%q is refused, and it is done: %t, %v", m.refused, done, err)
		}
	}
}

// TestReadersAreWaitedForAgain shows a release: only where readers kept that from being done is it
// postponed.
func TestReadersAreWaitedForAgain(t *testing.T) {
	t.Parallel()
	for state, postponed := range map[string]bool{"": false, lockNotAvailable: true, insufficientPrivilege: false} {
		of := boundTable(t)
		m := newMemoryServer(t, usualAnswers(of)...)
		if state != "" {
			m.answers = append([]answer{{words: "CREATE OR REPLACE", state: state}}, m.answers...)
		}
		a := m.applier(of)
		err := within(t.Context(), a.session, func(tx pgx.Tx) error {
			err := a.writer.tryShow(t.Context(), tx, tables{of}, nil)
			if of.release.shown != (state == "") {
				t.Errorf("refused by %q, it is shown: %t", state, of.release.shown)
			}
			return err
		})
		if (err != nil) != (state == insufficientPrivilege) || of.release.postponed.IsZero() == postponed {
			t.Errorf("refused by %q, it is postponed at %v: %v", state, of.release.postponed, err)
		}
	}
}

// TestFindingsThatEndTheSession has something be found that ends the session, at whatever commit
// boundary is next.
func TestFindingsThatEndTheSession(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	for name, next := range map[string]func(a *applier) error{
		"nothing new": func(a *applier) error { a.group.rows = 0; return a.flushIfDue(t.Context()) },
		"changes":     func(a *applier) error { a.group.rows = 3; return a.flushIfDue(t.Context()) },
		"a keepalive": func(a *applier) error { a.group.rows, a.writer.spilled = 0, nil; return a.keepalive(t.Context(), 901) },
		"a group landed": func(a *applier) error {
			a.writer.batches = []*batch{landed(910, nil)}
			return a.batchWritten(t.Context())
		},
	} {
		a, store := storedApplier(t, of)
		store.position = 900
		if a.end = 1000; name == "a group landed" {
			store.position = 910
		}
		a.found = &finding{err: errRestart}
		if err := next(a); !errors.Is(err, errRestart) || a.found != nil {
			t.Errorf("%s: it goes on: %v", name, err)
		}
	}
}
