package sync

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// TestLoadingTellsHowFarItIs counts batches of any size: whoever waits is told once for each
// progressRows, of as many records as there are by then.
func TestLoadingTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for _, most := range []int{3, progressRows / 3, 3 * progressRows} {
		v := &storeView{ranges: make([]sourceRange, 3)}
		points, taken, told := 0, 0, 0
		v.failpoint = func(string) { points++ }
		count := v.counting(func(b *rowBatch) error { taken += b.rows; return nil }, func(done int) {
			if done != taken || done/progressRows == told/progressRows {
				t.Fatalf("of %d records, %d are told, after %d", taken, done, told)
			}
			told = done
		})
		for range 4 {
			for range 200 {
				if err := count(&rowBatch{rows: random.IntN(most)}); err != nil {
					t.Fatal(err)
				}
				if taken/progressRows != told/progressRows {
					t.Fatalf("of %d records, the last that were told are %d", taken, told)
				}
			}
			if err := count(&rowBatch{last: true}); err != nil {
				t.Fatal(err)
			}
		}
		if points != 1 {
			t.Errorf("half of the ranges are read %d times", points)
		}
	}
	failure := errors.New("no room")
	if err := (&storeView{}).counting(func(*rowBatch) error { return failure }, nil)(&rowBatch{}); !errors.Is(err, failure) {
		t.Errorf("a batch that is not taken ends with %v", err)
	}
}

// TestRangesCoverTheStore cuts records of any number of blocks: each block lies in one range.
func TestRangesCoverTheStore(t *testing.T) {
	t.Parallel()
	for blocks := int64(1); blocks < 40; blocks++ {
		for size := int64(1); size < 12; size++ {
			for _, can := range []bool{false, true} {
				v := &storeView{}
				v.cut(blocks, size, can)
				next := int64(0)
				for i, r := range v.ranges {
					last := i == len(v.ranges)-1
					if r.from != next || last != (r.to == 0) || !last && r.to-r.from != size {
						t.Fatalf("%d blocks by %d: %+v", blocks, size, v.ranges)
					}
					next = r.to
				}
				if want := (blocks + size - 1) / size; can && int64(len(v.ranges)) != want || !can && len(v.ranges) != 1 {
					t.Fatalf("%d blocks by %d: %+v", blocks, size, v.ranges)
				}
			}
		}
	}
}

// seen is a transaction that sees a generation.
type seen struct {
	pgx.Tx
	generation
}

func (tx seen) QueryRow(context.Context, string, ...any) pgx.Row { return tx }

func (tx seen) Scan(into ...any) error {
	*into[0].(*pglogrepl.LSN), *into[1].(*incremental.RecordID), *into[2].(*incremental.ClassID) = tx.lsn, tx.nextRecord, tx.nextClass
	return nil
}

// TestLoadedIsWhatWasSeen: a store in which another process has written meanwhile is not loaded,
// whichever of position, records and classes shows it.
func TestLoadedIsWhatWasSeen(t *testing.T) {
	t.Parallel()
	then := generation{number: 7, lsn: 100, nextRecord: 9, nextClass: 4}
	for name, change := range map[string]func(*generation){
		"nothing": func(*generation) {}, "position": func(g *generation) { g.lsn = 200 },
		"records": func(g *generation) { g.nextRecord = 10 }, "classes": func(g *generation) { g.nextClass = 5 },
	} {
		now := then
		change(&now)
		err := new(store).checkUnchanged(t.Context(), seen{generation: now}, then)
		if errors.Is(err, errFenced) != (name != "nothing") {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}

// TestSinkSendsInTime queues statements with arrays of any size: they are sent when the rows
// that they are about come to sinkRows, before any rows that are copied, in their order, and
// not after a failure.
func TestSinkSendsInTime(t *testing.T) {
	t.Parallel()
	of := func(rows int) *array { return numbers(make([]incremental.RecordID, rows)) }
	var got []string
	failure := error(nil)
	s := &statements{send: func(c chunk) error {
		if c.batch == nil {
			got = append(got, c.into)
		} else {
			for _, q := range c.batch.QueuedQueries {
				got = append(got, q.SQL)
			}
		}
		got = append(got, ";")
		return failure
	}}
	told := func() string { all := strings.Join(got, " "); got = nil; return all }
	half := maxStatementRows / 2
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.Queue("a", of(half)) }, ""},
		{func() { s.Queue("b", of(half-1), of(1), "text") }, ""}, // the longest counts
		{func() { s.Queue("c", of(1)) }, "a b c ;"},
		{func() { s.Queue("d", of(maxStatementRows-1)) }, ""},
		{func() { s.Queue("e", "text") }, ""}, // without rows
		{func() { s.Copy("t", []byte("row\n")) }, "d e ; t ;"},
		{func() { s.Copy("t", nil) }, ""},
		{func() { s.Queue("f", of(1), of(maxStatementRows)) }, "f ;"},
		{func() { s.Queue("g"); _ = s.close() }, "g ;"},
		{func() { failure = errors.New("full"); s.Queue("h", of(maxStatementRows)) }, "h ;"},
		{func() { s.Queue("i", of(maxStatementRows)); s.Copy("t", []byte("row\n")); s.flush() }, ""},
	} {
		if step.do(); told() != step.want {
			t.Errorf("step %d sends otherwise than %q", i, step.want)
		}
	}
	if err := s.close(); !errors.Is(err, failure) || len(got) > 0 {
		t.Errorf("it ends with %v, and sends %v", err, got)
	}
}

// TestFirstFailureEndsLoading has one side of what is read of a store fail: that is told, not
// what it did to the other side.
func TestFirstFailureEndsLoading(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	fine := func(context.Context) error { return nil }
	fails := func(context.Context) error { return cause }
	ends := func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("reading: %w", ctx.Err()) }
	for name, test := range map[string]struct {
		records, others func(context.Context) error
		want            error
	}{
		"none":                              {fine, fine, nil},
		"the records":                       {fails, fine, cause},
		"the others":                        {fine, fails, cause},
		"the others, which end the records": {ends, fails, cause},
	} {
		v := &storeView{further: []*pgx.Conn{{}, {}}, failpoint: func(string) {}}
		records := func(ctx context.Context, on []*pgconn.PgConn) error {
			if len(on) != 2 {
				t.Errorf("%s: %d connections read", name, len(on))
			}
			return test.records(ctx)
		}
		if err := v.read(t.Context(), records, test.others); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: it ends with %v", name, err)
		}
	}
}

// TestAwaitedLines finds connections on which an answer is awaited for long, and no others.
func TestAwaitedLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ls := &connTracker{open: map[*trackedConn]bool{}}
		open := func(pid uint32) (*trackedConn, net.Conn) {
			here, there := net.Pipe()
			l := &trackedConn{Conn: here, of: ls, pid: pid}
			ls.mu.Lock()
			ls.open[l] = true
			ls.mu.Unlock()
			return l, there
		}
		waits, far := open(1)
		idle, _ := open(2)
		unknown, _ := open(0)
		for _, l := range []*trackedConn{waits, unknown} {
			go func() { _, _ = l.Read(make([]byte, 1)) }()
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if found := ls.waiting(time.Second); len(found) > 0 {
			t.Errorf("%d lines have waited for long", len(found))
		}
		time.Sleep(time.Nanosecond)
		if found := ls.waiting(time.Second); !slices.Equal(found, []*trackedConn{waits}) {
			t.Errorf("%d lines have waited for long", len(found))
		}
		if _, err := far.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Hour)
		if found := ls.waiting(time.Second); len(found) > 0 {
			t.Error("an answer is awaited that has come")
		}
		for _, l := range []*trackedConn{waits, idle, unknown} {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(ls.open) > 0 {
			t.Errorf("%d lines are open", len(ls.open))
		}
		synctest.Wait()
	})
}

// TestSnapshotIsTheRows compares a snapshot with rows that are coded one by one.
func TestSnapshotIsTheRows(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "person", ofSize, models["distinct"][0], models["ordered"][0]))
	p := &publisher{table: of, total: 10}
	s := p.newSnapshot()
	random := rand.New(rand.NewPCG(3, 3))
	var want []coded
	for i := range 100 {
		row := of.layout.visitOf(i, random.IntN(90), map[string]string{
			"person": fmt.Sprint(random.IntN(30)), "illness": fmt.Sprint(random.IntN(5)), "cost": fmt.Sprint(random.IntN(9)), "sex": []string{"f", "m"}[i%2],
		})
		want = append(want, of.encode(row, nil))
		if err := p.keep(s, row); err != nil {
			t.Fatal(err)
		}
	}
	got := of.layout.newCoded()
	for i := range want {
		if s.rowInto(&got, int32(i)); fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Fatalf("record %d is %v, not %v", i, got, want[i])
		}
	}
	if s.records != len(want) || len(s.sensitive) != 2 {
		t.Errorf("%d records with %d sensitive attributes", s.records, len(s.sensitive))
	}
	policy := sizeOnly(3)
	policy.Suppression, policy.Updates = 0, catalog.Updates{Mode: catalog.Guarded}
	p = &publisher{table: memoryTable(t, policy)}
	s = p.newSnapshot()
	for i := range 5 {
		if err := p.keep(s, p.table.layout.visitOf(i, 10*i, nil)); err != nil {
			t.Fatal(err)
		}
		if row := p.table.mode.row(incremental.RecordID(i + 1)); row.cells[0] != float64(10*i) {
			t.Errorf("record %d has the age %v", i+1, row.cells[0])
		}
	}
	if s.records != 5 || p.table.mode.status().Waiting != 5 {
		t.Errorf("%d records, of which %d wait", s.records, p.table.mode.status().Waiting)
	}
}

// TestProgressNeverExceedsTheTotal tells how far a publication is: of as many records as the
// server estimates, or as there are already where those are more.
func TestProgressNeverExceedsTheTotal(t *testing.T) {
	t.Parallel()
	a := memoryApplier()
	var told []Progress
	a.session.syncer.config.Progress = func(p Progress) { told = append(told, p) }
	p := &publisher{table: memoryTable(t, sizeOnly(3)), config: &a.session.syncer.config, total: 10}
	for _, done := range []int{0, 7, 10, 12} {
		told = nil
		p.progress("reading", done)
		p.reportWritten(done, 99) // of a packed release the records are counted
		for _, one := range told {
			if one.Table != p.table.layout.name() || one.Done != done || one.Total != max(10, done) {
				t.Errorf("after %d records: %+v", done, one)
			}
		}
		if len(told) != 2 {
			t.Errorf("progress is told %d times", len(told))
		}
	}
	p.table = memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	if p.reportWritten(10, 4); told[2].Done != 7 {
		t.Errorf("ten records, of which four are released, are told as %d", told[2].Done)
	}
}
