package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/catalog"
)

// logged are the lines of a log, without the counts of lines that repeat.
type logged struct {
	mu    gosync.Mutex
	lines []string
	times []time.Time
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	counts := false
	r.Attrs(func(a slog.Attr) bool {
		counts = counts || a.Key == "times"
		return !counts
	})
	if counts {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines, l.times = append(l.lines, fmt.Sprint(r.Level, " ", r.Message)), append(l.times, r.Time)
	return nil
}

// have counts the lines that have the words.
func (l *logged) have(words string) int { return len(l.when(words)) }

// when are the times of the lines that have the words.
func (l *logged) when(words string) (times []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, line := range l.lines {
		if strings.Contains(line, words) {
			times = append(times, l.times[i])
		}
	}
	return times
}

// aProcess is a Syncer of a stand-in server, whose states are noted.
type aProcess struct {
	*Syncer
	server *memoryServer
	log    *logged
	mu     gosync.Mutex
	states []string // with how long after the beginning each of them began
	end    context.CancelFunc
	result chan error
}

// newProcess is one that does not run yet. Its server has the usual answers after those that are given.
func newProcess(t *testing.T, answers ...answer) *aProcess {
	t.Helper()
	of := boundTable(t)
	process := []answer{
		{words: "IDENTIFY_SYSTEM", rows: [][]any{{"this", "2", "0/64", "hospital"}}},
		{words: "pg_is_in_recovery", rows: [][]any{{false, 150000}}},
		{words: "to_regclass('kproxy_store.seal')", rows: [][]any{{false}}},
		{words: "pg_try_advisory_lock", rows: [][]any{{"t"}}},
		{words: "SELECT count(pg_catalog.pg_terminate_backend", rows: [][]any{{0}}},
	}
	p := &aProcess{server: newPipedServer(t, slices.Concat(answers, process, usualAnswers(of))...), log: &logged{}, result: make(chan error, 1)}
	began := time.Now()
	var err error
	p.Syncer, err = New(Config{
		Owner: p.server.owner, Reader: "reader", Publication: "kproxy", Slot: "slot", Tables: []catalog.Publication{of.layout.publication},
		Logger: slog.New(p.log), Now: time.Now, Heartbeat: time.Second,
		Changed: func(s Status) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if text := s.State.String(); len(p.states) == 0 || !strings.HasPrefix(p.states[len(p.states)-1], text) {
				p.states = append(p.states, fmt.Sprintf("%s after %v", text, time.Since(began).Round(time.Millisecond)))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *aProcess) start(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	p.end = end
	go func() { p.result <- p.Run(ctx) }()
	t.Cleanup(func() {
		end()
		time.Sleep(time.Minute) // connections are closed
	})
}

// stop ends the process, and returns what it has ended with.
func (p *aProcess) stop() error {
	p.end()
	return <-p.result
}

// TestProcessRuns has a process begin to apply: it is published what is in step, the server hears
// from it, and it ends when it is told to.
func TestProcessRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.start(t)
		<-p.Published()
		synctest.Wait()
		status := p.Status()
		if status.State != Streaming || toldOf(status.Tables) == "" || status.Position != 100 {
			t.Errorf("the status is %+v", status)
		}
		if applied, is := p.Applied(); !is || applied.Position != 100 || applied.Epoch != 6 || applied.System != "this" || applied.Timeline != 2 {
			t.Errorf("%+v is applied: %t", applied, is)
		}
		if p.retryHalted() || !p.applies || len(p.removed) > 0 {
			t.Error("the process does not know that it applies")
		}
		time.Sleep(3 * watchInterval)
		for _, words := range []string{"START_REPLICATION", "asked IS NOT NULL", "pg_stat_activity", "pg_wal_lsn_diff"} {
			if !strings.Contains(p.server.log(), words) {
				t.Errorf("nothing is said of %s", words)
			}
		}
		if err := p.stop(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestProcessTriesAgain refuses what may pass: the process tries again, after pauses that grow up
// to a bound, and at once where it is told that the server is there.
func TestProcessTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, answer{words: "IDENTIFY_SYSTEM", state: "57P03"})
		p.start(t)
		synctest.Wait()
		if status := p.Status(); status.State != Reconnecting || status.Reason == "" || status.Fix != fixTransient(&pgconn.PgError{Code: "57P03"}) {
			t.Fatalf("the status is %+v", status)
		}
		time.Sleep(20 * maxPause)
		times, pause := p.log.when("trying again"), minPause
		for i := range len(times) - 1 {
			if after := times[i+1].Sub(times[i]); after < pause/2 || after >= pause/2+pause {
				t.Fatalf("attempt %d comes %v after the one before it, with a pause of %v", i+2, after, pause)
			}
			pause = min(2*pause, maxPause)
		}
		if len(times) < 10 {
			t.Errorf("%d attempts", len(times))
		}
		for range 3 { // told that the server is there, it tries at once, and after short pauses again
			before := p.log.have("trying again")
			p.retry <- struct{}{}
			if synctest.Wait(); p.log.have("trying again") != before+1 {
				t.Error("it does not try at once")
			}
			time.Sleep(minPause + minPause/2)
			if synctest.Wait(); p.log.have("trying again") < before+2 {
				t.Error("the pause is not short again")
			}
			time.Sleep(10 * minPause)
		}
		if err := p.stop(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestProcessStops refuses what no other attempt mends.
func TestProcessStops(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer answer
		want   string
	}{
		{"identity", answer{words: "IDENTIFY_SYSTEM", state: insufficientPrivilege}, "identifying the server"},
		{"recovery", answer{words: "pg_is_in_recovery", state: insufficientPrivilege}, "42501"},
		{"lock", answer{words: "pg_try_advisory_lock", state: insufficientPrivilege}, "locking the store"},
		{"the store of another slot", answer{words: "SELECT slot FROM kproxy_store.position", rows: [][]any{{"slot_b"}}}, "slot_b"},
		{"position", answer{words: "SELECT epoch, lsn::text", state: insufficientPrivilege}, "reading the stored position"},
		{"stream", answer{words: "START_REPLICATION", state: insufficientPrivilege}, "starting replication"},
		{"generations", answer{words: "SELECT table_schema, table_name, generation, policy_digest", state: insufficientPrivilege}, "42501"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcess(t, test.answer)
			p.start(t)
			err := <-p.result
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: it ends with %v", test.name, err)
			}
			if status := p.Status(); status.State != Stopped || status.Reason != err.Error() || status.Fix != fixOf(err) {
				t.Errorf("%s: the status is %+v", test.name, status)
			}
		})
	}
}

// TestStandbyIsNotApplied waits for a server to be promoted.
func TestStandbyIsNotApplied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, answer{words: "pg_is_in_recovery", rows: [][]any{{true, 150000}}})
		p.start(t)
		synctest.Wait()
		if status := p.Status(); status.State != Reconnecting || !strings.Contains(status.Reason, "standby") {
			t.Errorf("the status is %+v", status)
		}
	})
}

// TestUndecodedLog has a server that cannot decode its log: after some attempts it is left alone.
// One that has taken long until it failed begins the count anew.
func TestUndecodedLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, answer{words: "FROM pg_catalog.pg_publication WHERE", rows: [][]any{{true}}})
		say := make(chan pgproto3.BackendMessage)
		p.server.streaming = say
		p.start(t)
		ended := 0
		for p.Status().State != Stopped {
			for synctest.Wait(); p.Status().State != Streaming; {
				time.Sleep(100 * time.Millisecond)
			}
			if ended == maxUndecodable {
				for began := time.Now(); time.Since(began) <= undecodableWithin; time.Sleep(maxSilence / 4) {
					say <- keepalive(100, false)
				}
			}
			for p.Status().State == Streaming {
				say <- &pgproto3.ErrorResponse{Code: undefinedObject, Message: "no publication"}
				synctest.Wait()
			}
			ended++
		}
		if ended != 2*maxUndecodable+1 {
			t.Errorf("it fails %d times", ended)
		}
		stop := (*StopError)(nil)
		if err := <-p.result; !errors.As(err, &stop) || !errors.Is(err, errUnreadable) {
			t.Errorf("it ends with %v", err)
		}
		close(say)
	})
}

// TestProcessIsReloaded gives a process another configuration: it begins anew at once.
func TestProcessIsReloaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.start(t)
		<-p.Published()
		before := strings.Count(p.server.log(), "START_REPLICATION")
		p.Reload(p.configured())
		synctest.Wait()
		if got := strings.Count(p.server.log(), "START_REPLICATION"); got != before+1 || p.log.have("trying again") > 0 {
			t.Errorf("%d streams", got)
		}
		p.Reload(nil)
		synctest.Wait()
		if !strings.Contains(p.server.log(), "DELETE FROM kproxy_store.generation") || len(p.Status().Tables) > 0 {
			t.Error("a table that is not in the configuration is not dropped")
		}
		if err := p.stop(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}
