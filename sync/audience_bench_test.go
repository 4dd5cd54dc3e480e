package sync

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// What audiences cost: the same table with none, one and three of them, one after another.
//
//	go test ./sync -run xxx -bench Audiences -benchtime 1x -timeout 30m
//
// With -audiences.rows 1000000 the table is larger, with -audiences.guarded its updates are guarded.

var (
	audienceRows    = flag.Int("audiences.rows", 100_000, "how many records the table of BenchmarkAudiences has")
	audienceGuarded = flag.Bool("audiences.guarded", false, "whether its updates are guarded")
)

// audienceCost is what one number of audiences takes. Processor times are of kproxy and of its
// session that applies changes together.
type audienceCost struct {
	first          time.Duration // until the table is published
	firstProcessor time.Duration // of kproxy
	rates          [2]float64    // changes a second, each for itself and a thousand a transaction
	processors     [2]time.Duration
	stored         int64 // bytes of the store with all releases
	heap           int
	resident       int // of the process, with all that the benchmark has
}

// audienceShapes are how many changes are made, in transactions of how many.
var audienceShapes = [2]struct{ changes, transaction int }{{50_000, 1}, {100_000, 1000}}

func BenchmarkAudiences(b *testing.B) {
	costs := map[int]audienceCost{}
	for _, audiences := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("rows=%d/audiences=%d", *audienceRows, audiences), func(b *testing.B) {
			for b.Loop() {
				costs[audiences] = costOfAudiences(b, audiences, *audienceRows)
			}
			costs[audiences].report(b, *audienceRows)
			if none, ok := costs[0]; ok && audiences > 0 {
				costs[audiences].reportBeside(b, none)
			}
		})
	}
}

// costOfAudiences publishes a table for some audiences, has it follow changes that were recorded
// before it begins, and measures both.
func costOfAudiences(b *testing.B, audiences, rows int) (cost audienceCost) {
	b.Helper()
	s := &scaled{b: b, rows: rows, server: publicationServer(b)}
	s.source, s.config = publicationSource(b, s.server, rows, func(p *catalog.TablePolicy) {
		if *audienceGuarded {
			p.Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 2}
		}
		for i := range audiences {
			a := catalog.AudiencePolicy{
				Audience: fmt.Sprint("a", i), Role: fmt.Sprint("bench_a", i),
				Constraints: []privacy.Spec{{Model: privacy.K, K: []int{25, 60, 150}[i]}},
			}
			if i == 2 {
				a.Hidden = []string{"zip", "diagnosis"}
			}
			p.Audiences = append(p.Audiences, a)
		}
	})
	s.exec("CHECKPOINT")
	empty := heap()
	began, processor := time.Now(), userTime()
	_, stop := publishing(b, s.config)
	cost.first, cost.firstProcessor = time.Since(began), userTime()-processor
	s.passed()
	stop()
	for i, shape := range audienceShapes {
		s.record(shape.changes, shape.transaction)
		s.ask("SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'kproxy_store'::regnamespace AND c.relkind IN ('r', 'm')", &cost.stored)
		cost.heap, cost.rates[i], cost.processors[i] = s.drain(empty, shape.changes)
		cost.resident = resident()
	}
	s.check()
	return cost
}

// record makes changes that no Syncer applies yet.
func (s *scaled) record(changes, transaction int) {
	s.b.Helper()
	if _, err := s.source.Exec(s.b.Context(), fmt.Sprintf(applyWorkload, s.rows, s.changes, changes, transaction), pgx.QueryExecModeSimpleProtocol); err != nil {
		s.b.Fatal(err)
	}
	s.changes += changes
}

// drain applies what was recorded. It returns the heap that is held then, the changes a second and
// the processor time of each.
func (s *scaled) drain(empty, changes int) (held int, rate float64, processor time.Duration) {
	s.b.Helper()
	s.gone()
	var end pglogrepl.LSN
	s.ask("SELECT pg_current_wal_insert_lsn()::text", &end)
	s.exec("UPDATE people SET cost = cost WHERE id = 1") // a commit behind the position
	s.exec("CHECKPOINT")
	const session = "application_name LIKE 'kproxy apply%' AND backend_type = 'client backend'"
	conn, err := pgx.ConnectConfig(s.b.Context(), s.source.Config())
	if err != nil {
		s.b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(s.b.Context()))
	apply := &applyBench{b: s.b}
	syncer, stop := publishing(s.b, s.config)
	began, before := time.Now(), userTime()+apply.processorTime(conn, session)
	for syncer.Status().Position < end {
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(began)
	processor = userTime() + apply.processorTime(conn, session) - before
	debug.FreeOSMemory()
	held = heap() - empty
	runtime.KeepAlive(syncer)
	stop()
	return held, float64(changes) / took.Seconds(), processor / time.Duration(changes)
}

func (c audienceCost) report(b *testing.B, rows int) {
	b.Helper()
	b.ReportMetric(c.first.Seconds(), "first-s")
	b.ReportMetric(float64(c.firstProcessor.Microseconds())/float64(rows), "first-µs/row")
	for i, shape := range audienceShapes {
		b.ReportMetric(c.rates[i], fmt.Sprintf("changes-of-%d/s", shape.transaction))
		b.ReportMetric(float64(c.processors[i].Nanoseconds())/1000, fmt.Sprintf("µs/change-of-%d", shape.transaction))
	}
	b.ReportMetric(float64(c.stored)/float64(rows), "stored-B/row")
	b.ReportMetric(perRow(c.heap, rows), "heap-B/row")
	b.ReportMetric(float64(c.resident)/(1<<20), "resident-MiB")
}

// reportBeside reports how many times what it takes without audiences.
func (c audienceCost) reportBeside(b *testing.B, none audienceCost) {
	b.Helper()
	b.ReportMetric(c.first.Seconds()/none.first.Seconds(), "first-ratio")
	for i, shape := range audienceShapes {
		b.ReportMetric(c.rates[i]/none.rates[i], fmt.Sprintf("rate-of-%d-ratio", shape.transaction))
		b.ReportMetric(c.processors[i].Seconds()/none.processors[i].Seconds(), fmt.Sprintf("processor-of-%d-ratio", shape.transaction))
	}
	b.ReportMetric(float64(c.stored)/float64(none.stored), "stored-ratio")
	b.ReportMetric(float64(c.heap)/float64(none.heap), "heap-ratio")
}
