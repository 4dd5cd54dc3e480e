package sync

import (
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// BenchmarkSummary applies changes of a table whose summary is a view, and of one whose summary is stored: what a change takes of the processor, in the
// server and in kproxy.
//
//	go test ./sync -run '^$' -bench Summary -benchtime 1x
func BenchmarkSummary(b *testing.B) {
	for _, shape := range []struct{ changes, transaction int }{{20_000, 1}, {50_000, 1000}} {
		for _, form := range []catalog.SummaryForm{catalog.SummaryView, catalog.SummaryStored} {
			b.Run(fmt.Sprintf("transaction=%d/%s", shape.transaction, form), func(b *testing.B) {
				policy := protectedPeople()
				policy.Summary = form
				a := newApplyBenchOf(b, 100_000, policy, false)
				for b.Loop() {
					end := a.record(shape.changes, shape.transaction)
					a.drainSubscription(end)
					a.drain(end)
					a.check()
				}
				each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*shape.changes) }
				b.ReportMetric(each(a.ours), "session-µs/change")
				b.ReportMetric(each(a.process), "process-µs/change")
			})
		}
	}
}
