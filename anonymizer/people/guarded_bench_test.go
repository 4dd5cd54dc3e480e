package people_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// guard inserts generated data into a guarded release.
func guard(t testing.TB, d *people.Data, knows people.Knows, o people.GuardedOptions) *people.Guarded {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	o.MaintainedOptions = people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }}
	g, err := people.NewGuarded(shapeOf(d), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, knows, o)
	if err != nil {
		t.Fatal(err)
	}
	insertAll(t, d, func(table int, r people.Row) error { return g.Insert(table, r, guardedStart) })
	return g
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkGuarded measures a Publish after 200 new visits of 20,000 persons with three visits
// each in three windows; first-s are the seconds of the first Publish, B/row the memory of a
// person or row after it, and rows/op how many rows a Publish adds.
func BenchmarkGuarded(b *testing.B) {
	const persons, changes = 20_000, 200
	for name, knows := range map[string]people.Knows{"one": {}, "all": {All: true}} {
		b.Run(fmt.Sprintf("knows=%s/persons=%d/changes=%d", name, persons, changes), func(b *testing.B) {
			d := hospital{persons: persons, visits: 3, windows: 3, flat: true}.data(1)
			before := heap()
			now := guardedStart
			g := guard(b, d, knows, people.GuardedOptions{RowsWithin: 90 * 24 * time.Hour})
			b.ResetTimer()
			if _, err := g.Publish(b.Context(), now); err != nil {
				b.Fatal(err)
			}
			first := b.Elapsed().Seconds()
			next := d.Tables[0].Rows.Len()
			bytes := (heap() - before) / float64(persons+next)
			random, written := rand.New(rand.NewPCG(1, 1)), 0
			b.ResetTimer()
			for range b.N {
				now = now.Add(24 * time.Hour)
				for range changes {
					next++
					r := people.Row{ID: incremental.RecordID(next), Of: rowKey(people.Root, random.IntN(persons)), Window: 2, Cells: []hierarchy.Cell{float64(8800 + random.IntN(250))}}
					if err := g.Insert(0, r, now); err != nil {
						b.Fatal(err)
					}
				}
				changed, err := g.Publish(b.Context(), now)
				if err != nil {
					b.Fatal(err)
				}
				for _, cell := range changed.Tables[0].Cells {
					written += len(cell.Rows)
				}
			}
			b.ReportMetric(first, "first-s")
			b.ReportMetric(bytes, "B/row")
			b.ReportMetric(float64(written)/float64(b.N), "rows/op")
		})
	}
}

var measureWaiting = flag.Bool("people.waiting", false, "measure how long rows of guarded releases wait")

// pace is a point between fresh rows, exact rows and exact persons. The first three are the named ones of
// catalog.Pace.
type pace struct {
	crowd, window, within int // window and within in days
}

// TestWaiting measures how long new rows wait, how many of them are pooled, and how exact their dates are,
// over a year in which each of 4,000 persons has one visit on average, or six; and what the root loses.
func TestWaiting(t *testing.T) {
	t.Parallel()
	persons, rates, paces := 400, []float64{1}, []pace{{8, 365, 60}}
	if *measureWaiting {
		persons, rates = 4000, []float64{1, 6}
		paces = []pace{{8, 365, 60}, {16, 365, 30}, {64, 365, 10}}
		for _, days := range []int{15, 30, 90, 180} {
			paces = append(paces, pace{8, 365, days})
		}
		paces = append(paces, pace{16, 182, 30}, pace{16, 91, 30}, pace{64, 30, 10})
	}
	for _, p := range paces {
		for _, rate := range rates {
			waits(t, persons, rate, p)
		}
	}
}

func waits(t *testing.T, persons int, rate float64, p pace) {
	t.Helper()
	d := hospital{persons: persons, visits: 0, windows: 1, flat: true}.data(1)
	g := guard(t, d, people.Knows{Crowd: p.crowd}, people.GuardedOptions{RowsWithin: time.Duration(p.within) * 24 * time.Hour})
	random := rand.New(rand.NewPCG(3, 4))
	came, next := map[incremental.RecordID]int{}, 0
	keyed, pooled, waited, spread := 0, 0, 0, 0.0
	const year = 365
	for day := range 2 * year {
		now := guardedStart.Add(time.Duration(day) * 24 * time.Hour)
		if day < year {
			for range poisson(random, float64(persons)*rate/year) {
				next++
				r := people.Row{ID: incremental.RecordID(next), Of: rowKey(people.Root, random.IntN(persons)), Window: int32(day / p.window), Cells: []hierarchy.Cell{float64(8000 + day)}}
				came[r.ID] = day
				if err := g.Insert(0, r, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		changed, err := g.Publish(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range changed.Tables[0].Cells {
			for _, r := range cell.Rows {
				if cell.Pooled {
					pooled++
					continue
				}
				keyed++
				waited += day - came[r.ID]
				h := d.Tables[0].Rows.Attributes()[0].Hierarchy
				spread += float64(h.Encode(cell.Values[0].Upper) - h.Encode(cell.Values[0].Lower))
			}
		}
	}
	if keyed+pooled < next*9/10 || keyed == 0 {
		t.Errorf("of %d rows, %d have keys and %d are pooled", next, keyed, pooled)
	}
	t.Logf("crowd %d, windows of %d days, rows within %d days, %.0f visits a year: root loss %.3f, %.1f %% without keys, those with keys wait %.0f days, dates are exact to %.0f days",
		p.crowd, p.window, p.within, rate, rootLoss(t, persons, p.crowd), 100*float64(pooled)/float64(next), float64(waited)/float64(keyed), spread/float64(keyed))
}

// rootLoss is what a release loses of root rows.
func rootLoss(t *testing.T, persons, crowd int) float64 {
	t.Helper()
	d := hospital{persons: persons, visits: 1, windows: 1, flat: true}.data(1)
	r, err := people.Anonymize(t.Context(), d, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, people.Knows{Crowd: crowd}, people.Options{Options: anonymizer.Options{Seed: 1}, Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return measure(t, d, r).root
}
