package people_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// BenchmarkGuardedCoarser measures guarded releases for audiences, of k = 10, 25 and 50 over 5, beside ones that are made
// alone at the same k: what root rows and visits lose, and how many visits are shown with keys, at first and when half as
// many have come.
func BenchmarkGuardedCoarser(b *testing.B) {
	d := hospital{persons: 20_000, visits: 3, windows: 3, flat: true}.data(1)
	shape := shapeOf(d)
	for name, knows := range map[string]people.Knows{"one": {Crowd: 8}, "all": {All: true}} {
		start := func(k int) *people.Guarded {
			random := rand.New(rand.NewPCG(5, 6))
			g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, knows, people.GuardedOptions{
				MaintainedOptions: people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }},
				RowsWithin:        60 * 24 * time.Hour,
			})
			if err != nil {
				b.Fatal(err)
			}
			return g
		}
		for _, k := range []int{10, 25, 50} {
			b.Run(fmt.Sprintf("knows=%s/k=%d", name, k), func(b *testing.B) {
				g, alone, random := start(5), start(k), rand.New(rand.NewPCG(7, 8))
				c, err := g.AddCoarser(people.CoarserOptions{K: k, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }})
				if err != nil {
					b.Fatal(err)
				}
				var seen, beside [2][]people.PublishedCell // of the root, and of visits
				publish := func(now time.Time) {
					_, err := g.Publish(b.Context(), now)
					if err != nil {
						b.Fatal(err)
					}
					changes, err := alone.Publish(b.Context(), now)
					if err != nil {
						b.Fatal(err)
					}
					for i, of := range c.Changes() {
						seen[i] = append(seen[i], of.Cells...)
					}
					beside[0], beside[1] = append(beside[0], changes.Root.Cells...), append(beside[1], changes.Tables[0].Cells...)
				}
				report := func(when string, visits int) {
					for what, cells := range map[string][2][]people.PublishedCell{"united": seen, "alone": beside} {
						root, _ := lossOf(shape.Root, cells[0])
						loss, _ := lossOf(shape.Tables[0].Attributes, cells[1])
						keyed := 0
						for _, cell := range cells[1] {
							if !cell.Pooled {
								keyed += len(cell.Rows)
							}
						}
						b.ReportMetric(100*root, what+"-"+when+"-root-%")
						b.ReportMetric(100*loss, what+"-"+when+"-visits-%")
						b.ReportMetric(100*float64(keyed)/float64(visits), what+"-"+when+"-keyed-%")
					}
				}
				insert := func(table int, r people.Row) error {
					if err := g.Insert(table, r, guardedStart); err != nil {
						return err
					}
					return alone.Insert(table, r, guardedStart)
				}
				insertAll(b, d, insert)
				b.ResetTimer()
				publish(guardedStart)
				b.StopTimer()
				visits := g.Len(0)
				report("first", visits)
				for day := range 30 {
					for i := range visits / 60 {
						at := incremental.RecordID(1<<40 + day<<20 + i)
						if err := insert(0, people.Row{ID: at, Of: rowKey(people.Root, random.IntN(20_000)), Window: int32(random.IntN(3)), Cells: []hierarchy.Cell{float64(8000 + random.IntN(1000))}}); err != nil {
							b.Fatal(err)
						}
					}
					publish(guardedStart.Add(time.Duration(day) * 24 * time.Hour))
				}
				report("later", g.Len(0))
			})
		}
	}
}
