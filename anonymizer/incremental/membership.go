package incremental

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// admit stores a record; the caller gives it a class or lets it wait.
func (p *Partition) admit(r Record) int32 {
	p.widenDomain(r.Cells)
	slot := p.records.add(r)
	p.count(slot)
	return slot
}

// revalue replaces the values of a record.
func (p *Partition) revalue(slot int32, r Record) {
	p.widenDomain(r.Cells)
	if p.records.sameCounted(slot, r) {
		p.records.set(slot, r)
		return
	}
	p.discount(slot)
	p.records.set(slot, r)
	p.count(slot)
}

func (p *Partition) widenDomain(cells []hierarchy.Cell) {
	for a, attribute := range p.attributes {
		if position := attribute.Hierarchy.Position(cells[a]); !math.IsNaN(position) {
			p.domain[a] = p.domain[a].include(position)
		}
	}
}

func (p *Partition) position(attribute int, slot int32) float64 {
	return p.attributes[attribute].Hierarchy.Position(p.records.cells[attribute][slot])
}

func (p *Partition) classOf(slot int32) ClassID {
	if index := p.records.class[slot]; index >= 0 {
		return p.classes.list[index].id
	}
	return withheld
}

// wait puts a record without class among those waiting for one.
func (p *Partition) wait(slot int32) {
	p.records.class[slot] = -1
	p.records.seat[slot] = int32(len(p.waiting))
	p.waiting = append(p.waiting, slot)
	p.moved = append(p.moved, slot)
}

// join adds a record without class to a class and widens what that covers.
func (p *Partition) join(slot, index int32) {
	members := &p.classes.list[index].members
	p.records.class[slot] = index
	p.records.seat[slot] = int32(len(*members))
	*members = append(*members, slot)
	p.moved = append(p.moved, slot)
	for a := range p.attributes {
		p.classes.setCover(index, a, p.classes.cover(index, a).include(p.position(a, slot)))
	}
}

// leave takes a record out of its class or from those waiting.
func (p *Partition) leave(slot int32) {
	from := &p.waiting
	if index := p.records.class[slot]; index >= 0 {
		from = &p.classes.list[index].members
		p.change(index)
		p.classes.list[index].stale = true
	}
	seat, last := p.records.seat[slot], int32(len(*from)-1)
	other := (*from)[last]
	(*from)[seat] = other
	p.records.seat[other] = seat
	*from = (*from)[:last]
	p.records.class[slot] = -1
}

// examineLater has Settle look at a class.
func (p *Partition) examineLater(index int32) {
	if c := &p.classes.list[index]; !c.due {
		c.due = true
		p.due = append(p.due, c.id)
	}
}

// lookLater has Settle compare what readers see of a class with the others.
func (p *Partition) lookLater(index int32) {
	if c := &p.classes.list[index]; p.alike.needed && !c.unseen {
		c.unseen = true
		p.alike.unseen = append(p.alike.unseen, c.id)
	}
}

// rewrite notes that the published rows of a class are to be written anew.
func (p *Partition) rewrite(index int32) {
	c := &p.classes.list[index]
	c.rewrite = true
	if !c.noted {
		c.noted = true
		p.changed = append(p.changed, c.id)
	}
}

// change notes that members of a class or their values are not what they were.
func (p *Partition) change(index int32) {
	p.classes.list[index].altered = true
	p.rewrite(index)
	p.examineLater(index)
	p.lookLater(index)
}

func (p *Partition) retire(c *class) {
	if c.known {
		p.retired = append(p.retired, c.id)
	}
}

// found makes a new class of records without class, to be divided from some size on.
func (p *Partition) found(slots []int32, splitAt int) int32 {
	index := p.classes.add(p.nextClass, splitAt)
	p.nextClass++
	for _, slot := range slots {
		p.join(slot, index)
	}
	p.change(index)
	return index
}

// dissolve takes a class away and returns its members, now without class.
func (p *Partition) dissolve(index int32) []int32 {
	members := p.classes.list[index].members
	p.retire(&p.classes.list[index])
	p.classes.remove(index)
	if int(index) < len(p.classes.list) {
		for _, slot := range p.classes.list[index].members {
			p.records.class[slot] = index
		}
	}
	for _, slot := range members {
		p.records.class[slot] = -1
	}
	return members
}

// tighten computes anew what a class covers.
func (p *Partition) tighten(index int32) {
	c := &p.classes.list[index]
	for a := range p.attributes {
		e := extent{math.Inf(1), math.Inf(-1)}
		for _, slot := range c.members {
			e = e.include(p.position(a, slot))
		}
		p.classes.setCover(index, a, e)
	}
	c.stale = false
}

// covers reports whether all cells lie within what the class covers, so that
// their record fits in without any change of what is published.
func (p *Partition) covers(index int32, cells []hierarchy.Cell) bool {
	for a, attribute := range p.attributes {
		e := p.classes.cover(index, a)
		position := attribute.Hierarchy.Position(cells[a])
		inside := position >= e.low && position <= e.high
		if !inside && e.low != hiddenAt {
			return false
		}
	}
	return true
}
