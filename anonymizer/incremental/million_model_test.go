package incremental_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkMillionOperations is the long run: a million random operations on 100,000
// records, settled after every tenth or so, and checked by brute force after every
// 50,000, with a restart each time. The loss is that at the end.
func BenchmarkMillionOperations(b *testing.B) {
	const records, operations, apart = 100_000, 1_000_000, 50_000
	for _, c := range []struct {
		name    string
		persons int
		set     privacy.ConstraintSet
	}{
		{"k", 0, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}},
		{"distinct", 0, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 3, Name: "s"}}},
		{"closeness", 0, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.TCloseness{T: 0.6, Name: "s"}}},
		{"persons", 40_000, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}},
	} {
		b.Run(fmt.Sprintf("%s/records=%d", c.name, records), func(b *testing.B) {
			for b.Loop() {
				random := rand.New(rand.NewPCG(1, 11))
				shape := workload.Shape{Attributes: 8, Distinct: 1000, Nulls: 0.001, Sensitive: 10}
				h := newHistory(b, random, anonymizertest.NewSource(random, shape, 0, 1, c.persons), c.set, partition.RoundedPartition{})
				for range records {
					h.next++
					h.insert(h.next, h.source.Row())
				}
				h.settle()
				fresh := h.parts[0].partition.Loss()
				for done := 1; done <= operations; done++ {
					h.step(4) // about as many come as go
					if random.IntN(10) == 0 {
						h.proceed()
					}
					if done%apart == 0 {
						h.settle()
						b.Logf("%d operations: %d records, loss %.4f", done, len(h.rows), h.parts[0].partition.Loss())
						h.restart()
					}
				}
				b.ReportMetric(100*fresh, "%loss-at-first")
				b.ReportMetric(100*h.parts[0].partition.Loss(), "%loss-at-last")
			}
		})
	}
}
