package sync

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// The memory that one transaction needs beside its records, which stay in memory in any
// case:
//
//	go test ./sync -run xxx -bench OneTransaction/rows=5000000 -benchtime 1x -timeout 30m

func BenchmarkOneTransaction(b *testing.B) {
	for _, rows := range []int{100_000, 500_000, 5_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			for b.Loop() {
				applyOneTransaction(b, rows)
			}
		})
	}
}

// applyOneTransaction inserts all rows in one transaction. It reports in bytes a row the
// greatest heap in use until they are visible, what the heap holds then, and what it holds
// after a restart has loaded them.
func applyOneTransaction(b *testing.B, rows int) {
	source, config := publicationSource(b, publicationServer(b), 0)
	perRow := func(bytes uint64) float64 { return float64(bytes) / float64(rows) }
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	run := func() (s *Syncer, stop func()) {
		s, err := New(config)
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		<-s.Published()
		return s, func() {
			cancel()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		}
	}
	visible := func(s *Syncer) bool { return s.Status().Tables[publicTable("people")].Records == rows }
	s, stop := run()
	var peak atomic.Uint64
	sampled, sampling := context.WithCancel(b.Context())
	go func() {
		for sleep(sampled, 100*time.Millisecond) == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
		}
	}()
	if _, err := source.Exec(b.Context(), fmt.Sprintf(publicationRows, rows)); err != nil {
		b.Fatal(err)
	}
	for !visible(s) {
		time.Sleep(50 * time.Millisecond)
	}
	sampling()
	b.ReportMetric(perRow(peak.Load()-before), "peak-B/row")
	b.ReportMetric(perRow(held()-before), "after-B/row")
	stop()
	s, stop = run()
	b.ReportMetric(perRow(held()-before), "loaded-B/row")
	runtime.KeepAlive(s)
	stop()
}
