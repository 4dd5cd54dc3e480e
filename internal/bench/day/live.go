package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// live lets the day pass. What goes wrong is in the diary.
func (s *site) live(ctx context.Context, d *diary, progress io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, d.length)
	defer cancel()
	d.begin = time.Now()
	g := newLedger(writers)
	var group sync.WaitGroup
	group.Go(func() { s.work(ctx, d, g) })
	group.Go(func() { s.watchDashboards(ctx, d) })
	for _, observer := range []struct {
		name    string
		observe func() error
	}{
		{"following the position", func() error { return s.follow(ctx, d) }},
		{"looking for newcomers", func() error { return s.appear(ctx, d, g) }},
		{"checking states", func() error { return s.check(ctx, d) }},
		{"comparing versions", func() error { return s.compareVersions(ctx, d) }},
		{"sampling", func() error { return s.sample(ctx, d) }},
	} {
		group.Go(func() {
			if err := observer.observe(); err != nil && ctx.Err() == nil {
				d.failed("%s: %v", observer.name, err)
			}
		})
	}
	group.Go(func() {
		select {
		case <-s.kproxy.Exited():
			d.failed("kproxy ended:\n%s", s.kproxy.Said())
			cancel()
		case <-ctx.Done():
		}
	})
	group.Go(func() { tell(ctx, d, progress) })
	group.Wait()
	d.lived = min(time.Since(d.begin), d.length)
}

// during tells each minute that something goes on which has nothing to tell of its own.
func during(progress io.Writer, what string, do func() error) error {
	done, told := make(chan struct{}), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(told)
		ticker := time.NewTicker(time.Minute)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(progress, "%s for %.0f min\n", what, time.Since(begin).Minutes())
			}
		}
	}()
	err := do()
	close(done)
	<-told
	return err
}

// tell prints a line about each minute.
func tell(ctx context.Context, d *diary, progress io.Writer) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			fmt.Fprintln(progress, d.line())
		}
	}
}

// line is how the last part of the day was that is over.
func (d *diary) line() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := max(0, d.now()-1)
	of := func(m measure) summary { return summarize(d.parts[at][m]) }
	applied, asked := of(appliedLag), of(queries)
	return fmt.Sprintf("%04.1f h: %.0f changes/s, applied after %.0f ms (p99 %.0f), %d queries of %.0f ms (p99 %.0f), kproxy %.0f MB, PostgreSQL %.0f MB, %.0f MB of WAL kept; %d states and %d versions checked, %d violations, %d errors",
		24*moment(d.begin, d.length, time.Now()), of(changes).Sum/d.part.Seconds(), applied.P50, applied.P99,
		asked.N, asked.P50, asked.P99, of(kproxyBytes).Max/1e6, of(postgresBytes).Max/1e6, of(keptWAL).Max/1e6,
		len(d.whole(checks)), len(d.whole(versions)), d.counts.Violations, d.counts.Errors)
}
