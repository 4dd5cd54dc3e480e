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
	before := heap()
	s, stop := publishing(b, config)
	var peak atomic.Int64
	sampled, sampling := context.WithCancel(b.Context())
	go func() {
		for sleep(sampled, 100*time.Millisecond) == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), int64(m.HeapInuse)))
		}
	}()
	if _, err := source.Exec(b.Context(), fmt.Sprintf(publicationRows, rows)); err != nil {
		b.Fatal(err)
	}
	for s.Status().Tables[publicTable("people")].Records != rows {
		time.Sleep(50 * time.Millisecond)
	}
	sampling()
	b.ReportMetric(perRow(int(peak.Load())-before, rows), "peak-B/row")
	b.ReportMetric(perRow(heap()-before, rows), "after-B/row")
	stop()
	s, stop = publishing(b, config)
	if records := s.Status().Tables[publicTable("people")].Records; records != rows {
		b.Errorf("%d of %d records are loaded", records, rows)
	}
	b.ReportMetric(perRow(heap()-before, rows), "loaded-B/row")
	runtime.KeepAlive(s)
	stop()
}
