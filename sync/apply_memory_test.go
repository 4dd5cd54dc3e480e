package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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

// memoryTx is a transaction of a store that notes what it is asked for.
type memoryTx struct {
	pgx.Tx
	log     *[]string
	hit     int64 // rows that the position has
	refuses string
}

func (tx memoryTx) note(what string, arguments []any) error {
	*tx.log = append(*tx.log, strings.TrimSpace(what+" "+strings.Trim(fmt.Sprint(arguments), "[]")))
	if tx.refuses != "" && strings.HasPrefix(what, tx.refuses) {
		return &pgconn.PgError{Code: "40001"}
	}
	return nil
}

func (tx memoryTx) Exec(_ context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	if strings.HasPrefix(sql, "UPDATE kproxy_store.position SET lsn") {
		sql = "position"
	}
	return pgconn.NewCommandTag(fmt.Sprint("UPDATE ", tx.hit)), tx.note(sql, arguments)
}

func (tx memoryTx) Commit(context.Context) error   { return tx.note("commit", nil) }
func (tx memoryTx) Rollback(context.Context) error { return tx.note("rollback", nil) }

// memoryApplier applies tables in memory.
func memoryApplier(tables ...*table) *applier {
	s := &Syncer{
		config: Config{
			Slot: "slot", Heartbeat: time.Second, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			Failpoint: func(string) {}, Changed: func(Status) {},
		},
		status: Status{Tables: map[catalog.Name]TableStatus{}}, published: make(chan struct{}),
	}
	a := newApplier(&session{syncer: s, tables: tables, store: store{slot: "slot", epoch: 5}, progressed: &progress{}}, nil, nil)
	a.due, a.grown, a.moved = time.NewTimer(0), time.NewTimer(time.Hour), time.Now()
	a.renewer = newRenewer(a)
	a.renewer.ticker.Stop()
	return a
}

// TestWrittenIsAnnounced has a group be written: the status that is announced has its end as the position.
func TestWrittenIsAnnounced(t *testing.T) {
	t.Parallel()
	a := memoryApplier()
	a.session.position = 100
	var announced []pglogrepl.LSN
	a.session.syncer.config.Changed = func(s Status) { announced = append(announced, s.Position) }
	a.writer.spilled, a.group.rows = memoryTx{log: new([]string), hit: 1}, 1
	if err := a.startBatch(t.Context(), 200); err != nil || len(announced) > 0 {
		t.Fatalf("announced before the commit are %v: %v", announced, err)
	}
	if err := a.writer.awaitAll(t.Context()); err != nil || !slices.Equal(announced, []pglogrepl.LSN{200}) {
		t.Errorf("announced are %v: %v", announced, err)
	}
}

// TestGroupsCommitInOrder sends two groups on their way, the first of which meets each thing
// that can go wrong. The position moves in the transaction that writes, from where the group
// before it ended, before anything else is written; nothing is committed that is not whole,
// nor after a group that is lost, and position, acknowledgement and figures wait for the
// commit.
func TestGroupsCommitInOrder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hit     int64
		refuses string
		want    string
		err     error
	}{
		"written":       {hit: 1, want: "position slot 5 0/64 0/C8; commit; position slot 5 0/C8 0/12C; commit"},
		"overtaken":     {hit: 0, want: "position slot 5 0/64 0/C8; rollback", err: errFenced},
		"two positions": {hit: 2, want: "position slot 5 0/64 0/C8; rollback", err: errFenced},
		"refused":       {hit: 1, refuses: "position", want: "position slot 5 0/64 0/C8; rollback"},
		"commit fails":  {hit: 1, refuses: "commit", want: "position slot 5 0/64 0/C8; commit; rollback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log []string
			a := memoryApplier()
			a.session.position = 100
			a.writer.spilled = memoryTx{log: &log, hit: test.hit, refuses: test.refuses}
			for _, to := range []pglogrepl.LSN{200, 300} {
				if a.writer.spilled == nil {
					a.writer.spilled = memoryTx{log: &log, hit: 1}
				}
				a.group.rows = 1
				if err := a.startBatch(t.Context(), to); err != nil {
					t.Fatal(err)
				}
				if a.session.position != 100 || a.session.shared.ack.lsn() != 0 {
					t.Fatalf("the position is %s before anything has landed", a.session.position)
				}
			}
			err := a.writer.awaitAll(t.Context())
			wrong := test.refuses != "" || test.err != nil
			if (err != nil) != wrong || test.err != nil && !errors.Is(err, test.err) || errors.Is(err, errIncomplete) {
				t.Errorf("it ends with %v", err)
			}
			if got := strings.Join(log, "; "); got != test.want {
				t.Errorf("the store was asked for\n%s\nnot for\n%s", got, test.want)
			}
			position, acknowledged := pglogrepl.LSN(300), pglogrepl.LSN(300)
			if wrong {
				position, acknowledged = 100, 0
			}
			if a.session.position != position || a.session.shared.ack.lsn() != acknowledged || len(a.writer.batches) > 0 {
				t.Errorf("the position is %s, and %s acknowledged; %d groups are under way", a.session.position, a.session.shared.ack.lsn(), len(a.writer.batches))
			}
			if status := a.session.syncer.Status(); (status.Position == 300) == wrong {
				t.Errorf("the status tells of %s", status.Position)
			}
		})
	}
}

// TestNothingHalfIsCommitted has the orders of a group fail: while they are made, and when the
// server executes them.
func TestNothingHalfIsCommitted(t *testing.T) {
	t.Parallel()
	failure := &pgconn.PgError{Code: "57014"}
	for _, given := range []bool{false, true} {
		var log []string
		a := memoryApplier()
		f := &batch{to: 7, tx: memoryTx{log: &log, hit: 1}, steps: make(chan step, 1), complete: given}
		if given {
			f.steps <- func(context.Context, pgx.Tx) error { return failure }
		}
		close(f.steps)
		err := a.writer.write(t.Context(), f)
		if given && !errors.Is(err, failure) || !given && !errors.Is(err, errIncomplete) || slices.Contains(log, "commit") || !slices.Contains(log, "rollback") {
			t.Errorf("it ends with %v after %v", err, log)
		}
	}
	gone := &batch{steps: make(chan step), ended: make(chan struct{}), err: failure}
	close(gone.ended)
	if err := gone.add(nil); !errors.Is(err, failure) {
		t.Errorf("an order for a group that is lost ends with %v", err)
	}
}

// TestShownOnceCaughtUp has groups depart while generations are not shown yet: those are shown
// which the group reaches, each of them, and no earlier than their readers allow.
func TestShownOnceCaughtUp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		shows     [3]pglogrepl.LSN
		postponed time.Duration
		want      int
	}{
		{[3]pglogrepl.LSN{0, 0, 0}, time.Hour, 0},
		{[3]pglogrepl.LSN{50, 0, 50}, time.Hour, 2},
		{[3]pglogrepl.LSN{49, 50, 51}, time.Hour, 2},
		{[3]pglogrepl.LSN{50, 50, 50}, postponement - time.Second, 0},
	} {
		var tables []*table
		for _, shows := range test.shows {
			of := memoryTable(t, sizeOnly(3))
			of.release.showAt, of.release.postponed = shows, time.Now().Add(-test.postponed)
			tables = append(tables, of)
		}
		a := memoryApplier(tables...)
		a.renewer.outcomes = []outcome{{request: 1, problem: "none"}}
		f := &batch{to: 50, steps: make(chan step, 10), ended: make(chan struct{})}
		if err := a.fillBatch(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if got := len(f.steps) - 1; got != test.want || len(a.renewer.outcomes) > 0 || len(f.status) != len(tables) {
			t.Errorf("%v: %d are shown, %d expected; %d answers are left, %d figures", test.shows, got, test.want, len(a.renewer.outcomes), len(f.status))
		}
	}
}

// TestAcknowledgedIsHeldBack compares what is acknowledged with what it must not exceed: what
// is stored, and where a snapshot was taken that a table joins from.
func TestAcknowledgedIsHeldBack(t *testing.T) {
	t.Parallel()
	var a acknowledgement
	for _, test := range []struct{ stored, held, want uint64 }{{0, 0, 0}, {9, 0, 9}, {9, 7, 7}, {9, 9, 9}, {7, 9, 7}, {9, 1, 1}} {
		a.stored.Store(test.stored)
		a.held.Store(test.held)
		if got := a.lsn(); uint64(got) != test.want {
			t.Errorf("%+v: %d is acknowledged", test, got)
		}
	}
}

// TestAppliedNeverGoesBack notes positions in any order, some of them while a release that
// readers see is left behind.
func TestAppliedNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := &Syncer{}
	if _, is := s.Applied(); is {
		t.Error("something is applied before anything")
	}
	p := &progress{system: "one", epoch: 3}
	p.timeline.Store(2)
	s.progress.Store(p)
	if _, is := s.Applied(); is {
		t.Error("something is applied before the first position")
	}
	ses := &session{syncer: s, progressed: p}
	random, want := rand.New(rand.NewPCG(1, 1)), uint64(0)
	for range 200 {
		inStep, to := random.IntN(2) == 0, random.Uint64N(1000)+1
		if p.inStep.Store(inStep); inStep {
			want = max(want, to)
		}
		ses.consume(pglogrepl.LSN(to))
		if ses.shared.consumed.Load() != to {
			t.Fatalf("%d is consumed, not %d", ses.shared.consumed.Load(), to)
		}
		applied, is := s.Applied()
		if is != (want > 0) || is && applied != (Applied{Position: pglogrepl.LSN(want), Epoch: 3, System: "one", Timeline: 2}) {
			t.Fatalf("%+v is applied, %t, not %d", applied, is, want)
		}
	}
}

// TestInStepWithReaders has the status keep its position while a table that readers see is not
// applied, and what is applied while they see a release that its successor catches up.
func TestInStepWithReaders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		applied         bool
		shows           pglogrepl.LSN
		previous        int64
		state           TableState
		inStep, follows bool
	}{
		{"applied", true, 0, 0, Published, true, true},
		{"first release catches up", true, 9, 0, Unpublished, true, true},
		{"another release catches up", true, 9, 3, Published, false, true},
		{"compared with its source", false, 0, 0, Published, false, false},
		{"halted", false, 0, 0, Halted, true, true},
	} {
		of := memoryTable(t, sizeOnly(3))
		of.release.showAt, of.release.previous = test.shows, test.previous
		a := memoryApplier()
		a.session.syncer.status.Tables[of.layout.name()] = TableStatus{State: test.state}
		if test.applied {
			a.session.tables = append(a.session.tables, of)
		}
		a.session.position = 42
		a.session.report(a.session.figures())
		if inStep := a.session.progressed.inStep.Load(); inStep != test.inStep || (a.session.progressed.shown.Load() == 42) != test.inStep {
			t.Errorf("%s: in step is %t", test.name, inStep)
		}
		if follows := a.session.syncer.Status().Position == 42; follows != test.follows {
			t.Errorf("%s: the status has the position: %t", test.name, follows)
		}
		if status := a.session.syncer.Status().Tables[of.layout.name()]; test.applied && (status.State != test.state || status.Preparing != (test.shows != 0) || status.Generation != 7) {
			t.Errorf("%s: the table is %+v", test.name, status)
		}
	}
}

// TestWithheldTablesAreWarnedOf has a table withheld as a whole, published, and withheld again:
// the log warns when that begins, of a table that has records.
func TestWithheldTablesAreWarnedOf(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	var logged []slog.Level
	a := memoryApplier()
	a.session.syncer.config.Logger, a.session.tables = slog.New(levels{logged: &logged}), []*table{of}
	for i, step := range []struct {
		reason   string
		records  int
		warnings int
	}{{"", 9, 0}, {"too few values", 9, 1}, {"too few values", 9, 1}, {"too few persons", 9, 1}, {"", 9, 1}, {"too few values", 9, 2}, {"", 0, 2}, {"no records", 0, 2}} {
		a.session.report(map[*table]TableStatus{of: {State: Published, Reason: step.reason, Records: step.records}})
		if len(logged) != step.warnings {
			t.Errorf("step %d: %d warnings, wanted were %d", i, len(logged), step.warnings)
		}
	}
}

// TestPublishedIsAnnounced announces that there is nothing more to wait for once every table
// of the configuration is published or halted, and not before.
func TestPublishedIsAnnounced(t *testing.T) {
	t.Parallel()
	a := memoryApplier()
	one, two := catalog.Name{Relation: "one"}, catalog.Name{Relation: "two"}
	a.session.syncer.tables = []catalog.Publication{{Policy: catalog.TablePolicy{Table: one}}, {Policy: catalog.TablePolicy{Table: two}}}
	is := func() bool {
		select {
		case <-a.session.syncer.published:
			return true
		default:
			return false
		}
	}
	for _, step := range []struct {
		do   func()
		want bool
	}{
		{func() { a.session.syncer.setTable(one, TableStatus{State: Published}) }, false},
		{func() { a.session.syncer.setState(Streaming, "", "") }, false},
		{func() {
			a.session.syncer.setTable(two, TableStatus{State: Halted})
			a.session.syncer.setState(Reconnecting, "", "")
		}, false},
		{func() { a.session.syncer.setState(Following, "", "") }, true},
		{func() { a.session.syncer.setState(Streaming, "", "") }, true},
	} {
		if step.do(); is() != step.want {
			t.Errorf("announced is %t", is())
		}
	}
}

// TestMissed compares with the words of missed: a newcomer has to see again what its relation
// has brought since its snapshot; of partitioned tables, what no other table is known to have.
func TestMissed(t *testing.T) {
	t.Parallel()
	const root, leaf, others = 1000, 1001, 2000
	other := memoryTable(t, sizeOnly(3))
	other.layout.publication.Policy.Table.Relation = "others"
	own := memoryTable(t, sizeOnly(3))
	for _, test := range []struct {
		name  string
		kind  catalog.Kind
		heard map[uint32]pglogrepl.LSN
		want  bool
	}{
		{"nothing", catalog.KindTable, nil, false},
		{"before", catalog.KindTable, map[uint32]pglogrepl.LSN{root: 99}, false},
		{"at", catalog.KindTable, map[uint32]pglogrepl.LSN{root: 100}, true},
		{"behind", catalog.KindTable, map[uint32]pglogrepl.LSN{root: 101, others: 50}, true},
		{"of another", catalog.KindTable, map[uint32]pglogrepl.LSN{others: 200, leaf: 200}, false},
		{"of a leaf", catalog.KindPartitionedTable, map[uint32]pglogrepl.LSN{leaf: 100}, true},
		{"of a leaf before", catalog.KindPartitionedTable, map[uint32]pglogrepl.LSN{leaf: 99}, false},
		{"of one that nobody knows", catalog.KindPartitionedTable, map[uint32]pglogrepl.LSN{3000: 100}, true},
		{"of another beside partitions", catalog.KindPartitionedTable, map[uint32]pglogrepl.LSN{others: 100}, false},
		{"of one that is not applied", catalog.KindPartitionedTable, map[uint32]pglogrepl.LSN{4000: 100}, true},
	} {
		described := relations{lastChange: test.heard, known: map[uint32]*relation{others: {table: other}, leaf: {table: own}, 4000: {}}}
		n := &preparedTable{at: 100}
		n.job.publication = own.layout.publication
		n.job.publication.Relation.Kind = test.kind
		if got := described.missed(n); got != test.want {
			t.Errorf("%s: missed is %t", test.name, got)
		}
	}
}

// TestGroupsEnd looks at when a group is sent on its way: at once where nothing waits behind
// it, after the time that writing the last one took where something does, when it is large;
// and while another one is under way, only where that is worth it.
func TestGroupsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := []*batch{{}}
		for _, test := range []struct {
			name    string
			more    bool
			lags    bool
			age     time.Duration
			wrote   time.Duration
			rows    int
			bytes   int
			flights []*batch
			shows   pglogrepl.LSN
			want    bool
		}{
			{name: "nothing behind it", rows: 1, want: true},
			{name: "young", more: true, rows: 1, age: groupTime - 1, want: false},
			{name: "old", more: true, rows: 1, age: groupTime, want: true},
			{name: "old, and writing takes longer", more: true, rows: 1, age: groupTime, wrote: groupTime + 1, want: false},
			{name: "older", more: true, rows: 1, age: groupTime + 1, wrote: groupTime + 1, want: true},
			{name: "nothing behind it, but the server lags", lags: true, rows: 1, age: groupTime - 1, want: false},
			{name: "old, and the server lags", lags: true, rows: 1, age: groupTime, want: true},
			{name: "large, and the server lags", lags: true, rows: groupRows, want: true},
			{name: "large", more: true, rows: groupRows, flights: one, want: true},
			{name: "nearly large", more: true, rows: groupRows - 1, flights: one, want: false},
			{name: "wide", more: true, rows: 1, bytes: groupBytes, flights: one, want: true},
			{name: "nearly wide", more: true, rows: 1, bytes: groupBytes - 1, flights: one, want: false},
			{name: "small behind another", rows: aheadRows() - 1, flights: one, want: false},
			{name: "middling behind another", rows: aheadRows(), flights: one, want: true},
			{name: "middling behind another, with more", more: true, rows: aheadRows(), flights: one, want: false},
			{name: "middling behind two others", rows: aheadRows(), flights: []*batch{{}, {}}, want: false},
			{name: "middling, and a release is not shown", rows: aheadRows(), flights: one, shows: 9, want: false},
		} {
			of := memoryTable(t, sizeOnly(3))
			of.pending.bytes, of.release.showAt = test.bytes, test.shows
			g := &group{moreReceived: test.more, lagging: test.lags, rows: test.rows, writeTime: test.wrote, began: time.Now()}
			time.Sleep(test.age)
			if got := g.isComplete(tables{of}, len(test.flights)); got != test.want {
				t.Errorf("%s: complete is %t", test.name, got)
			}
		}
	})
}

// TestBoundary takes each thing away that keeps store and memory from agreeing.
func TestBoundary(t *testing.T) {
	t.Parallel()
	for i, a := range []*applier{{}, {transaction: transaction{open: true}}, {group: group{rows: 1}}, {writer: writer{spilled: memoryTx{}}}, {writer: writer{batches: []*batch{{}}}}} {
		if got := a.atBoundary(); got != (i == 0) {
			t.Errorf("%d: at a boundary is %t", i, got)
		}
	}
	ready := &renewer{ready: &renewal{}}
	for i, a := range []*applier{{renewer: &renewer{}}, {renewer: &renewer{}, joiner: joiner{prepared: &preparedTable{}}}, {renewer: &renewer{}, found: &finding{}}, {renewer: ready}} {
		if got := a.isAwaited(); got != (i > 0) {
			t.Errorf("%d: awaited is %t", i, got)
		}
	}
	for position := range pglogrepl.LSN(3) {
		for end := range pglogrepl.LSN(3) {
			a := &applier{session: &session{position: position}, end: end}
			if a.streamPosition() != max(position, end) {
				t.Errorf("a stream that was consumed up to %s stands at %s", max(position, end), a.streamPosition())
			}
		}
	}
}

// TestFlushed notes what is stored: a table's position goes ahead only, and a release that has
// appeared is the one that readers see.
func TestFlushed(t *testing.T) {
	t.Parallel()
	for _, appears := range []bool{false, true} {
		of := &table{release: releaseState{position: 10, showAt: 8, previous: 3, shown: appears}}
		of.release.stored(9)
		if of.release.position != 10 {
			t.Errorf("the position is %s", of.release.position)
		}
		of.release.stored(11)
		if of.release.position != 11 || of.release.shown || (of.release.showAt == 0) != appears || (of.release.previous == 0) != appears {
			t.Errorf("appears %t: %s, shown from %s on instead of %d", appears, of.release.position, of.release.showAt, of.release.previous)
		}
	}
}

// TestBehind measures for how long the position has been behind the end of the WAL.
func TestBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watcher{}
		type look struct {
			at  time.Time
			end uint64
		}
		var looks []look
		for i := range uint64(5 * maxMarks) {
			end, position := 10*i, 10*(i/3) // it falls behind
			looks = append(looks, look{time.Now(), end})
			want := time.Duration(0)
			for _, l := range looks {
				if l.end > position {
					want = time.Since(l.at)
					break
				}
			}
			got := w.behind(end, position)
			// Where marks thin out, the oldest that is kept may be a later one.
			if got > want || i < maxMarks && got != want || 4*got < 3*want {
				t.Fatalf("look %d: behind for %v, not %v", i, got, want)
			}
			if len(w.seen) > maxMarks {
				t.Fatalf("%d marks are kept", len(w.seen))
			}
			time.Sleep(time.Second)
		}
		if got := w.behind(1<<40, 1<<40); got != 0 || len(w.seen) > 0 {
			t.Errorf("behind for %v where nothing is left", got)
		}
	})
}
