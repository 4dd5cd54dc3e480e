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

func (p *Partition) classOf(slot int32) ClassID {
	if index := p.records.at[slot].class; index >= 0 {
		return p.classes.list[index].id
	}
	return withheld
}

// wait puts a record without class among those waiting for one.
func (p *Partition) wait(slot int32) {
	p.records.at[slot] = seat{unplaced, int32(len(p.waiting))}
	p.waiting = append(p.waiting, slot)
}

// join adds a record without class to a class and widens what that covers.
func (p *Partition) join(slot, index int32) {
	p.move(slot)
	p.sit(slot, index)
}

// sit is join for a record of which it is known that it has been there.
func (p *Partition) sit(slot, index int32) {
	members := &p.classes.list[index].members
	p.records.at[slot] = seat{index, int32(len(*members))}
	*members = append(*members, slot)
	p.include(p.classes.row(index), slot)
	p.classes.stray(index)
}

// include widens extents by a record.
func (p *Partition) include(extents []extent, slot int32) {
	for a, c := range p.records.cells.Row(slot) {
		extents[a] = extents[a].include(p.attributes[a].Hierarchy.Position(c))
	}
}

// move notes where a record was at the last Settle, before it leaves for the first
// time since.
func (p *Partition) move(slot int32) { p.moveFrom(slot, p.classOf(slot)) }

func (p *Partition) moveFrom(slot int32, class ClassID) {
	if !p.untold && p.records.moved.Set(slot) {
		p.moved = append(p.moved, move{slot, class})
	}
}

// leave takes a record out of its class or from those waiting.
func (p *Partition) leave(slot int32) {
	from := &p.waiting
	if index := p.records.at[slot].class; index >= 0 {
		from = &p.classes.list[index].members
		p.change(index)
		p.classes.list[index].stale = true
	}
	place, last := p.records.at[slot].place, int32(len(*from)-1)
	other := (*from)[last]
	(*from)[place] = other
	p.records.at[other].place = place
	*from = (*from)[:last]
	p.records.at[slot].class = unplaced
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
	p.classes.list[index].members = make([]int32, 0, max(len(slots), min(splitAt, 2*p.k)))
	p.nextClass++
	for _, slot := range slots {
		p.join(slot, index)
	}
	p.change(index)
	return index
}

// dissolve takes a class away and returns its members, now without class.
func (p *Partition) dissolve(index int32) []int32 {
	members, id := p.classes.list[index].members, p.classes.list[index].id
	p.retire(&p.classes.list[index])
	p.classes.remove(index)
	if int(index) < len(p.classes.list) {
		for _, slot := range p.classes.list[index].members {
			p.records.at[slot].class = index
		}
	}
	for _, slot := range members {
		p.moveFrom(slot, id)
		p.records.at[slot].class = unplaced
	}
	return members
}

// tighten computes anew what a class covers.
func (p *Partition) tighten(index int32) {
	c := &p.classes.list[index]
	covers := p.classes.row(index)
	for a := range covers {
		covers[a] = extent{math.Inf(1), math.Inf(-1)}
	}
	for _, slot := range c.members {
		p.include(covers, slot)
	}
	p.classes.stray(index)
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
