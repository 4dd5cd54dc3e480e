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
// many have come. Some have a ward of each visit, and bounds on how many persons have one, or on how many wards there are.
func BenchmarkGuardedCoarser(b *testing.B) {
	cases := guardedCases()
	for name, knows := range map[string]people.Knows{"one": {Crowd: 8}, "all": {All: true}} {
		start := func(shape people.Shape, k int) *people.Guarded {
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
		for _, of := range cases {
			b.Run(fmt.Sprintf("knows=%s/%s", name, of.name), func(b *testing.B) {
				k, d := of.k, of.of
				shape := shapeOf(d)
				g, alone, random := start(shape, 5), start(shape, k), rand.New(rand.NewPCG(7, 8))
				c, err := g.AddCoarser(people.CoarserOptions{K: k, Constraints: of.stated, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }})
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
					for i, of := range c.Changes()[:len(seen)] {
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
						if err := insert(0, people.Row{ID: at, Of: rowKey(people.Root, random.IntN(*benchmarked)), Window: int32(random.IntN(3)), Cells: []hierarchy.Cell{float64(8000 + random.IntN(1000))}, Sensitive: wards(random)[:shape.Tables[0].Sensitive]}); err != nil {
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

// wards draws that of a visit: of ten, the most frequent one is that of three visits in ten.
func wards(random *rand.Rand) []uint32 {
	at := random.Float64()
	return []uint32{uint32(10 * at * at)}
}

// guardedCase is an audience of some data.
type guardedCase struct {
	name   string
	k      int
	of     *people.Data
	stated privacy.ConstraintSet
}

func guardedCases() []guardedCase {
	flat, warded := hospital{persons: *benchmarked, visits: 3, windows: 3, flat: true}.data(1), hospital{persons: *benchmarked, visits: 3, windows: 3, flat: true}.data(1)
	codes, draw := make([]uint32, warded.Tables[0].Rows.Len()), rand.New(rand.NewPCG(3, 4))
	for i := range codes {
		codes[i] = wards(draw)[0]
	}
	warded.Tables[0].Rows = table(flat.Tables[0].Rows.Attributes(), [][]float64{flat.Tables[0].Rows.Cells(0)}, [][]uint32{codes})
	return []guardedCase{
		{"k=10", 10, flat, nil},
		{"k=25", 25, flat, nil},
		{"k=50", 50, flat, nil},
		{"k=25,wards", 25, warded, nil},
		{"k=25,alpha=0.5", 25, warded, privacy.ConstraintSet{privacy.AlphaBound{Alpha: 0.5}}},
		{"k=25,alpha=0.4", 25, warded, privacy.ConstraintSet{privacy.AlphaBound{Alpha: 0.4}}},
		{"k=25,l=8", 25, warded, privacy.ConstraintSet{privacy.DistinctDiversity{L: 8}}},
	}
}
