package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// BenchmarkMillionOperations is the long run: a million random operations on about
// 100,000 records, published after every tenth or so, with a restart and a look at all
// that is published after every 50,000, and a comparison of all versions at the end.
func BenchmarkMillionOperations(b *testing.B) {
	const records, operations, apart = 100_000, 1_000_000, 50_000
	for _, c := range []struct {
		name    string
		persons int
		set     privacy.ConstraintSet
	}{
		{"k", 0, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}},
		{"distinct", 0, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 3, Name: "s"}}},
		{"persons", 40_000, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.6, Name: "s"}}},
	} {
		b.Run(fmt.Sprintf("%s/records=%d", c.name, records), func(b *testing.B) {
			for b.Loop() {
				random := rand.New(rand.NewPCG(1, 12))
				m := newModel(b, random, setting{
					attributes: 8, constraints: c.set, method: partition.RoundedPartition{}, sensitive: 1, persons: c.persons,
					options: lineage.Options{Crowd: 4, Batch: 200, Within: 24 * time.Hour},
				})
				m.hasty, m.source.Shape.Sensitive = true, 10
				for range records {
					m.next++
					m.insert(m.next, m.source.Row())
				}
				m.publish()
				for done := 1; done <= operations; done++ {
					m.step(4) // about as many come as go
					if random.IntN(10) == 0 {
						m.now = m.now.Add(time.Second)
						m.publish()
					}
					if done%apart == 0 {
						m.publish()
						m.must(m.checkPlaces())
						f := m.lineage.Freshness()
						b.Logf("%d operations: %d records, %+v", done, len(m.members), f)
						m.restart()
					}
				}
				m.must(m.reader.checkHistory())
				f := m.lineage.Freshness()
				m.require(f.Rows > 0, "nothing is published")
				b.ReportMetric(100*float64(f.Ghosts)/float64(f.Rows), "%ghosts")
				b.ReportMetric(100*float64(f.Stale)/float64(f.Rows), "%stale")
			}
		})
	}
}
