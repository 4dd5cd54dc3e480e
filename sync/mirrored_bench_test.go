package sync

import (
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// mirroredPeople mirrors all columns of the table.
func mirroredPeople() catalog.TablePolicy {
	return catalog.MirrorTable(publicTable("people"), []string{"id", "born", "admitted", "sex", "zip", "marital", "job", "ward", "diagnosis", "cost"})
}

// BenchmarkMirrored applies one recorded stream to a mirrored table, whose store is in another database
// than its source, and, before that, by PostgreSQL's own subscription to a plain copy.
//
//	go test ./sync -run xxx -bench 'Mirrored/rows=100000$' -benchtime 1x -count 3
func BenchmarkMirrored(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			for _, shape := range []struct{ changes, transaction int }{{180_000, 1}, {150_000, 1000}} {
				b.Run(fmt.Sprintf("transaction=%d", shape.transaction), func(b *testing.B) {
					a := newApplyBenchOf(b, rows, mirroredPeople(), true)
					b.ResetTimer()
					var subscription, mirror time.Duration
					copies, stores := 0.0, 0.0 // bytes of log
					for b.Loop() {
						end := a.record(shape.changes, shape.transaction)
						copies += a.logged(func() { subscription += a.drainSubscription(end) })
						stores += a.logged(func() { mirror += a.drain(end) })
						a.check()
					}
					changes := float64(b.N * shape.changes)
					b.ReportMetric(changes/subscription.Seconds(), "subscription/s")
					b.ReportMetric(changes/mirror.Seconds(), "kproxy/s")
					b.ReportMetric(subscription.Seconds()/mirror.Seconds(), "ratio")
					for unit, spent := range map[string]time.Duration{"worker-µs/change": a.theirs, "session-µs/change": a.ours, "process-µs/change": a.process} {
						b.ReportMetric(float64(spent.Microseconds())/changes, unit)
					}
					b.ReportMetric(copies/changes, "subscription-WAL-B/change")
					b.ReportMetric(stores/changes, "kproxy-WAL-B/change")
				})
			}
		})
	}
}
