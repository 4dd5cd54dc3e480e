package sync

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
)

// BenchmarkStart is the start of a published table again and again, beside COPY of what
// its store has.
//
//	go test ./sync -run xxx -bench 'Start/immediate/rows=1000000$' -benchtime 5x
func BenchmarkStart(b *testing.B) {
	for _, mode := range []catalog.UpdateMode{catalog.Immediate, catalog.Guarded} {
		for _, rows := range []int{100_000, 1_000_000, 10_000_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", mode, rows), func(b *testing.B) { startAgain(b, mode, rows) })
		}
	}
}

func startAgain(b *testing.B, mode catalog.UpdateMode, rows int) {
	b.Helper()
	s := &scaled{b: b, rows: rows, server: publicationServer(b)}
	s.source, s.config = publicationSource(b, s.server, rows, func(p *catalog.TablePolicy) { p.Updates.Mode = mode })
	_, stop := publishing(b, s.config)
	s.passed()
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
}

// passed waits until the slot has let go of what publishing wrote: a start before decodes
// all of that once more, to find that it is kproxy's own. In the life of a database that
// takes some seconds, as the server notes now and then which transactions run.
func (s *scaled) passed() {
	s.b.Helper()
	var published pglogrepl.LSN
	s.ask("SELECT pg_current_wal_insert_lsn()::text", &published)
	for restart := pglogrepl.LSN(0); restart < published; time.Sleep(100 * time.Millisecond) {
		s.exec("UPDATE people SET cost = cost WHERE id = 1") // a commit behind the position
		s.exec("CHECKPOINT")
		s.ask("SELECT restart_lsn::text FROM pg_replication_slots WHERE slot_name = 'bench'", &restart)
	}
}

// gone waits until the server has noticed that a Syncer ended: the next one would follow it
// for half a second.
func (s *scaled) gone() {
	for sessions := 1; sessions > 0; time.Sleep(10 * time.Millisecond) {
		s.ask("SELECT count(*) FROM pg_stat_activity WHERE usename = 'bench_owner'", &sessions)
	}
}
