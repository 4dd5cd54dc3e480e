package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// openers is how many idle sessions are opened at a time.
const openers = 4

// idlers compares the latency of active sessions alone, and beside idle ones, and tells
// what an idle one takes of the proxy's memory. It ends the proxies: nothing can be measured
// after it.
func idlers(ctx context.Context, b *bench) error {
	var t table
	t.add("way", "idle sessions", "tps", "mean ms", "p50 ms", "p99 ms", "mean of without", "p50 of without", "p99 of without", "KB an idle session")
	for _, w := range b.ways[1:] {
		alone, err := b.lookupRounds(ctx, []*way{w}, work{clients: b.active, protocol: "prepared"})
		if err != nil {
			return err
		}
		t.add(idleRow(w, 0, alone, alone, 0)...)
		before, err := resident(w.process.cmd.Process.Pid)
		if err != nil {
			return err
		}
		sessions, err := b.openIdle(ctx, w)
		if err == nil {
			var after int64
			after, err = resident(w.process.cmd.Process.Pid)
			if err == nil {
				var beside series
				beside, err = b.lookupRounds(ctx, []*way{w}, work{clients: b.active, protocol: "prepared"})
				t.add(idleRow(w, b.idle, beside, alone, float64(after-before)/1024/float64(b.idle))...)
			}
		}
		if err := errors.Join(err, closeAll(sessions)); err != nil {
			return err
		}
		again, err := b.lookupRounds(ctx, []*way{w}, work{clients: b.active, protocol: "prepared"})
		if err != nil {
			return err
		}
		t.add(idleRow(w, 0, again, alone, 0)...)
		w.process.end() // what it keeps open upstream, the next one needs
	}
	fmt.Fprintf(b.out, "%d active sessions, prepared lookups, %d rounds of %v each:\n\n", b.active, b.options.rounds, b.time)
	t.write(b.out)
	return nil
}

func idleRow(w *way, idle int, got, alone series, kilobytes float64) []string {
	row := []string{w.name, fmt.Sprint(idle), fmt.Sprintf("%.0f", median(got.column(w, rateOf)))}
	for _, figure := range []func(sample) float64{meanOf, medianOf, worstOf} {
		row = append(row, fmt.Sprintf("%.2f", median(got.column(w, figure))))
	}
	for _, figure := range []func(sample) float64{meanOf, medianOf, worstOf} {
		row = append(row, compare(got.column(w, figure), alone.column(w, figure)).String())
	}
	if idle == 0 {
		return append(row, "")
	}
	return append(row, fmt.Sprintf("%.1f", kilobytes))
}

// openIdle opens the idle sessions, each after one query, and lets the proxy settle.
func (b *bench) openIdle(ctx context.Context, w *way) ([]*pgx.Conn, error) {
	const settling = 10 * time.Second
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
	select {
	case <-ctx.Done():
	case <-time.After(settling):
	}
	return sessions, errors.Join(failed, ctx.Err())
}

func closeAll(sessions []*pgx.Conn) error {
	var failed error
	for _, conn := range sessions {
		failed = errors.Join(failed, conn.Close(context.Background()))
	}
	return failed
}
