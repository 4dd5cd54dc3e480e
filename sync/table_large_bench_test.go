package sync

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
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
	var at pglogrepl.LSN
	if err := source.QueryRow(b.Context(), "SELECT pg_current_wal_insert_lsn()::text").Scan(&at); err != nil {
		b.Fatal(err)
	}
	if _, err := source.Exec(b.Context(), "UPDATE people SET cost = cost WHERE id = 1"); err != nil { // a commit behind the position
		b.Fatal(err)
	}
	for s.Status().Position < at {
		time.Sleep(50 * time.Millisecond)
	}
	sampling()
	b.ReportMetric(perRow(int(peak.Load())-before, rows), "peak-B/row")
	b.ReportMetric(perRow(heap()-before, rows), "after-B/row")
	stop()
	s, stop = publishing(b, config)
	for s.Status().Tables[publicTable("people")].Records != rows { // it follows, until the server knows that the other one ended
		time.Sleep(50 * time.Millisecond)
	}
	b.ReportMetric(perRow(heap()-before, rows), "loaded-B/row")
	runtime.KeepAlive(s)
	stop()
}
