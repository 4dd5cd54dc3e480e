package sync

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// What audiences of tables about the same persons cost: with none, one and three of them, and, of guarded tables, with
// three whose releases are kept though nobody sees them any more.
//
//	go test ./sync -run xxx -bench AudiencesOfPeople -benchtime 1x -timeout 1h
var (
	audiencePersons = flag.Int("audiences.persons", 2000, "how many persons the tables of BenchmarkAudiencesOfPeople are about, with some 125 rows each")
	audienceChanges = flag.Int("audiences.changes", 5000, "how many changes are made of them, each in a transaction of its own")
)

func BenchmarkAudiencesOfPeople(b *testing.B) {
	for _, updates := range []catalog.Updates{{Mode: catalog.Immediate}, {Mode: catalog.Guarded, Batch: 1000, Within: 5 * time.Second, RowsWithin: 10 * time.Second}} {
		for _, of := range []struct{ audiences, unseen int }{{0, 0}, {1, 0}, {3, 0}, {0, 3}} {
			if of.unseen > 0 && updates.Mode != catalog.Guarded { // whose lineage alone goes on with them
				continue
			}
			b.Run(fmt.Sprintf("%s/audiences=%d/unseen=%d", updates.Mode, of.audiences, of.unseen), func(b *testing.B) {
				for b.Loop() {
					costOfPeople(b, updates, of.audiences, of.unseen)
				}
			})
		}
	}
}

// costOfPeople publishes tables for some audiences, of which all that are unseen are removed then, has them follow changes that
// were recorded before a Syncer begins, and reports what both took.
func costOfPeople(b *testing.B, updates catalog.Updates, audiences, unseen int) {
	b.Helper()
	all := []catalog.AudiencePolicy{}
	for i := range max(audiences, unseen) {
		all = append(all, catalog.AudiencePolicy{
			Audience: fmt.Sprint("a", i), Role: fmt.Sprint("bench_a", i), Constraints: []privacy.Spec{{Model: privacy.K, K: []int{10, 25, 50}[i]}},
		})
	}
	h := newHistories(b, publicationServer(b), *audiencePersons, updates, all...)
	empty, began, used := heap(), time.Now(), userTime()
	s, stop := publishing(b, h.config)
	h.wait(s, h.mark().at)
	b.ReportMetric(time.Since(began).Seconds(), "first-s")
	b.ReportMetric((userTime() - used).Seconds(), "first-processor-s")
	b.ReportMetric(float64(h.rows), "rows")
	stop()
	if unseen > 0 {
		for i := range h.config.Tables {
			h.config.Tables[i].Policy.Audiences = nil
		}
	}
	h.drain() // with what changes between two policies
	resumed, used, served := h.drain()
	b.ReportMetric(resumed.Seconds(), "resumed-s")
	changes := h.record(*audienceChanges)
	took, processor, server := h.drain()
	each := 1000 / float64(changes)
	b.ReportMetric(float64(changes)/(took-resumed).Seconds(), "changes/s")
	b.ReportMetric((processor-used).Seconds()*1000*each, "µs/change")
	b.ReportMetric((server-served).Seconds()*1000*each, "server-µs/change")
	var stored int64
	h.ask("SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = 'kproxy_store'::regnamespace AND c.relkind IN ('r', 'm')", &stored)
	b.ReportMetric(float64(stored)/float64(h.rows), "stored-B/row")
	s, stop = publishing(b, h.config)
	h.wait(s, h.mark().at)
	debug.FreeOSMemory()
	b.ReportMetric(perRow(heap()-empty, h.rows), "heap-B/row")
	b.ReportMetric(float64(resident())/(1<<20), "resident-MiB")
	runtime.KeepAlive(s)
	stop()
	for _, a := range all[:audiences] {
		var shown int
		if h.ask("SELECT count(*) FROM "+catalog.PublishedFor(a.Audience, h.config.Tables[0].Policy.Table).SQL(), &shown); shown == 0 {
			b.Errorf("audience %s sees nothing", a.Audience)
		}
	}
}

// record makes changes that no Syncer applies yet.
func (h *histories) record(changes int) int {
	h.b.Helper()
	if _, err := h.source.Exec(h.b.Context(), fmt.Sprintf(historyChanges, h.changes, changes, h.persons, 0), pgx.QueryExecModeSimpleProtocol); err != nil {
		h.b.Fatal(err)
	}
	h.changes += changes
	return changes
}

// drain starts a Syncer, has it apply what was recorded, and stops it. It returns how long that took, and the processor time of kproxy and of the server.
func (h *histories) drain() (took, processor, server time.Duration) {
	h.b.Helper()
	for gone := false; !gone; time.Sleep(10 * time.Millisecond) {
		h.ask("SELECT count(*) FILTER (WHERE active) = 0 FROM pg_replication_slots", &gone)
	}
	at := h.mark().at
	h.exec("CHECKPOINT")
	began, used, served := time.Now(), userTime(), h.serverTime()
	s, stop := publishing(h.b, h.config)
	h.wait(s, at)
	took, processor, server = time.Since(began), userTime()-used, h.serverTime()-served
	stop()
	return took, processor, server
}
