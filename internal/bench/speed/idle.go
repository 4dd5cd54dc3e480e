package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/bench/host"
)

// openers is how many idle sessions are opened at a time.
const openers = 4

// idlers compares the latency of active sessions alone, and beside idle ones, in turns, and
// tells what an idle one takes of the proxy's memory, and of the server's. Proxies keep the connections upstream
// of sessions that have ended, so that the server has as many of them all the while: what is
// measured is the proxy. It ends the proxies: nothing can be measured after it.
func idlers(ctx context.Context, b *bench) error {
	var t table
	t.add("way", "idle sessions", "tps", "mean ms", "p50 ms", "p99 ms", "mean of without", "p50 of without", "p99 of without", "KB an idle session", "KB of the server")
	for _, w := range b.ways[1:] {
		if w.name == pool { // a process for each session: it has no idle ones
			continue
		}
		before, err := host.Resident(w.process.PID())
		if err != nil {
			return err
		}
		server := host.FamilyUse(b.server.PID()).Bytes
		alone, beside := series{}, series{}
		var kilobytes, ofServer float64
		for round := range b.options.rounds + 1 {
			if round > 0 { // until then the server has not as many connections
				if err := b.addLookup(ctx, alone, w); err != nil {
					return err
				}
			}
			sessions, err := b.openIdle(ctx, w)
			if err == nil && round == 0 {
				var after int64
				after, err = host.Resident(w.process.PID())
				kilobytes = float64(after-before) / 1024 / float64(b.idle)
				ofServer = (host.FamilyUse(b.server.PID()).Bytes - server) / 1024 / float64(b.idle)
			} else if err == nil {
				err = b.addLookup(ctx, beside, w)
			}
			if err := errors.Join(err, closeAll(sessions)); err != nil {
				return err
			}
			settle(ctx)
		}
		b.noteIdle(w, alone, beside, kilobytes, ofServer)
		t.add(append(idleRow(w, 0, alone, alone), "", "")...)
		t.add(append(idleRow(w, b.idle, beside, alone), fmt.Sprintf("%.1f", kilobytes), fmt.Sprintf("%.0f", ofServer))...)
		w.process.End(patienceAtEnd) // what it keeps open upstream, the next one needs
	}
	fmt.Fprintf(b.out, "%d active sessions, prepared lookups, %d rounds of %v each:\n\n", b.active, b.options.rounds, b.time)
	t.write(b.out)
	return nil
}

// addLookup adds one run of the active sessions.
func (b *bench) addLookup(ctx context.Context, to series, w *way) error {
	s, err := b.lookupOnce(ctx, w, work{clients: b.active, protocol: "prepared"})
	to[w] = append(to[w], s)
	return err
}

// settle waits until what sessions have left to do, at their beginning or their end, is done.
func settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
	}
}

func idleRow(w *way, idle int, got, alone series) []string {
	row := []string{w.name, fmt.Sprint(idle), fmt.Sprintf("%.0f", median(got.column(w, rateOf)))}
	for _, figure := range []func(sample) float64{meanOf, medianOf, worstOf} {
		row = append(row, fmt.Sprintf("%.2f", median(got.column(w, figure))))
	}
	for _, figure := range []func(sample) float64{meanOf, medianOf, worstOf} {
		row = append(row, compare(got.column(w, figure), alone.column(w, figure)).String())
	}
	return row
}

// openIdle opens the idle sessions, each after one query, and lets the proxy settle.
func (b *bench) openIdle(ctx context.Context, w *way) ([]*pgx.Conn, error) {
	var (
		mu       sync.Mutex
		sessions []*pgx.Conn
		failed   error
		wait     sync.WaitGroup
	)
	places := make(chan struct{}, b.idle)
	for range b.idle {
		places <- struct{}{}
	}
	close(places)
	for range openers {
		wait.Go(func() {
			for range places {
				conn, err := w.connect(ctx)
				if err == nil {
					_, err = conn.Exec(ctx, "SELECT 1")
				}
				mu.Lock()
				if conn != nil {
					sessions = append(sessions, conn)
				}
				failed = errors.Join(failed, err)
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wait.Wait()
	settle(ctx)
	return sessions, errors.Join(failed, ctx.Err())
}

func closeAll(sessions []*pgx.Conn) error {
	var failed error
	for _, conn := range sessions {
		failed = errors.Join(failed, conn.Close(context.Background()))
	}
	return failed
}
