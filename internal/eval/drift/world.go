package drift

import (
	"fmt"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// Mix says how often each operation is done, relative to the others. Inserted are
// new records of the workload; deleted is any record, all of them alike; modified
// is one attribute of any record, which takes another record's value.
type Mix struct {
	Insert float64 `json:"insert"`
	Delete float64 `json:"delete"`
	Modify float64 `json:"modify"`
}

func (m Mix) sum() float64 { return m.Insert + m.Delete + m.Modify }

// The workloads by their names.
const (
	AdultLike = "adult-like"
	Census    = "census"
)

// Workloads are the data that a setup can name: workload.AdultLike and
// workload.Census.
func Workloads() []string { return []string{AdultLike, Census} }

// mostPool bounds the different records of a run; beyond them they come again.
const mostPool = 1 << 20

// world makes the operations of a run. The same setup and seed make the same.
type world struct {
	random *rand.Rand
	pool   *anonymizer.Table
	next   int // number of records inserted so far
	drawn  int // number of records of the pool drawn so far
	live   []incremental.Record
}

func newWorld(s Setup, seed uint64) *world {
	size := min(s.Records+s.Operations, max(mostPool, s.Records))
	w := &world{random: rand.New(rand.NewPCG(seed, 3))}
	if s.Data == Census {
		w.pool = workload.Census(seed, size).Table()
	} else {
		w.pool = workload.AdultLike(seed, size)
	}
	return w
}

// draw takes the next record of the pool.
func (w *world) draw() []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(w.pool.Attributes()))
	for a := range cells {
		cells[a] = w.pool.Cells(a)[w.drawn%w.pool.Len()]
	}
	w.drawn++
	return cells
}

// step does one random operation.
func (w *world) step(m Mix, both func(func(*incremental.Partition) error) error) error {
	choice := w.random.Float64() * m.sum()
	switch {
	case choice < m.Insert || len(w.live) == 0:
		return w.insert(both)
	case choice < m.Insert+m.Delete:
		return w.remove(both)
	default:
		return w.modify(both)
	}
}

func (w *world) insert(both func(func(*incremental.Partition) error) error) error {
	w.next++
	r := incremental.Record{ID: incremental.RecordID(w.next), Cells: w.draw()}
	w.live = append(w.live, r)
	return both(func(p *incremental.Partition) error { return p.Insert(r) })
}

func (w *world) remove(both func(func(*incremental.Partition) error) error) error {
	place, last := w.random.IntN(len(w.live)), len(w.live)-1
	id := w.live[place].ID
	w.live[place], w.live = w.live[last], w.live[:last]
	return both(func(p *incremental.Partition) error { return p.Delete(id) })
}

func (w *world) modify(both func(func(*incremental.Partition) error) error) error {
	r := w.live[w.random.IntN(len(w.live))]
	if len(r.Cells) == 0 {
		return fmt.Errorf("modifying record %d: it has no attribute", r.ID)
	}
	a := w.random.IntN(len(r.Cells))
	r.Cells[a] = w.draw()[a]
	return both(func(p *incremental.Partition) error { return p.Modify(r) })
}
