package lineage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Ghost numbers a row whose record has left, from [Lineage.Leave] until the record comes back
// or the row vanishes, or the table is truncated; the number is then used again. It leads to
// the row, and to what stands for the record's copied values, which cannot be read from it.
type Ghost int32

// ghosts are the rows to which a record may come back.
type ghosts struct {
	classes []int32              // by ghost: index of its class
	rows    []int32              // by ghost: its place among the class's rows
	copied  compact.Slab[uint64] // by ghost: stand for what the row shows, but where changed says that it does not
	changed map[Ghost]change     // of those whose rows were stale
	free    []Ghost
}

// add numbers a row.
func (s *ghosts) add(class, row int32, copied []uint64, changed change) Ghost {
	if s.changed == nil {
		s.changed, s.copied = make(map[Ghost]change), compact.NewSlab[uint64](len(copied))
	}
	var g Ghost
	if last := len(s.free) - 1; last >= 0 {
		g, s.free = s.free[last], s.free[:last]
	} else {
		g = Ghost(len(s.classes))
		s.classes, s.rows = append(s.classes, 0), append(s.rows, 0)
		s.copied.Grow()
	}
	s.classes[g], s.rows[g] = class, row
	copy(s.copied.Row(int32(g)), copied)
	if changed != (change{}) {
		s.changed[g] = changed
	}
	return g
}

// remove forgets a ghost.
func (s *ghosts) remove(g Ghost) {
	clear(s.copied.Row(int32(g)))
	delete(s.changed, g)
	if s.free = append(s.free, g); len(s.free) == len(s.classes) {
		*s = ghosts{} // they may have been many
	}
}

// A ghost that is numbered takes the place of a record's slot, below nobody.
func (g Ghost) slot() int32 { return nobody - 1 - int32(g) }

// ghost is the number of a row that has one.
func (r row) ghost() (Ghost, bool) { return Ghost(nobody - 1 - r.slot), r.slot < nobody }

// Left is what stays of a record that has left: the row in which it was published.
type Left struct {
	Ghost   Ghost
	Class   incremental.ClassID
	Row     RowID
	Changed string // see Place
}

// Leave is [Lineage.Delete] of a record that may come back. Nothing stays of one that was not
// published.
func (l *Lineage) Leave(id incremental.RecordID) (left Left, published bool, err error) {
	slot := l.records.slot(id)
	if slot < 0 || l.records.at(slot).class < 0 {
		return Left{}, false, l.Delete(id)
	}
	at, place, changed := *l.records.at(slot), l.place(slot), l.records.difference(slot).change
	left = Left{l.released.returnable.add(at.class, at.row, l.records.view(slot).Copied, changed), place.Class, place.Row, place.Changed}
	if err := l.Delete(id); err != nil {
		return Left{}, false, err
	}
	l.released.classes.list[at.class].rows[at.row].slot = left.Ghost.slot()
	return left, true, nil
}

// Return adds a record that has left and comes back: it takes the ghost's row, which then stands
// for a record again. Nothing shows whether its quasi-identifiers are unchanged, so the row counts
// as stale. The errors are those of Insert; the record's values are copied.
func (l *Lineage) Return(g Ghost, r Record, now time.Time) error {
	if l.records.slot(r.ID) >= 0 {
		return fmt.Errorf("bringing back record %d: %w", r.ID, incremental.ErrDuplicate)
	}
	if err := l.rules.checkShape(r); err != nil {
		return fmt.Errorf("bringing back: %w", err)
	}
	c, place, changed := l.released.classes.list[l.released.returnable.classes[g]], l.released.returnable.rows[g], l.released.returnable.changed[g]
	shown := Record{Copied: l.released.returnable.copied.Row(int32(g))}
	shown.Sensitive, shown.Subject = l.rules.shown(c, int(place)), r.Subject
	changed.columns = changed.columns.with(shown, r)
	if l.rules.subjects { // it may be another one's now
		changed.columns = changed.columns.plus(l.rules.subjectColumn())
	}
	l.released.returnable.remove(g)

	slot := l.records.add(r)
	at := l.records.at(slot)
	at.class, at.row = c.index, place
	c.rows[place].slot = slot
	l.log.move(c, c.rows[place], true)
	c.ghosts--
	l.released.ghosts--
	l.released.tally.Return(c.tallied, uint64(c.rows[place].person))
	l.records.setDifference(slot, difference{now, changed})
	c.stale++
	l.backlog.addStale(slot)
	l.log.touch(slot)
	l.released.disturb(c)
	return nil
}

// LoadGhost numbers a ghost of a loaded lineage, given what Leave returned for its record
// and what stands for the copied values that the row shows. It is false where the row is
// not that of a ghost without a number.
func (l *Lineage) LoadGhost(left Left, copied []uint64) (Ghost, bool, error) {
	id := left.Row
	changed, err := parseChange(left.Changed)
	if err != nil {
		return 0, false, fmt.Errorf("loading the ghost in row %d: %w", id, err)
	}
	if l.rules.copied >= 0 && len(copied) != l.rules.copied {
		return 0, false, fmt.Errorf("loading the ghost in row %d: it has %d copied values, %d expected", id, len(copied), l.rules.copied)
	}
	c := l.released.classes.find(left.Class)
	if c == nil {
		return 0, false, nil
	}
	place, shown := slices.BinarySearchFunc(c.rows, id, func(r row, id RowID) int { return cmp.Compare(r.id, id) })
	if !shown || c.rows[place].slot != nobody {
		return 0, false, nil
	}
	g := l.released.returnable.add(c.index, int32(place), copied, changed)
	c.rows[place].slot = g.slot()
	return g, true, nil
}
