package incremental

import (
	"cmp"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// neighborRounds is how often classes that look alike after neighbors were united
// are united as well before one class of all ends it.
const neighborRounds = 16

// uniteNeighbors restores the constraints where one by one is too much work: each
// waiting record becomes a class, and classes that violate the constraints are united
// with the next ones in an order in which neighbors are similar. It takes the time
// of sorting.
func (s *settling) uniteNeighbors() {
	waiting := s.members.waiting
	s.members.waiting = nil
	for _, slot := range waiting {
		s.members.found([]int32{slot}, 2*s.members.k)
	}
	for range neighborRounds {
		if s.ctx.Err() != nil {
			return
		}
		s.uniteInOrder()
		if !s.members.distinct || !s.looks.unite(&s.nearest.compared) {
			s.members.settleDue()
			return
		}
	}
	s.uniteAll()
}

// uniteAll makes one class of all records: they satisfy the constraints together
// whatever has become of a division.
func (s *settling) uniteAll() {
	s.members.withholdAll()
	slots := s.members.waiting
	s.members.waiting = nil
	s.members.found(slots, 2*s.members.k)
	s.members.settleDue()
}

// uniteInOrder leaves only classes that satisfy the constraints.
func (s *settling) uniteInOrder() {
	var open run
	var closed []ClassID
	for i, id := range (ordering{&s.members.classes, s.nearest.domain}).ids() {
		if i%1000 == 0 && s.ctx.Err() != nil {
			return
		}
		s.extend(&open, id)
		if s.closes(&open) {
			closed = append(closed, open.id)
			open = run{}
		}
	}
	for open.id != 0 && len(closed) > 0 {
		last := len(closed) - 1
		s.extend(&open, closed[last])
		if closed = closed[:last]; s.closes(&open) {
			return
		}
	}
}

// run is a class in the making: it takes in further classes until it satisfies the
// constraints. Their cost grows with the class; it is not compared with them again
// before it has grown by a quarter, so that a long run costs as much as its records.
type run struct {
	id        ClassID // 0 for none
	summary   privacy.Summary
	compareAt int // size
}

func (s *settling) extend(r *run, id ClassID) {
	index := s.members.classes.index(id)
	added := s.population.summarize(s.members.classes.list[index].members)
	if r.id == 0 {
		r.id, r.summary = id, added
		return
	}
	index = s.unite(s.members.classes.index(r.id), index, &r.summary, added)
	r.id = s.members.classes.list[index].id
}

// closes reports whether the class satisfies the constraints, if it is time to
// compare it with them.
func (s *settling) closes(r *run) bool {
	index := s.members.classes.index(r.id)
	size := len(s.members.classes.list[index].members)
	if size < r.compareAt {
		return false
	}
	r.compareAt = size + max(1, size/4)
	return s.population.passes(index, r.summary)
}

// ordering puts classes into an order in which neighbors are similar.
type ordering struct {
	classes *classes
	domain  domain
}

// ids lists the classes, halved at the median of the attribute on which their middles
// lie furthest apart, and the halves likewise.
func (o ordering) ids() []ClassID {
	indexes := make([]int32, len(o.classes.list))
	for i := range indexes {
		indexes[i] = int32(i)
	}
	o.arrange(indexes)
	return pick(o.classes.ids, indexes)
}

func (o ordering) arrange(indexes []int32) {
	widest, most := -1, 0.0
	for a := range o.domain {
		e := emptyExtent
		for _, index := range indexes {
			middle := o.middle(index, a)
			e = extent{min(e.low, middle), max(e.high, middle)}
		}
		if width := (e.high/2 - e.low/2) / o.domain.delta(a); width > most {
			widest, most = a, width
		}
	}
	slices.SortFunc(indexes, func(i, j int32) int {
		byID := cmp.Compare(o.classes.ids[i], o.classes.ids[j])
		if widest < 0 {
			return byID
		}
		return cmp.Or(cmp.Compare(o.middle(i, widest), o.middle(j, widest)), byID)
	})
	if half := len(indexes) / 2; widest >= 0 && half > 0 {
		o.arrange(indexes[:half])
		o.arrange(indexes[half:])
	}
}

func (o ordering) middle(index int32, attribute int) float64 {
	e := o.classes.cover(index, attribute)
	return e.low/2 + e.high/2
}
