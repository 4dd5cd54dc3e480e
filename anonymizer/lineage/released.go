package lineage

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
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
	// tallied is what is reported of its ghosts.
	tallied *tally.Item[*class]
}

// row is a published row, and whose it is.
type row struct {
	id     RowID
	slot   int32  // nobody or less: a ghost
	person uint32 // numbered, so that it leads to nobody who has no other row
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
	tally      *tally.Tally[*class]
	numbering  numbering
	returnable ghosts // ghosts to whose rows a record may come back
	nextClass  incremental.ClassID
	nextRow    RowID
	ghosts     int // rows that stand for nobody
	rows       int
	dirty      []*class // classes to look at
}

// found publishes records as a new class, each as a row of its own. Rows and persons are
// numbered in random order, so that a number does not show when its record came. From is where they were
// published before; nil for new ones.
func (p *released) found(members []int32, sealed bool, from *renewed) {
	c := &class{id: p.nextClass, patience: 1, sealed: sealed}
	p.nextClass++
	p.classes.add(c)
	var labels []hierarchy.Generalization
	if !p.log.unlisted || p.log.followed {
		labels = p.records.generalize(p.rules.attributes, members)
	}
	if !p.log.unlisted {
		p.log.changes.Classes[c.id] = labels
	}
	random := rand.New(rand.NewPCG(p.seed, uint64(c.id)))
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	c.rows, c.codes = make([]row, 0, len(members)), make([]uint32, 0, len(members)*max(0, p.rules.sensitive))
	for _, slot := range members {
		person := uint32(len(c.rows))
		if p.rules.subjects {
			person = p.numbering.of(p.records.subject(slot))
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
	c.tallied = p.count(c)
	if p.log.followed {
		p.log.step.born = append(p.log.step.born, birth{c.id, labels, from.origin(c)})
	}
}

// renewed are rows whose records are published anew.
type renewed struct {
	class   incremental.ClassID
	changed columns
	rows    map[int32]RowID // by the slots of records
}

// origin is what a coarser release has to know of a class that is made of some of the rows.
func (o *renewed) origin(c *class) *origin {
	if o == nil {
		return nil
	}
	from := &origin{class: o.class, changed: o.changed, rows: make([]replaced, len(c.rows))}
	for i, r := range c.rows {
		from.rows[i] = replaced{o.rows[r.slot], r.id}
	}
	return from
}

// count has the tally know of a class. Where persons are numbered within each class, it is not known whose
// its rows are among those of others.
func (p *released) count(c *class) *tally.Item[*class] {
	if p.numbering.local {
		return p.tally.AddAlone(int64(c.id), len(c.rows), c)
	}
	return p.tally.Add(int64(c.id), len(c.rows), c)
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
	var ghosts []uint64
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
			ghosts = append(ghosts, uint64(r.person))
			p.forget(r)
		} else {
			c.stale--
		}
	}
	p.rows -= len(removed.rows)
	clear(c.codes[len(codes):])
	c.rows, c.codes = kept, codes
	p.tally.Vanish(c.tallied, len(removed.rows), ghosts)
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
			if p.forget(r); isGhost(r) { // or somebody who comes back would keep a class of nobody else
				c.rows[i].slot = nobody
			} else {
				p.leave(c, &c.rows[i])
			}
		}
		c.stale = 0
		p.disturb(c)
	}
}

// leave makes a row a ghost.
func (p *released) leave(c *class, r *row) {
	p.log.move(c, *r, false)
	r.slot = nobody
	c.ghosts++
	p.ghosts++
	p.tally.Leave(c.tallied, uint64(r.person))
	p.disturb(c)
}

// weigh notes the weights that have changed.
func (p *released) weigh(changes *Changes) {
	weights := p.tally.Settle()
	for _, item := range weights.Items {
		changes.Weights[item.Of.id] = newWeight(item.Weight())
	}
	for number, w := range weights.Groups {
		changes.Weights[incremental.ClassID(number)] = newWeight(w)
	}
}
