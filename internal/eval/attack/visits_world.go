package attack

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

const wards = 12

// visit of a person. Moments are numbers of events; -1 is before the first publication, never after all.
type visit struct {
	person   int
	day      int
	ward     uint32
	inserted int
	deleted  int
}

// visitEvent is a commit that inserts or deletes a visit.
type visitEvent struct {
	day    int
	visit  int
	insert bool
}

// visitWorld is what happens to persons and visits. A tenth of the visits are there from the beginning.
type visitWorld struct {
	setup   VisitSetup
	root    []anonymizer.Attribute
	date    anonymizer.Attribute
	persons [][]hierarchy.Cell
	visits  []visit
	events  []visitEvent
}

func newVisitWorld(s VisitSetup) *visitWorld {
	random := rand.New(rand.NewPCG(s.Seed, uint64(s.Persons)))
	number, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		panic(err) // the specification is complete
	}
	w := &visitWorld{setup: s, date: anonymizer.Attribute{Name: "day", Hierarchy: number}}
	pool := workload.AdultLike(s.Seed, s.Persons)
	for _, a := range used {
		w.root = append(w.root, pool.Attributes()[a])
	}
	for p := range s.Persons {
		cells := make([]hierarchy.Cell, len(used))
		for i, a := range used {
			cells[i] = pool.Cells(a)[p]
		}
		w.persons = append(w.persons, cells)
		// A gamma mixture of Poisson numbers: some persons come often.
		for range poisson(random, s.Rate*(random.ExpFloat64()+random.ExpFloat64()+random.ExpFloat64())/3) {
			w.come(random, p)
		}
	}
	slices.SortStableFunc(w.events, func(a, b visitEvent) int { return cmp.Compare(a.day, b.day) })
	for i, e := range w.events {
		if v := &w.visits[e.visit]; e.insert {
			v.inserted = i
		} else {
			v.deleted = i
		}
	}
	return w
}

// come makes a visit of a person. Wards are the rarer the higher their number, and go with the person.
func (w *visitWorld) come(random *rand.Rand, person int) {
	const before = 0.1
	v := visit{person: person, day: 1 + random.IntN(w.setup.Days), inserted: -1, deleted: never}
	v.ward = uint32(min(random.IntN(wards), random.IntN(wards)))
	if random.Float64() < 1.0/3 {
		v.ward = uint32((person * 7) % wards)
	}
	if random.Float64() < before {
		v.day = 0
	} else {
		w.events = append(w.events, visitEvent{v.day, len(w.visits), true})
	}
	if random.Float64() < w.setup.Deleted {
		w.events = append(w.events, visitEvent{v.day + 1 + random.IntN(w.setup.Days), len(w.visits), false})
	}
	w.visits = append(w.visits, v)
}

// visitPublisher publishes what happens. Publish is called after every commit, and at the end of each day.
type visitPublisher interface {
	insert(table int, r people.Row, day int) error
	remove(visit incremental.RecordID, day int) error
	publish(ctx context.Context, event, day int) error
	versions() *visitVersions
}

func (w *visitWorld) shape() people.Shape {
	return people.Shape{Root: w.root, Tables: []people.TableShape{{
		Name: "visits", Attributes: []anonymizer.Attribute{w.date}, Sensitive: 1, Parent: people.Root, Order: 0,
	}}}
}

func personKey(person int) (key people.Key) {
	binary.BigEndian.PutUint64(key[:], uint64(person+1))
	return key
}

func (w *visitWorld) person(number int, cells []hierarchy.Cell) people.Row {
	return people.Row{ID: incremental.RecordID(number + 1), Key: personKey(number), Cells: cells}
}

func (w *visitWorld) row(v int) people.Row {
	of := w.visits[v]
	return people.Row{ID: incremental.RecordID(v + 1), Of: personKey(of.person), Cells: []hierarchy.Cell{float64(of.day)}, Sensitive: []uint32{of.ward}}
}

// play lets everything happen, and two more rounds of days go by in which what waits appears.
func (w *visitWorld) play(ctx context.Context, p visitPublisher) error {
	for person, cells := range w.persons {
		if err := p.insert(people.Root, w.person(person, cells), 0); err != nil {
			return err
		}
	}
	for v := range w.visits {
		if w.visits[v].inserted >= 0 {
			continue
		}
		if err := p.insert(0, w.row(v), 0); err != nil {
			return err
		}
	}
	if err := p.publish(ctx, -1, 0); err != nil {
		return err
	}
	next := 0
	for day := range 3 * w.setup.Days {
		for ; next < len(w.events) && w.events[next].day <= day; next++ {
			if err := w.happen(p, w.events[next], day); err != nil {
				return err
			}
			if err := p.publish(ctx, next, day); err != nil {
				return err
			}
		}
		if err := p.publish(ctx, next-1, day); err != nil {
			return err
		}
	}
	return nil
}

func (w *visitWorld) happen(p visitPublisher, e visitEvent, day int) error {
	if e.insert {
		return p.insert(0, w.row(e.visit), day)
	}
	return p.remove(incremental.RecordID(e.visit+1), day)
}
