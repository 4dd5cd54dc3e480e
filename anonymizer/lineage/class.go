package lineage

import (
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
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
	// sealed says that counted values of its records were others when they were
	// published before: it is not cut, as a part might have had too few of those.
	sealed bool
	// told is how many ghosts the published weight knows of, and toldOf how many persons'
	// they are; that many at most, where the class was loaded.
	told, toldOf int
	atMost       bool
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

func (l *Lineage) isStaleRow(r row) bool { return !isGhost(r) && l.isStale(r.slot) }

// shown is what a row of a class shows of the sensitive attributes.
func (l *Lineage) shown(c *class, place int) []uint32 {
	n := max(0, l.sensitive)
	return c.codes[place*n : (place+1)*n : (place+1)*n]
}

// summarize counts rows of a class as they are published.
func (l *Lineage) summarize(c *class, part func(row) bool) privacy.Summary {
	s := l.newSummary()
	for place, r := range c.rows {
		if part(r) {
			l.addRow(&s, c, place)
		}
	}
	return s
}

func (l *Lineage) newSummary() privacy.Summary {
	if l.options.Subjects {
		return privacy.NewSubjectSummary(max(0, l.sensitive))
	}
	return privacy.NewSummary(max(0, l.sensitive))
}

func (l *Lineage) addRow(s *privacy.Summary, c *class, place int) {
	if l.options.Subjects {
		s.AddOf(c.rows[place].person, l.shown(c, place))
	} else {
		s.Add(l.shown(c, place))
	}
}

// summarizeRecords counts records as they are now.
func (l *Lineage) summarizeRecords(members []int32) privacy.Summary {
	s := l.newSummary()
	for _, slot := range members {
		if codes := l.records.sensitive.Row(slot); l.options.Subjects {
			s.AddOf(l.records.subject(slot), codes)
		} else {
			s.Add(codes)
		}
	}
	return s
}

func (l *Lineage) satisfied(s privacy.Summary) bool { return l.constraints.Satisfied(s, nil) }

// found publishes records as a new class, each as a row of its own. Rows and persons are
// numbered in random order, so that a number tells nothing of when its record came.
func (l *Lineage) found(members []int32, sealed bool) {
	c := &class{id: l.nextClass, patience: 1, sealed: sealed}
	l.nextClass++
	l.classes.add(c)
	if !l.unlisted {
		l.changes.Classes[c.id] = l.generalize(members)
	}
	random := rand.New(rand.NewPCG(l.options.Seed, uint64(c.id)))
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	persons := make(map[uint32]uint32)
	c.rows, c.codes = make([]row, 0, len(members)), make([]uint32, 0, len(members)*max(0, l.sensitive))
	for _, slot := range members {
		person := uint32(len(c.rows))
		if l.options.Subjects {
			known := false
			if person, known = persons[l.records.subject(slot)]; !known {
				person = uint32(len(persons))
				persons[l.records.subject(slot)] = person
			}
		}
		l.part(slot, parting{})
		at := l.records.at(slot)
		at.class, at.row = c.index, int32(len(c.rows))
		at.stamp++
		c.rows = append(c.rows, row{id: l.nextRow, slot: slot, person: person})
		c.codes = append(c.codes, l.records.sensitive.Row(slot)...)
		l.nextRow++
		if !l.unlisted {
			l.changes.Rows = append(l.changes.Rows, l.newRow(c, c.rows[at.row]))
			l.touch(slot)
		}
	}
	l.rows += len(c.rows)
}

// move has a row be found at another place of its class.
func (l *Lineage) move(r row, place int32) {
	if g, numbered := r.ghost(); numbered {
		l.left.rows[g] = place
	} else if !isGhost(r) {
		l.records.at(r.slot).row = place
	}
}

// remove takes rows away from a class and returns them, as a class that is nowhere.
func (l *Lineage) remove(c *class, part func(row) bool) *class {
	removed, before := &class{sealed: c.sealed}, c.weight()
	kept, codes := c.rows[:0], c.codes[:0]
	for place, r := range c.rows {
		shown := l.shown(c, place)
		if !part(r) {
			l.move(r, int32(len(kept)))
			kept, codes = append(kept, r), append(codes, shown...)
			continue
		}
		l.changes.Gone, l.changes.GoneFrom = append(l.changes.Gone, r.id), append(l.changes.GoneFrom, c.id)
		removed.rows, removed.codes = append(removed.rows, r), append(removed.codes, shown...)
		if isGhost(r) {
			l.ghosts--
			c.ghosts--
			if g, numbered := r.ghost(); numbered {
				l.vanish(g)
			}
		} else {
			c.stale--
		}
	}
	l.rows -= len(removed.rows)
	clear(c.rows[len(kept):])
	clear(c.codes[len(codes):])
	c.rows, c.codes = kept, codes
	if c.told > c.ghosts { // the others have vanished, or have come back
		l.know(c, l.summarize(c, isGhost).Records)
	}
	if len(kept) > 0 && c.weight() != before {
		l.changes.Weights[c.id] = c.weight()
	}
	return removed
}
