package sync

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// besideSession is one of a server at the end of pipes, whose log is kept.
func besideSession(t *testing.T, of *table, answers ...answer) (*session, *memoryServer, *logged) {
	t.Helper()
	m := newPipedServer(t, slices.Concat(answers, usualAnswers(of))...)
	s, log := m.session(of), &logged{}
	s.syncer.config.Logger = slog.New(log)
	t.Cleanup(func() { time.Sleep(time.Minute) }) // connections are closed
	return s, m, log
}

// TestWorkerInsists has a table fail to be made ready: what may pass is tried again after pauses
// that grow, and told meanwhile; what does not pass ends the job.
func TestWorkerInsists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, m, log := besideSession(t, of, answer{words: "SET TRANSACTION SNAPSHOT", state: "22023"})
		var points []string
		s.syncer.config.Failpoint = func(name string) { points = append(points, name) }
		s.syncer.status.Tables[of.layout.name()] = TableStatus{State: Published, Records: 9}
		var told atomic.Int64
		s.syncer.config.Changed = func(Status) { told.Add(1) }
		s.shared.ack.stored.Store(90)
		w := newWorker(s)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		go func() { w.run(ctx); close(ended) }()
		w.jobs <- job{publication: of.layout.publication, bound: of.definition.bound, generation: 8}
		synctest.Wait()
		status := s.syncer.Status().Tables[of.layout.name()]
		if status.Problem == "" || status.Fix == "" || status.Records != 9 || status.State != Published || told.Load() == 0 || s.shared.ack.held.Load() != 0 {
			t.Errorf("the status is %+v; %d is held", status, s.shared.ack.held.Load())
		}
		time.Sleep(20 * maxPause)
		times, pause := log.when("trying again"), minPause
		for i := range len(times) - 1 {
			if after := times[i+1].Sub(times[i]); after != pause {
				t.Fatalf("attempt %d comes after %v instead of %v", i+2, after, pause)
			}
			pause = min(2*pause, maxPause)
		}
		if len(times) < 10 || !slices.Contains(points, FailSnapshotTaken) || slices.Contains(points, FailAfterPublication) {
			t.Errorf("%d attempts, %v", len(times), points)
		}
		m.noMore()
		m.answersNow(sourceAnswers(of, 3)...)
		n := <-w.ready
		if n.err != nil || n.table == nil || n.table.release.generation != 8 || !slices.Contains(points, FailAfterPublication) {
			t.Errorf("it ends with %v", n.err)
		}
		cancel()
		<-ended
	})
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, _, log := besideSession(t, of, answer{words: "SET TRANSACTION SNAPSHOT", state: "22023"})
		w := newWorker(s)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if n := w.prepare(ctx, job{publication: of.layout.publication}); n.err == nil || log.have("trying again") > 4 {
			t.Errorf("a job goes on after the end: %v", n.err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, _, log := besideSession(t, of, answer{words: "EXPORT_SNAPSHOT", state: insufficientPrivilege})
		w := newWorker(s)
		if n := w.prepare(t.Context(), job{publication: of.layout.publication}); n.err == nil || transient(n.err) || log.have("trying again") > 0 {
			t.Errorf("it ends with %v", n.err)
		}
	})
}

// TestWorkerPublishesAfresh compares a table of which most differs: it is published afresh.
func TestWorkerPublishesAfresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		var rows [][]any
		for range minDifferences + 1 {
			rows = append(rows, differing(`\N`, "t", "100", "30", "10115", "f", "nurse", "flu", "1"))
		}
		for i := range rows {
			rows[i] = differing(`\N`, "t", string(rune('a'+i/100))+string(rune('a'+i/10%10))+string(rune('a'+i%10)), "30", "10115", "f", "nurse", "flu", "1")
		}
		s, _, log := besideSession(t, of, slices.Concat(comparing(of, rows...), sourceAnswers(of, 3))...)
		s.syncer.config.ranges = readingPlan{blocks: 1, connections: 1}
		began := time.Now()
		n := newWorker(s).prepare(t.Context(), job{publication: of.layout.publication, bound: of.definition.bound, kind: resynchronize, generation: 8})
		if n.err != nil || n.job.kind != publishAfresh || n.table.release.generation != 8 || n.table.nextRecord != 4 || log.have("published afresh") != 1 || time.Since(began) > minPause {
			t.Errorf("it ends with %v as %v after %v", n.err, n.job.kind, time.Since(began))
		}
	})
}

// TestWatcherLooks lets a watcher look at a database: once for each watchPace, on a connection of
// its own, which another one replaces after a failure. What asks for something is told, and
// failures that go on are warned of.
func TestWatcherLooks(t *testing.T) {
	t.Parallel()
	const lookForAsked = "asked IS NOT NULL"
	for _, test := range []struct {
		name          string
		answers       []answer
		tables        TableStatus
		looks, opened int
		found         error
		warned        int
	}{
		{name: "nothing", looks: 10, opened: 1},
		{name: "an operator asks", answers: []answer{{words: lookForAsked, rows: [][]any{{"public", "visits"}}}}, looks: 10, opened: 1, found: errRestart},
		{name: "an operator asks for what is prepared", answers: []answer{{words: lookForAsked, rows: [][]any{{"public", "visits"}}}}, tables: TableStatus{Preparing: true}, looks: 10, opened: 1},
		{name: "refused", answers: []answer{{words: lookForAsked, state: "57P03"}}, looks: 10, opened: 10, warned: 1},
		{name: "the table was dropped", answers: []answer{{words: "What a table is:"}, {words: "What a relation is:"}}, looks: 10, opened: 1, found: &TableError{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			of := boundTable(t)
			of.definition.root, of.definition.leaves, of.definition.states, of.definition.rest, of.definition.labels = 1000, []uint32{1000}, []string{"file 1"}, "rest", []string{}
			s, m, log := besideSession(t, of, test.answers...)
			s.tables, s.syncer.tables = []*table{of}, []catalog.Publication{of.layout.publication}
			s.syncer.status.Tables[of.layout.name()] = test.tables
			s.watch()
			m.begin(-1)
			w := newWatcher(s)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { w.run(ctx); close(ended) }()
			time.Sleep(watchInterval - 1)
			if synctest.Wait(); m.log() != "" {
				t.Errorf("%s: it looks too early:\n%s", test.name, m.log())
			}
			time.Sleep(9*watchInterval + watchInterval/2)
			synctest.Wait()
			if got := strings.Count(m.log(), lookForAsked); got != test.looks {
				t.Errorf("%s: %d looks", test.name, got)
			}
			if got := strings.Count(m.log(), "SELECT pg_catalog.set_config"); got != test.opened {
				t.Errorf("%s: %d connections", test.name, got)
			}
			var found error
			select {
			case f := <-w.found:
				found = f.err
			default:
			}
			if halt := (*TableError)(nil); !errors.Is(found, test.found) && !errors.As(found, &halt) {
				t.Errorf("%s: %v is found", test.name, found)
			} else if (found == nil) != (test.found == nil) {
				t.Errorf("%s: %v is found", test.name, found)
			}
			if log.have("WARN looks at the database fail") != test.warned {
				t.Errorf("%s: %v", test.name, log.lines)
			}
			cancel()
			<-ended
			if w.store.conn != nil && !w.store.conn.IsClosed() {
				t.Errorf("%s: its connection stays open", test.name)
			}
		})
	}
}

// TestFailuresAreCounted has looks fail and succeed: only those that fail one after the other
// count.
func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, m, log := besideSession(t, of)
		s.watch()
		w := newWatcher(s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.run(ctx); close(ended) }()
		time.Sleep(watchInterval / 2) // between two looks
		for round, failing := range []int{warnAfter - 1, 1, warnAfter, 3} {
			m.answersNow(answer{words: "asked IS NOT NULL", state: "57P03"})
			time.Sleep(time.Duration(failing) * watchInterval)
			synctest.Wait()
			m.noMore()
			time.Sleep(watchInterval)
			synctest.Wait()
			if want := map[bool]int{false: 0, true: 1}[round >= 2]; log.have("WARN looks at the database fail") != want {
				t.Errorf("round %d: %v", round, log.lines)
			}
		}
		cancel()
		<-ended
	})
}

// TestForgottenConnectionsAreClosed has a connection wait for an answer for long: it is closed
// where the server is not busy for it, or does not know it.
func TestForgottenConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			of := boundTable(t)
			s, m, log := besideSession(t, of, answer{words: "state = 'active'", rows: [][]any{{busy}}}, answer{words: "a long statement", silent: true})
			w := newWatcher(s)
			var err error
			if w.store.conn, w.store.source, err = s.syncer.openBoth(t.Context(), followerName); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				_, err := s.store.conn.Exec(ctx, "a long statement", pgx.QueryExecModeSimpleProtocol)
				ended <- err
			}()
			time.Sleep(deadAfter)
			if err := w.checkConnections(t.Context()); err != nil || strings.Contains(m.log(), "state = 'active'") {
				t.Errorf("the server is asked too early: %v", err)
			}
			time.Sleep(time.Nanosecond)
			if err := w.checkConnections(t.Context()); err != nil || !strings.Contains(m.log(), "state = 'active'") {
				t.Errorf("the server is not asked: %v", err)
			}
			synctest.Wait()
			select {
			case err := <-ended:
				if busy || err == nil {
					t.Errorf("busy %t: it ends with %v", busy, err)
				}
			default:
				if !busy {
					t.Error("the connection is open")
				}
			}
			if (log.have("open only at this end") > 0) == busy {
				t.Errorf("%v", log.lines)
			}
			if strings.Contains(m.log(), "pg_terminate_backend(pid)") == busy {
				t.Errorf("busy %t: the server process is ended: %t", busy, !busy)
			}
			cancel()
			w.store.close()
		})
	}
}

// TestEndedLooksAreNoFailures ends a watcher amid a look.
func TestEndedLooksAreNoFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, _, _ := besideSession(t, of, answer{words: "asked IS NOT NULL", silent: true})
		s.watch()
		w := newWatcher(s)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*watchInterval, cancel)
		if w.run(ctx); w.failures != 0 || len(w.found) > 0 {
			t.Errorf("%d looks have failed", w.failures)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		of := boundTable(t)
		s, _, _ := besideSession(t, of, answer{words: "asked IS NOT NULL", silent: true})
		s.watch()
		w := newWatcher(s)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(watchInterval+watchTimeout+watchInterval/2, cancel)
		if w.run(ctx); w.failures != 1 {
			t.Errorf("%d looks have failed in more than %v", w.failures, watchTimeout)
		}
	})
}
