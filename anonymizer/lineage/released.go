package lineage

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// class is a published equivalence class. It only ever loses rows.
type class struct {
	id    incremental.ClassID
	index int32 // among the classes
	rows  []row
	codes []uint32 // what each row shows of the sensitive attributes, row by row

	ghosts, stale int // rows
	// disturbed counts the rows that became ghosts or stale since a cut was last
	// tried; the next try waits for as many as patience says.
	disturbed, patience int
	dirty               bool
	// sealed means that counted values of its records were others when they were
	// published before: it is not cut, as a part might have had too few of those.
	sealed bool
	// tallied is what is told of its ghosts.
	tallied *tally.Item
}

// row is a published row, and whose it is.
type row struct {
	id     RowID
	slot   int32  // nobody or less: a ghost
	person uint32 // numbered within the class, so that it leads to nobody
}

// nobody takes the place of a record's slot; see also Ghost.slot.
const nobody = -1

func isGhost(r row) bool { return r.slot <= nobody }
func isAny(row) bool     { return true }

// released is all that is published: classes and their rows.
type released struct {
	records *records
	rules   *rules
	log     *changeLog
	seed    uint64

	classes    classes
	tally      *tally.Tally
	returnable ghosts // ghosts to whose rows a record may come back
	nextClass  incremental.ClassID
	nextRow    RowID
	ghosts     int // rows that stand for nobody
	rows       int
	dirty      []*class // classes to look at
}

// found publishes records as a new class, each as a row of its own. Rows and persons are
// numbered in random order, so that a number does not show when its record came.
func (p *released) found(members []int32, sealed bool) {
	c := &class{id: p.nextClass, patience: 1, sealed: sealed}
	p.nextClass++
	p.classes.add(c)
	if !p.log.unlisted {
		p.log.changes.Classes[c.id] = p.records.generalize(p.rules.attributes, members)
	}
	random := rand.New(rand.NewPCG(p.seed, uint64(c.id)))
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	persons := make(map[uint32]uint32)
	c.rows, c.codes = make([]row, 0, len(members)), make([]uint32, 0, len(members)*max(0, p.rules.sensitive))
	for _, slot := range members {
		person := uint32(len(c.rows))
		if p.rules.subjects {
			known := false
			if person, known = persons[p.records.subject(slot)]; !known {
				person = uint32(len(persons))
				persons[p.records.subject(slot)] = person
			}
		}
		p.records.setDifference(slot, difference{})
		at := p.records.at(slot)
		at.class, at.row = c.index, int32(len(c.rows))
		at.stamp++
		c.rows = append(c.rows, row{id: p.nextRow, slot: slot, person: person})
		c.codes = append(c.codes, p.records.sensitive.Row(slot)...)
		p.nextRow++
		if !p.log.unlisted {
			p.log.changes.Rows = append(p.log.changes.Rows, p.newRow(c, c.rows[at.row]))
		}
		p.log.touch(slot)
	}
	p.rows += len(c.rows)
	c.tallied = p.tally.Add(int64(c.id), len(c.rows))
}

func (p *released) newRow(c *class, r row) NewRow {
	return NewRow{ID: r.id, Class: c.id, Record: p.records.ids[r.slot], Person: r.person, Sealed: c.sealed}
}

// rowOf is the class and the row of a published record.
func (p *released) rowOf(slot int32) (*class, *row) {
	at := p.records.at(slot)
	c := p.classes.list[at.class]
	return c, &c.rows[at.row]
}

// move notes that a row has another place in its class.
func (p *released) move(r row, place int32) {
	if g, numbered := r.ghost(); numbered {
		p.returnable.rows[g] = place
	} else if !isGhost(r) {
		p.records.at(r.slot).row = place
	}
}

// remove takes rows away from a class and returns them, as a class that is nowhere.
func (p *released) remove(c *class, part func(row) bool) *class {
	removed := &class{sealed: c.sealed}
	kept, codes := c.rows[:0], c.codes[:0]
	for place, r := range c.rows {
		shown := p.rules.shown(c, place)
		if !part(r) {
			p.move(r, int32(len(kept)))
			kept, codes = append(kept, r), append(codes, shown...)
			continue
		}
		p.log.gone(r, c)
		removed.rows, removed.codes = append(removed.rows, r), append(removed.codes, shown...)
		if isGhost(r) {
			p.ghosts--
			c.ghosts--
			removed.ghosts++
			p.forget(r)
		} else {
			c.stale--
		}
	}
	p.rows -= len(removed.rows)
	clear(c.codes[len(codes):])
	c.rows, c.codes = kept, codes
	p.tally.Vanish(c.tallied, len(removed.rows), p.ghostsOf(removed), p.ghostsOf(c))
	return removed
}

// forget forgets the number of a ghost whose row has gone, or to which nobody can come back.
func (p *released) forget(r row) {
	if g, numbered := r.ghost(); numbered {
		p.returnable.remove(g)
		p.log.changes.Vanished = append(p.log.changes.Vanished, g)
	}
}

// disturb notes that a row of a class became a ghost or stale.
func (p *released) disturb(c *class) {
	c.disturbed++
	if !c.dirty {
		c.dirty = true
		p.dirty = append(p.dirty, c)
	}
}

// clear makes all rows ghosts to which nobody can come back.
func (p *released) clear() {
	for _, c := range p.classes.list {
		if c == nil {
			continue
		}
		for i, r := range c.rows {
			p.forget(r) // or somebody who comes back would keep a class of nobody else
			c.rows[i].slot = nobody
		}
		p.ghosts += len(c.rows) - c.ghosts
		c.ghosts, c.stale = len(c.rows), 0
		p.disturb(c)
	}
}

// tell has what is told of the ghosts of a class follow what there is.
func (p *released) tell(c *class) {
	told, k := c.tallied.Weight().Told, p.rules.k
	if p.rules.subjects && c.ghosts < told.Persons+k && told.Rows < c.ghosts+k { // persons have a row each at least
		return
	}
	p.tally.Set(c.tallied, p.ghostsOf(c))
}

// ghostsOf counts the ghosts of a class, and their persons.
func (p *released) ghostsOf(c *class) tally.Count {
	if !p.rules.subjects {
		return tally.Count{Rows: c.ghosts, Persons: c.ghosts}
	}
	return tally.Count{Rows: c.ghosts, Persons: p.rules.persons(c, isGhost)}
}

// weigh notes the weights that have changed.
func (p *released) weigh(changes *Changes) {
	weights := p.tally.Settle()
	for _, item := range weights.Items {
		changes.Weights[incremental.ClassID(item.Class())] = newWeight(item.Weight())
	}
	for number, w := range weights.Groups {
		changes.Weights[incremental.ClassID(number)] = newWeight(w)
	}
}
