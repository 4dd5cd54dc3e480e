package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy"
)

// world is a proxy before a real server with sessions that run at once.
type world struct {
	*testing.T
	front   *Front
	refuses bool
	left    atomic.Int64 // operations to go
	before  holdings

	admin  sync.Mutex // held while direct is used
	direct *pgx.Conn

	count [events]atomic.Int64
	hang  sync.Once
}

// Events are what is counted.
const (
	countMessages = iota
	countSessions
	countCancels
	countHits // statements that were canceled
	countKills
	countDrops
	events
)

var eventNames = [events]string{"messages", "sessions", "cancels", "statements canceled", "backends terminated", "disconnects"}

// newWorld runs a proxy with a gate.
func newWorld(t *testing.T, gate proxy.Gate, operations int) *world {
	t.Helper()
	url := database(t)
	upstream, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config, err := Config(gate, upstream)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close(context.Background()) })
	w := &world{T: t, direct: direct, before: held()}
	if w.front, err = Start(config); err != nil {
		t.Fatal(err)
	}
	_, w.refuses = gate.(JudgingGate)
	w.left.Store(int64(operations))
	return w
}

// did takes note of n operations.
func (w *world) did(event, n int) {
	w.count[event].Add(int64(n))
	w.left.Add(-int64(n))
}

func (w *world) over() bool { return w.left.Load() <= 0 || w.Failed() }

// run runs sessions at once until the operations are done.
func (w *world) run(seed uint64, sessions int) {
	begun := time.Now()
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() { w.worker(seed, i) })
	}
	all.Wait()
	operations := 0
	report := ""
	for i := range w.count {
		n := w.count[i].Load()
		report += fmt.Sprintf(", %d %s", n, eventNames[i])
		if i != countHits {
			operations += int(n)
		}
	}
	seconds := time.Since(begun).Seconds()
	if err := w.front.Stop(); err != nil {
		w.Error(err)
	}
	expectReleased(w, w.before)
	w.Logf("seed %d: %d operations in %.1f s (%.0f a second)%s", seed, operations, seconds, float64(operations)/seconds, report)
}

// backends are what the server says of them.
func (w *world) backends() (all string) {
	w.admin.Lock()
	defer w.admin.Unlock()
	err := w.direct.QueryRow(context.Background(), "SELECT string_agg(concat_ws(' ', pid, state, wait_event_type, wait_event, now() - state_change, query), E'\n') FROM pg_stat_activity WHERE datname = current_database()").Scan(&all)
	if err != nil {
		return err.Error()
	}
	return all
}

// stacks are those of all goroutines.
func stacks() []byte {
	all := make([]byte, 1<<20)
	return all[:runtime.Stack(all, true)]
}

// worker runs one session after the other.
func (w *world) worker(seed uint64, number int) {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	id := number * 10_000_000
	for n := 0; !w.over(); n++ {
		s := &session{world: w, rng: rng, id: &id}
		if err := s.life(); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				w.hang.Do(func() { w.Logf("%s\n%s", w.backends(), stacks()) })
			}
			w.Errorf("seed %d, worker %d, session %d (%s): %v\n%s", seed, number, n, s.what, err, s.history())
		}
	}
}

// terminate ends a backend.
func (w *world) terminate(pid uint32) error {
	w.admin.Lock()
	defer w.admin.Unlock()
	_, err := w.direct.Exec(context.Background(), "SELECT pg_terminate_backend($1)", pid)
	return err
}
