package people_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

var (
	historyChanges = flag.Int("people.changes", 4000, "changes that releases for audiences follow in BenchmarkCoarserHistory")
	historyBatch   = flag.Int("people.batch", 10, "changes of each of its Settles")
	historySeed    = flag.Uint64("people.seed", 3, "of its data")
	historyVisits  = flag.Float64("people.visits", 3, "visits of a person in it, on average")
)

// visible is what readers see of the root and of visits, as changes leave it.
type visible [2]map[incremental.RecordID]visibleRow

type visibleRow struct {
	cell   int64
	pooled bool
	values []hierarchy.Generalization
}

func (v *visible) follow(c *people.MaintainedChanges) {
	for i, of := range []people.TableChanges{c.Root, c.Tables[0]} {
		if v[i] == nil {
			v[i] = map[incremental.RecordID]visibleRow{}
		}
		for _, id := range of.Gone {
			delete(v[i], id)
		}
		for _, cell := range of.Cells {
			for _, r := range cell.Rows {
				v[i][r.ID] = visibleRow{cell.ID, cell.Pooled, cell.Values}
			}
		}
	}
}

// losses are those of root rows and of visits, and of visits if those without keys lose all, and the share of visits with keys; in percent.
func (v *visible) losses(shape people.Shape) (root, visits, strict, keyed float64) {
	attributes := [2][]anonymizer.Attribute{shape.Root, shape.Tables[0].Attributes}
	var lost, with [2]float64
	for i := range v {
		cells, places := []people.PublishedCell(nil), map[string]int{}
		for id, r := range v[i] {
			key := fmt.Sprint(r.cell, r.pooled)
			at, known := places[key]
			if !known {
				at, places[key] = len(cells), len(cells)
				cells = append(cells, people.PublishedCell{Pooled: r.pooled, Values: r.values})
			}
			cells[at].Rows = append(cells[at].Rows, people.PublishedRow{ID: id})
		}
		lost[i], with[i] = lossOf(attributes[i], cells)
		cells = slices.DeleteFunc(cells, func(c people.PublishedCell) bool { return c.Pooled })
		kept, _ := lossOf(attributes[i], cells)
		strict = 1 - with[i]*(1-kept)
	}
	return 100 * lost[0], 100 * lost[1], 100 * strict, 100 * with[1]
}

// historic are tables that change, with what is made of them.
type historic struct {
	b       *testing.B
	shape   people.Shape
	random  *rand.Rand
	persons map[int]people.Row
	visits  map[int]people.Row
	ids     []int // of visits
	last    int
	follow  []*people.Maintained
}

func newHistoric(b *testing.B, persons int, seed uint64) *historic {
	d := hospital{persons: persons, visits: *historyVisits, flat: true}.data(seed)
	h := &historic{b: b, shape: shapeOf(d), random: rand.New(rand.NewPCG(seed, 9)), persons: map[int]people.Row{}, visits: map[int]people.Row{}}
	insertAll(b, d, func(table int, r people.Row) error {
		if table == people.Root {
			h.persons[int(r.ID)] = r
			return nil
		}
		h.visits[int(r.ID)] = r
		h.ids, h.last = append(h.ids, int(r.ID)), max(h.last, int(r.ID))
		return nil
	})
	return h
}

// release makes one of the tables as they are.
func (h *historic) release(k int) (*people.Maintained, *people.MaintainedChanges) {
	random := rand.New(rand.NewPCG(5, 6))
	m, err := people.NewMaintained(h.shape, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, people.Knows{All: true}, people.MaintainedOptions{
		Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() },
	})
	h.must(err)
	for id := range len(h.persons) {
		h.must(m.Insert(people.Root, h.persons[id+1]))
	}
	for _, id := range h.ids {
		h.must(m.Insert(0, h.visits[id]))
	}
	changes, err := m.Settle(h.b.Context())
	h.must(err)
	return m, changes
}

// coarser makes a release for an audience, and returns the processor time that it took.
func (h *historic) coarser(m *people.Maintained, finer *people.MaintainedChanges, k int) (*people.Coarser, *people.MaintainedChanges, time.Duration) {
	random := rand.New(rand.NewPCG(7, 8))
	c, err := people.NewCoarser(m, people.CoarserOptions{K: k, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }})
	h.must(err)
	used := processorTime(h.b)
	changes, err := c.Settle(h.b.Context(), finer)
	h.must(err)
	return c, changes, processorTime(h.b) - used
}

func (h *historic) must(err error) {
	if err != nil {
		h.b.Helper()
		h.b.Fatal(err)
	}
}

// change has a visit come or go, or, once in ten times, a person move to another postcode.
func (h *historic) change() {
	switch at := h.random.IntN(len(h.ids)); h.random.IntN(20) {
	case 0, 1:
		id := 1 + h.random.IntN(len(h.persons))
		r := h.persons[id]
		r.Cells = append([]hierarchy.Cell(nil), r.Cells...)
		r.Cells[2] = float64(10000 + h.random.IntN(2000))
		h.persons[id] = r
		for _, m := range h.follow {
			h.must(m.Modify(people.Root, r))
		}
	case 2, 3, 4, 5, 6, 7, 8, 9, 10:
		id := h.ids[at]
		h.ids[at] = h.ids[len(h.ids)-1]
		h.ids = h.ids[:len(h.ids)-1]
		delete(h.visits, id)
		for _, m := range h.follow {
			h.must(m.Delete(0, incremental.RecordID(id)))
		}
	default:
		h.last++
		r := people.Row{ID: incremental.RecordID(h.last), Key: rowKey(0, h.last), Of: rowKey(people.Root, h.random.IntN(len(h.persons))), Cells: []hierarchy.Cell{float64(8000 + h.random.IntN(days))}}
		h.visits[h.last], h.ids = r, append(h.ids, h.last)
		for _, m := range h.follow {
			h.must(m.Insert(0, r))
		}
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkCoarserHistory measures releases for an audience where all is known, at first and after a history of changes: beside one that is made anew
// of a finer release that is made anew, and one of the audience's k that is made alone, which follows all changes as well, or is made anew.
func BenchmarkCoarserHistory(b *testing.B) {
	for _, k := range []int{10, 25, 50} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			h := newHistoric(b, *benchmarked, *historySeed)
			report := func(what string, v *visible) {
				root, visits, strict, keyed := v.losses(h.shape)
				b.ReportMetric(root, what+"-root-%")
				b.ReportMetric(visits, what+"-visits-%")
				b.ReportMetric(strict, what+"-strict-%")
				b.ReportMetric(keyed, what+"-keyed-%")
			}
			anew := func(when string) (m *people.Maintained, c *people.Coarser, alone *people.Maintained, united, beside visible) {
				m, finer := h.release(5)
				c, coarse, used := h.coarser(m, finer, k)
				alone, changes := h.release(k)
				united.follow(coarse)
				beside.follow(changes)
				report(when+"-united", &united)
				report(when+"-alone", &beside)
				b.ReportMetric(used.Seconds(), when+"-processor-s")
				return m, c, alone, united, beside
			}
			m, c, alone, united, beside := anew("first")
			if *historyChanges == 0 {
				return
			}
			h.follow = []*people.Maintained{m, alone}
			var finerRows, rows, settles int
			var used time.Duration
			for at := 0; at < *historyChanges; at += *historyBatch {
				for range *historyBatch {
					h.change()
				}
				finer, err := m.Settle(b.Context())
				h.must(err)
				before := processorTime(b)
				coarse, err := c.Settle(b.Context(), finer)
				h.must(err)
				used += processorTime(b) - before
				united.follow(coarse)
				changes, err := alone.Settle(b.Context())
				h.must(err)
				beside.follow(changes)
				finerRows, rows, settles = finerRows+replaced(finer), rows+replaced(coarse), settles+1
			}
			report("later-united", &united)
			report("later-alone", &beside)
			anew("anew")
			b.ReportMetric(float64(finerRows)/float64(settles), "finer-replaced/settle")
			b.ReportMetric(float64(rows)/float64(settles), "united-replaced/settle")
			b.ReportMetric(float64(used.Milliseconds())/float64(settles), "processor-ms/settle")
		})
	}
}
