package sync

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// BenchmarkStart is the start of a published table again and again, beside COPY of what
// its store has.
//
//	go test ./sync -run xxx -bench 'Start/rows=1000000$' -benchtime 5x
func BenchmarkStart(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s := &scaled{b: b, rows: rows, server: publicationServer(b)}
			s.source, s.config = publicationSource(b, s.server, rows)
			_, stop := publishing(b, s.config)
			stop()
			s.exec("CHECKPOINT")
			var took, processor, least time.Duration
			for b.Loop() {
				s.gone()
				runtime.GC()
				debug.FreeOSMemory()
				began, before := time.Now(), userTime()
				_, stop := publishing(b, s.config)
				one := time.Since(began)
				took, processor = took+one, processor+userTime()-before
				if least == 0 || one < least {
					least = one
				}
				stop()
			}
			s.copyStore()
			b.ReportMetric(took.Seconds()/float64(b.N), "start-s")
			b.ReportMetric(least.Seconds(), "least-start-s")
			b.ReportMetric(float64(processor.Microseconds())/float64(b.N*rows), "µs/row")
		})
	}
}

// gone waits until the server has noticed that a Syncer ended: the next one would follow it
// for half a second.
func (s *scaled) gone() {
	for sessions := 1; sessions > 0; time.Sleep(10 * time.Millisecond) {
		s.ask("SELECT count(*) FROM pg_stat_activity WHERE usename = 'bench_owner'", &sessions)
	}
}
