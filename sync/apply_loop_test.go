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
)

// TestDueTablesAreAwaited sets the clock for tables that publish by it: the first of them is
// waited for, neither too short nor too long, and none where none does.
func TestDueTablesAreAwaited(t *testing.T) {
	t.Parallel()
	const never = time.Duration(1 << 62)
	for _, test := range []struct {
		due  []time.Duration // from now on
		want time.Duration
	}{
		{nil, never},
		{[]time.Duration{never}, never},
		{[]time.Duration{time.Second}, time.Second},
		{[]time.Duration{2 * time.Second, time.Second, never}, time.Second},
		{[]time.Duration{time.Second, 2 * time.Second}, time.Second},
		{[]time.Duration{time.Hour}, maxWait},
		{[]time.Duration{-time.Hour, time.Hour}, minWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := memoryApplier()
			now, marked := time.Now(), 0
			for _, due := range test.due {
				of := &table{mode: dueStage{}}
				if due != never {
					of.mode = dueStage{at: now.Add(due)}
				}
				if due <= 0 {
					marked++
				}
				a.session.tables = append(a.session.tables, of)
			}
			if any := a.session.tables.markDue(a.session.syncer.config.Now()); any != (marked > 0) {
				t.Errorf("%v: something is due: %t", test.due, any)
			}
			for i, due := range test.due {
				if a.session.tables[i].pending.dirty != (due <= 0) {
					t.Errorf("%v: table %d is due: %t", test.due, i, a.session.tables[i].pending.dirty)
				}
			}
			a.due.Reset(time.Nanosecond) // what was set before does not count
			a.waitForDue()
			select {
			case at := <-a.due.C:
				if got := at.Sub(now); got != test.want {
					t.Errorf("%v: it is looked after %v", test.due, got)
				}
			case <-time.After(24 * time.Hour):
				if test.want != never {
					t.Errorf("%v: nothing is waited for", test.due)
				}
			}
		})
	}
	now := time.Unix(5, 0)
	a := memoryApplier(&table{mode: dueStage{at: now}}, &table{mode: dueStage{at: now.Add(1)}})
	if a.session.syncer.config.Now = func() time.Time { return now }; !a.session.tables.markDue(a.session.syncer.config.Now()) || !a.session.tables[0].pending.dirty || a.session.tables[1].pending.dirty {
		t.Error("what is due by the clock is not, or what is not is")
	}
}

// TestDueTablesArePublished has the time of a table come, at a commit boundary and elsewhere.
func TestDueTablesArePublished(t *testing.T) {
	t.Parallel()
	failure := errors.New("unsettled")
	for _, test := range []struct {
		due     time.Duration
		failure error
		written bool
	}{{-1, nil, true}, {time.Hour, nil, false}, {-1, failure, false}} {
		of := partsTable(t)
		m := newMemoryServer(t, usualAnswers(of)...)
		a := m.applier(of)
		of.mode = dueStage{updateMode: of.mode, at: time.Now().Add(test.due), failure: test.failure}
		if err := a.publishDue(t.Context()); !errors.Is(err, test.failure) || a.session.position != 900 {
			t.Errorf("%+v: it ends with %v", test, err)
		}
		if written := strings.Contains(m.log(), "commit"); written != test.written || of.pending.dirty != (test.failure != nil) {
			t.Errorf("%+v: it is written: %t", test, written)
		}
		if waits := a.due.Stop(); waits != (test.failure == nil) {
			t.Errorf("%+v: the next time is waited for: %t", test, waits)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		of := partsTable(t)
		a, store := storedApplier(t, of)
		of.mode = dueStage{updateMode: of.mode, at: time.Now()}
		a.transaction.open = true
		now := time.Now()
		if err := a.publishDue(t.Context()); err != nil || store.lsn[of.layout.name()] != 0 || of.pending.dirty {
			t.Errorf("something is published amid a transaction: %v", err)
		}
		if at := <-a.due.C; at.Sub(now) != retryDue {
			t.Errorf("it is looked again after %v", at.Sub(now))
		}
	})
}

// TestTicks has the applier look for what is to be done now and then: transactions that changed
// no table have the position move, at a commit boundary.
func TestTicks(t *testing.T) {
	t.Parallel()
	of := partsTable(t)
	for _, test := range []struct {
		passed, position pglogrepl.LSN
		amid             bool
	}{{950, 960, false}, {901, 960, false}, {900, 900, false}, {950, 900, true}} {
		m := newMemoryServer(t)
		a := m.applier(of)
		a.lastWithChanges, a.end, a.transaction.open = test.passed, 960, test.amid
		if err := a.tick(t.Context()); err != nil || a.session.position != test.position || !strings.Contains(m.log(), "SELECT id, table_schema") {
			t.Errorf("%+v: the position is %s: %v", test, a.session.position, err)
		}
	}
	const words = "SELECT id, table_schema"
	a := newMemoryServer(t, answer{words: words, state: "40001"}).applier(of)
	if a.lastWithChanges, a.end = 950, 960; a.tick(t.Context()) == nil || a.session.position != 900 {
		t.Errorf("requests that cannot be read are left, at %s", a.session.position)
	}
	a = newMemoryServer(t, answer{words: "UPDATE kproxy_store.position", state: refusedState}).applier(of)
	a.renewer.outcomes = []outcome{{request: 1, problem: "none"}}
	if a.tick(t.Context()) == nil {
		t.Error("an answer that cannot be given is forgotten")
	}
	if a.lastWithChanges = 950; a.tick(t.Context()) == nil {
		t.Error("a position that cannot be moved is taken for moved")
	}
}

// running has an applier run until it ends, after something was prepared.
func running(t *testing.T, a *applier, prepare func(a *applier, messages chan<- []message)) error {
	t.Helper()
	messages := make(chan []message, 10)
	a.stream = &stream{messages: messages, end: func() {}}
	a.watcher = newWatcher(a.session)
	prepare(a, messages)
	return a.run(t.Context())
}

// TestWhateverComesIsTakenUp has each thing that an applier waits for come, alone: it ends with
// what is wrong with that.
func TestWhateverComesIsTakenUp(t *testing.T) {
	t.Parallel()
	failure, broken := &StopError{What: "what"}, errors.New("broken")
	for name, prepare := range map[string]func(a *applier, messages chan<- []message){
		"a newcomer": func(a *applier, _ chan<- []message) {
			a.session.jobs = []job{{publication: a.session.tables[0].layout.publication}}
			a.joiner.worker.ready <- &preparedTable{job: a.session.jobs[0], err: broken}
		},
		"a finding": func(a *applier, _ chan<- []message) { a.watcher.found <- finding{err: failure} },
		"a message": func(_ *applier, messages chan<- []message) { messages <- []message{{data: []byte("Z")}} },
		"a group":   func(a *applier, _ chan<- []message) { a.writer.batches = []*batch{landed(910, failure)} },
		"what is due": func(a *applier, _ chan<- []message) {
			a.session.tables[0].mode = dueStage{updateMode: a.session.tables[0].mode, at: time.Now(), failure: failure}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := partsTable(t)
			a := newMemoryServer(t, usualAnswers(of)...).applier(of)
			stop := (*StopError)(nil)
			if err := running(t, a, prepare); !errors.Is(err, broken) && !errors.As(err, &stop) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	ended := func(_ *applier, messages chan<- []message) { close(messages) }
	if err := running(t, newMemoryServer(t).applier(), ended); err != nil {
		t.Errorf("the end of the stream is taken for %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := newMemoryServer(t).applier()
	a.stream, a.watcher = &stream{}, newWatcher(a.session)
	cancel()
	if err := a.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// TestSessionsEndWithTheirStream has a session apply until its stream ends, or something is
// wrong with what comes: the stream is stopped, and the cause is told.
func TestSessionsEndWithTheirStream(t *testing.T) {
	t.Parallel()
	lost := errors.New("the connection is lost")
	for name, test := range map[string]struct {
		comes []message
		want  error
	}{
		"the stream ends": {nil, lost}, "a message cannot be read": {[]message{{data: []byte("B")}}, errMessage},
	} {
		s := newMemoryServer(t).session()
		messages, stopped := make(chan []message, 1), 0
		first := &stream{messages: messages, failure: lost, end: func() {
			if stopped++; test.comes != nil {
				close(messages)
			}
		}}
		if messages <- test.comes; test.comes == nil {
			close(messages)
		}
		if err := s.apply(t.Context(), newWatcher(s), first); !errors.Is(err, test.want) || stopped != 1 {
			t.Errorf("%s: it ends with %v, and the stream is stopped %d times", name, err, stopped)
		}
	}
}

// TestTheStreamBeginsAnew has the server send the stream from the position once more: what it
// described is forgotten. A stream that cannot be begun again is still the applier's.
func TestTheStreamBeginsAnew(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"", insufficientPrivilege} {
		m := newMemoryServer(t, answer{words: "SELECT pg_catalog.pg_advisory", rows: [][]any{{"t"}}, state: state})
		a := m.applier()
		var err error
		if a.stream, err = a.session.startStream(t.Context()); err != nil {
			t.Fatal(err)
		}
		first := a.stream
		a.relations.known[5], a.end, a.lastWithChanges = &relation{}, 950, 940
		err = a.rewind(t.Context())
		anew := state == ""
		if (err == nil) != anew || (a.stream == first) == anew || (len(a.relations.known) == 0) != anew || (a.end == 0) != anew || (a.lastWithChanges == 0) != anew {
			t.Errorf("refused by %q, it ends with %v; %d relations are known, up to %s", state, err, len(a.relations.known), a.end)
		}
		if got := strings.Count(m.log(), "START_REPLICATION"); (got == 2) != anew {
			t.Errorf("the stream is begun %d times", got)
		}
		if anew {
			if err := a.stream.stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("it is stopped with %v", err)
			}
		}
	}
}

// TestNothingIsTakenOfTheStreamBefore has a table join amid some messages, which makes the stream
// begin anew: those behind are left, as they come again.
func TestNothingIsTakenOfTheStreamBefore(t *testing.T) {
	t.Parallel()
	of := boundTable(t)
	a := newMemoryServer(t, append(usualAnswers(of), answer{words: "SELECT pg_catalog.pg_advisory", rows: [][]any{{"t"}}})...).applier(of)
	var err error
	if a.stream, err = a.session.startStream(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.stream.stop() }()
	a.watcher = newWatcher(a.session)
	a.session.jobs = []job{{publication: of.layout.publication, kind: publishAfresh, generation: 7}}
	a.joiner.prepared = &preparedTable{job: a.session.jobs[0], table: of, at: 890}
	of.release.position, a.relations.lastChange[1000] = 890, 895
	w := &wal{}
	messages := slices.Concat(w.transaction(of, 1000, 0)[2:], w.transaction(of, 1100, 0))
	if err := a.take(t.Context(), messages); err != nil || a.transaction.open || a.joiner.prepared != nil || a.session.position != 890 || a.end != 0 {
		t.Errorf("the position is %s, with a newcomer %v, amid a transaction %t: %v", a.session.position, a.joiner.prepared, a.transaction.open, err)
	}
}
