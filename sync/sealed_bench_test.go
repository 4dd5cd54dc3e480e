package sync

import (
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// BenchmarkSealedStore measures what sealing costs: the same table with its store apart, as it is and sealed. Both arms
// follow the same changes, one by one, and start again, in turns.
//
//	go test ./sync -run xxx -bench 'SealedStore/immediate/rows=20000$' -benchtime 3x -timeout 9m
func BenchmarkSealedStore(b *testing.B) {
	for _, updates := range []catalog.Updates{{Mode: catalog.Immediate}, {Mode: catalog.Guarded, Crowd: 5, Batch: 1000, Within: time.Hour}} {
		for _, rows := range []int{20_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/rows=%d", updates.Mode, rows), func(b *testing.B) { sealedStore(b, updates, rows, min(rows, 100_000)) })
		}
	}
}

// sealingCost is what one arm takes in all rounds.
type sealingCost struct {
	*applyBench
	records string        // what the table of them is called, without its number
	stored  int64         // bytes of the store, without what is published
	log     float64       // bytes of write-ahead log
	start   time.Duration // processor time of kproxy
}

func sealedStore(b *testing.B, updates catalog.Updates, rows, changes int) {
	b.Helper()
	var arms [2]*sealingCost
	for i := range arms {
		policy := protectedPeople()
		policy.Sealed, policy.Updates = i == 1, updates
		arms[i] = &sealingCost{applyBench: newApplyBenchOf(b, rows, policy, true), records: "stored"}
		if updates.Mode == catalog.Guarded {
			arms[i].records = "records"
		}
	}
	b.ResetTimer()
	for round := 0; b.Loop(); round++ {
		for i := range arms {
			arms[(i+round)%2].follow(changes)
		}
	}
	all := float64(b.N * changes)
	for i, name := range []string{"plain", "sealed"} {
		a := arms[i]
		b.ReportMetric(float64(a.stored)/float64(rows), name+"-B/row")
		b.ReportMetric(a.log/all, name+"-WAL-B/change")
		b.ReportMetric(float64(a.ours.Microseconds())/all, name+"-session-µs/change")
		b.ReportMetric(float64(a.process.Microseconds())/all, name+"-process-µs/change")
		b.ReportMetric(float64(a.start.Microseconds())/float64(b.N*rows), name+"-start-µs/row")
	}
}

// follow applies changes, and starts once more.
func (a *sealingCost) follow(changes int) {
	a.b.Helper()
	var records string
	a.ask(a.store, fmt.Sprintf("SELECT 'kproxy_store.%s_' || max(generation) FROM kproxy_store.generation", a.records), &records)
	if a.stored == 0 { // as it was made
		a.ask(a.store, fmt.Sprintf("SELECT pg_table_size('%s')", records), &a.stored)
	}
	end := a.record(changes, 1)
	a.log += a.logged(func() { a.drain(end) })
	before := userTime()
	_, stop := a.run()
	a.start += userTime() - before
	stop()
	var want, stored int
	a.ask(a.source, "SELECT count(*) FROM people", &want)
	a.ask(a.store, "SELECT count(*) FROM "+records, &stored)
	if stored != want {
		a.b.Errorf("the store has %d records of %d", stored, want)
	}
}
