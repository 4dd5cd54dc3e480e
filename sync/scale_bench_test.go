package sync

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// The life of one large table: it is published, loaded after a restart, and absorbs
// changes at a rate. What each step takes is told by step.
//
//	go test ./sync -run xxx -bench 'Scale/immediate/rows=10000000$' -benchtime 1x -timeout 2h
//
// Bytes of memory are the process's own (resident set), the server's stand beside them.

const (
	scaleRate   = 5000 // changes a second
	scaleLasts  = 20 * time.Second
	scaleChunks = 5 // transactions of single rows are sent so many times a second
)

func BenchmarkScale(b *testing.B) {
	for _, mode := range []catalog.UpdateMode{catalog.Immediate, catalog.Guarded, catalog.Mirrored} {
		for _, rows := range []int{100_000, 1_000_000, 10_000_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", mode, rows), func(b *testing.B) {
				for b.Loop() {
					liveAtScale(b, mode, rows)
				}
			})
		}
	}
}

// scaled is a published table of some size.
type scaled struct {
	b       *testing.B
	rows    int
	changes int // so far
	server  *pgserver.Server
	source  *pgx.Conn
	config  Config
}

func liveAtScale(b *testing.B, mode catalog.UpdateMode, rows int) {
	b.Helper()
	s := &scaled{b: b, rows: rows, server: publicationServer(b)}
	s.source, s.config = publicationSource(b, s.server, rows, func(p *catalog.TablePolicy) {
		if p.Updates.Mode = mode; mode == catalog.Mirrored {
			*p = catalog.MirrorTable(p.Table, []string{"id", "born", "admitted", "sex", "zip", "marital", "job", "ward", "diagnosis", "cost"})
		}
	})
	s.exec("CHECKPOINT")
	empty := resident()
	step := s.begin()
	_, stop := publishing(b, s.config)
	step.end("publish", rows, empty)
	s.passed()
	stop()
	s.exec("CHECKPOINT")

	s.copyStore()
	step = s.begin()
	syncer, stop := publishing(b, s.config)
	step.end("reload", rows, empty)
	for _, transaction := range []int{1000, 1} {
		s.absorb(syncer, transaction, empty)
	}
	// Now that changes have come, the classes have their index.
	runtime.GC()
	debug.FreeOSMemory()
	b.ReportMetric(perRow(resident()-empty, rows), "held-B/row")
	b.ReportMetric(perRow(heap(), rows), "heap-B/row")
	stop()
	s.check()
}

func (s *scaled) exec(sql string) {
	s.b.Helper()
	if _, err := s.source.Exec(s.b.Context(), sql); err != nil {
		s.b.Fatalf("%s: %v", sql, err)
	}
}

func (s *scaled) ask(sql string, result any) {
	s.b.Helper()
	if err := s.source.QueryRow(s.b.Context(), sql).Scan(result); err != nil {
		s.b.Fatalf("%s: %v", sql, err)
	}
}

// copyStore reports how long COPY to a client takes that throws away what it reads, in
// text: of the records with their classes, of all that the store has of the table, and of
// what a start reads of that.
func (s *scaled) copyStore() {
	s.b.Helper()
	records, whole := "SELECT * FROM "+s.records(), "SELECT * FROM "+s.stored("release")
	of, err := newTable(s.config.Tables[0])
	if err != nil {
		s.b.Fatal(err)
	}
	s.b.ReportMetric(s.copy(records).Seconds(), "records-copy-s")
	if !of.isPacked() {
		s.b.ReportMetric((s.copy(records) + s.copy(whole)).Seconds(), "store-copy-s")
		return
	}
	var generation int64
	s.ask("SELECT max(generation) FROM kproxy_store.generation", &generation)
	if err := of.begin(generation, 1, 1, 1); err != nil {
		s.b.Fatal(err)
	}
	records, whole = "SELECT * FROM "+of.recordsTable(), "SELECT * FROM "+of.release.packedTable()
	s.b.ReportMetric((s.copy(records) + s.copy(whole)).Seconds(), "store-copy-s")
	s.b.ReportMetric((s.copy(of.selectHeld(false).query(sourceRange{})) + s.copy(packedOf(of).classesQuery())).Seconds(), "start-copy-s")
}

func (s *scaled) copy(query string) time.Duration {
	s.b.Helper()
	began := time.Now()
	if _, err := s.source.PgConn().CopyTo(s.b.Context(), io.Discard, "COPY ("+query+") TO STDOUT"); err != nil {
		s.b.Fatal(err)
	}
	return time.Since(began)
}

func (s *scaled) records() string { return s.stored("records") }

// stored names a relation of the table's generation.
func (s *scaled) stored(kind string) (name string) {
	s.ask("SELECT 'kproxy_store."+kind+"_' || max(generation) FROM kproxy_store.generation", &name)
	return name
}

// absorb has changes made at a rate, and measures how far behind their commits the store is.
func (s *scaled) absorb(syncer *Syncer, transaction, empty int) {
	s.b.Helper()
	conn, err := pgx.ConnectConfig(s.b.Context(), s.source.Config())
	if err != nil {
		s.b.Fatal(err)
	}
	defer conn.Close(context.Background())
	done := make(chan int, 1)
	step := s.begin()
	var written string
	s.ask("SELECT pg_current_wal_insert_lsn()::text", &written)
	go func() { done <- s.commitAt(conn, transaction) }()
	m := marks{every: 50 * time.Millisecond}
	made := -1
	for made < 0 || len(m.waiting) > 0 {
		select {
		case made = <-done:
		case <-time.After(time.Millisecond):
		}
		if made < 0 {
			m.set(s.mark)
		}
		m.passed(syncer.Status().Position)
	}
	name := fmt.Sprintf("rows-%d", transaction)
	took := step.end(name, made, empty)
	s.b.ReportMetric(float64(made)/took.Seconds(), name+"-changes/s")
	s.b.ReportMetric(percentile(m.lags, 0.5).Seconds()*1000, name+"-p50-ms")
	s.b.ReportMetric(percentile(m.lags, 0.99).Seconds()*1000, name+"-p99-ms")
	s.b.ReportMetric(slices.Max(m.lags).Seconds()*1000, name+"-max-ms")
	var wal float64
	s.ask("SELECT pg_current_wal_insert_lsn() - '"+written+"'::pg_lsn", &wal)
	s.b.ReportMetric(wal/float64(made), name+"-WAL-B/change")
}

// mark commits something behind the position of the mark.
func (s *scaled) mark() (mark committed) {
	s.b.Helper()
	s.ask("SELECT pg_current_wal_insert_lsn()::text", &mark.at)
	mark.from = time.Now()
	s.exec("UPDATE people SET cost = cost WHERE id = 1")
	return mark
}

// commitAt makes changes at the rate, and returns how many.
func (s *scaled) commitAt(conn *pgx.Conn, transaction int) (done int) {
	block := max(transaction, scaleRate/scaleChunks/10)
	began := time.Now()
	for time.Since(began) < scaleLasts {
		time.Sleep(time.Until(began.Add(time.Duration(done) * time.Second / scaleRate)))
		if _, err := conn.Exec(s.b.Context(), fmt.Sprintf(applyWorkload, s.rows, s.changes, block, transaction), pgx.QueryExecModeSimpleProtocol); err != nil {
			s.b.Error(err)
			return done
		}
		s.changes += block
		done += block
	}
	return done
}

// check compares the store with the table.
func (s *scaled) check() {
	s.b.Helper()
	var want, stored string
	figures := "SELECT (count(*), sum(id), sum(cost), sum(admitted - date '2000-01-01'))::text FROM "
	s.ask(figures+"people", &want)
	s.ask(figures+s.records(), &stored)
	if stored != want {
		s.b.Errorf("the table has %s, the store %s", want, stored)
	}
}

// measured is what a step of the benchmark takes.
type measured struct {
	s         *scaled
	began     time.Time
	processor time.Duration
	collector float64
	allocated uint64
}

// begin starts a step, in which the greatest resident set counts from now on.
func (s *scaled) begin() measured {
	runtime.GC()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return measured{s, time.Now(), userTime(), sampled("/cpu/classes/gc/total:cpu-seconds"), allocated()}
}

// end reports a step: its seconds, microseconds of processor time, allocated bytes and
// the greatest resident set by row, and the share of the garbage collector.
func (m measured) end(name string, rows, empty int) time.Duration {
	took, processor := time.Since(m.began), userTime()-m.processor
	b := m.s.b
	runtime.GC() // figures of the collector are as of its last cycle
	b.ReportMetric(took.Seconds(), name+"-s")
	b.ReportMetric(float64(processor.Microseconds())/float64(rows), name+"-µs/row")
	b.ReportMetric(perRow(int(allocated()-m.allocated), rows), name+"-allocated-B/row")
	b.ReportMetric(float64(peakMemory(b)-empty)/1e6, name+"-peak-MB")
	b.ReportMetric((sampled("/cpu/classes/gc/total:cpu-seconds")-m.collector)/processor.Seconds(), name+"-GC-share")
	b.ReportMetric(float64(m.s.serverMemory())/1e6, name+"-server-MB")
	return took
}

func perRow(bytes, rows int) float64 { return float64(bytes) / float64(rows) }

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func sampled(metric string) float64 {
	samples := []metrics.Sample{{Name: metric}}
	metrics.Read(samples)
	return samples[0].Value.Float64()
}

// resident is the process's resident set, in bytes.
func resident() int {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// serverMemory is what the server's processes have resident, in bytes, each page once.
func (s *scaled) serverMemory() (total int) {
	rows, err := s.source.Query(s.b.Context(), "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return 0
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return 0
	}
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if _, rest, found := bytes.Cut(text, []byte("\nPss:")); found {
			kilobytes, _ := strconv.Atoi(string(bytes.Fields(rest)[0]))
			total += kilobytes << 10
		}
	}
	return total
}
