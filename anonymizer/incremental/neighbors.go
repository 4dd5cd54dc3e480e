package incremental

import (
	"cmp"
	"math"
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
func (p *Partition) uniteNeighbors() {
	waiting := p.waiting
	p.waiting = nil
	for _, slot := range waiting {
		p.found([]int32{slot}, 2*p.k)
	}
	for range neighborRounds {
		if p.ctx.Err() != nil {
			return
		}
		p.uniteInOrder()
		if !p.alike.needed || !p.uniteAlike() {
			p.settleDue()
			return
		}
	}
	p.uniteAll()
}

// uniteAll makes one class of all records: they satisfy the constraints together
// whatever has become of a division.
func (p *Partition) uniteAll() {
	p.withholdAll()
	slots := p.waiting
	p.waiting = nil
	p.found(slots, 2*p.k)
	p.settleDue()
}

// settleDue forgets which classes are due.
func (p *Partition) settleDue() {
	for _, id := range p.due {
		if index := p.classes.index(id); index >= 0 {
			p.classes.list[index].due = false
		}
	}
	p.due = p.due[:0]
}

// uniteInOrder leaves only classes that satisfy the constraints.
func (p *Partition) uniteInOrder() {
	var open run
	var closed []ClassID
	for i, id := range p.arranged() {
		if i%1000 == 0 && p.ctx.Err() != nil {
			return
		}
		p.extend(&open, id)
		if p.closes(&open) {
			closed = append(closed, open.id)
			open = run{}
		}
	}
	for open.id != 0 && len(closed) > 0 {
		last := len(closed) - 1
		p.extend(&open, closed[last])
		if closed = closed[:last]; p.closes(&open) {
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

func (p *Partition) extend(r *run, id ClassID) {
	index := p.classes.index(id)
	added := p.summarize(p.classes.list[index].members)
	if r.id == 0 {
		r.id, r.summary = id, added
		return
	}
	index = p.unite(p.classes.index(r.id), index, &r.summary, added)
	r.id = p.classes.list[index].id
}

// closes reports whether the class satisfies the constraints, if it is time to
// compare it with them.
func (p *Partition) closes(r *run) bool {
	index := p.classes.index(r.id)
	size := len(p.classes.list[index].members)
	if size < r.compareAt {
		return false
	}
	r.compareAt = size + max(1, size/4)
	return p.passes(index, r.summary)
}

// arranged lists the classes in an order in which neighbors are similar: halved
// at the median of the attribute on which their middles lie furthest apart, and
// the halves likewise.
func (p *Partition) arranged() []ClassID {
	indexes := make([]int32, len(p.classes.list))
	for i := range indexes {
		indexes[i] = int32(i)
	}
	p.arrange(indexes)
	ids := make([]ClassID, len(indexes))
	for i, index := range indexes {
		ids[i] = p.classes.list[index].id
	}
	return ids
}

func (p *Partition) arrange(indexes []int32) {
	widest, most := -1, 0.0
	for a := range p.attributes {
		e := extent{math.Inf(1), math.Inf(-1)}
		for _, index := range indexes {
			middle := p.middle(index, a)
			e = extent{min(e.low, middle), max(e.high, middle)}
		}
		if width := (e.high/2 - e.low/2) / p.delta(a); width > most {
			widest, most = a, width
		}
	}
	slices.SortFunc(indexes, func(i, j int32) int {
		byID := cmp.Compare(p.classes.list[i].id, p.classes.list[j].id)
		if widest < 0 {
			return byID
		}
		return cmp.Or(cmp.Compare(p.middle(i, widest), p.middle(j, widest)), byID)
	})
	if half := len(indexes) / 2; widest >= 0 && half > 0 {
		p.arrange(indexes[:half])
		p.arrange(indexes[half:])
	}
}

func (p *Partition) middle(index int32, attribute int) float64 {
	e := p.classes.cover(index, attribute)
	return e.low/2 + e.high/2
}
