package people

import (
	"slices"
	"time"
)

// place is where a row is kept.
type place struct {
	table int
	slot  int32
}

// backlog holds rows that wait, and since when.
type backlog struct {
	since map[place]time.Time
	queue []waiting // in order of time; some do not wait any more
}

type waiting struct {
	place
	since time.Time
}

func newBacklog() backlog { return backlog{since: make(map[place]time.Time)} }

func (b *backlog) len() int { return len(b.since) }

func (b *backlog) add(p place, now time.Time) {
	b.since[p] = now
	b.queue = append(b.queue, waiting{p, now})
}

func (b *backlog) remove(p place) {
	delete(b.since, p)
	if len(b.since) == 0 {
		*b = newBacklog() // it may have been large
	} else if len(b.queue) > 64+4*len(b.since) {
		b.queue = slices.DeleteFunc(b.queue, func(w waiting) bool { return !b.has(w) })
	}
}

func (b *backlog) has(w waiting) bool {
	since, waits := b.since[w.place]
	return waits && since.Equal(w.since)
}

// oldest is since when the first row waits; zero where none does.
func (b *backlog) oldest() time.Time {
	for len(b.queue) > 0 && !b.has(b.queue[0]) {
		b.queue = b.queue[1:]
	}
	if len(b.queue) == 0 {
		return time.Time{}
	}
	return b.queue[0].since
}

// until lists the rows that wait since a time or longer.
func (b *backlog) until(end time.Time) []place {
	var rows []place
	for _, w := range b.queue {
		if w.since.After(end) {
			break
		}
		if b.has(w) {
			rows = append(rows, w.place)
		}
	}
	return rows
}

// slots lists the rows of one table that wait, by ID.
func (b *backlog) slots(of *relation) []int32 {
	slots := make([]int32, 0, len(b.since))
	for p := range b.since {
		slots = append(slots, p.slot)
	}
	of.sortByID(slots)
	return slots
}

func (g *Guarded) touch(table int, slot int32) { g.touched[table+1][slot] = struct{}{} }

// belongs reports whether a row belongs to a published person.
func (g *Guarded) belongs(at place) bool {
	person, _ := g.person(at.table, at.slot)
	return person != Nobody && g.shown.of(Root).bySlot[person] != none
}

// enter has a row wait that belongs to a published person now, and the rows below it.
func (g *Guarded) enter(table int, slot int32, now time.Time) {
	if g.belongs(place{table, slot}) {
		g.enterAll(table, slot, now)
	}
}

func (g *Guarded) enterAll(table int, slot int32, now time.Time) {
	t, at := g.relation(table), place{table, slot}
	if t.state[slot] == hidden {
		t.state[slot] = waits
		g.rows.add(at, now)
		g.touch(table, slot)
	}
	if table != Root && t.state[slot] == waits {
		g.prepare(at)
	}
	for _, child := range t.children {
		for _, row := range g.below(child, slot) {
			g.enterAll(child, row, now)
		}
	}
}

// prepare makes a waiting row ready to be published with its keys, if what it belongs to is
// published where it is.
func (g *Guarded) prepare(at place) {
	t := &g.tables[at.table]
	parent := t.of[at.slot]
	if g.ready[at] != nil || !g.inPlace(t.parent, parent) {
		return
	}
	above := g.shown.of(t.parent).rows[g.shown.of(t.parent).bySlot[parent]].cell
	f := above.frame
	if t.parent == Root {
		window := t.window[at.slot]
		if g.knows.All {
			window = 0
		}
		f = above.class.frame(window)
	}
	g.ready[at] = f
	f.ready[at] = struct{}{}
	g.renewed[f] = struct{}{}
}

// unprepare undoes prepare.
func (g *Guarded) unprepare(at place) {
	if f := g.ready[at]; f != nil {
		delete(f.ready, at)
		delete(g.ready, at)
	}
}

// inPlace reports whether a row is published with its keys, and belongs to what it was
// published with.
func (g *Guarded) inPlace(table int, slot int32) bool {
	s := g.shown.of(table).bySlot[slot]
	if s == none || g.relation(table).state[slot] != inCell {
		return false
	}
	if table == Root {
		return true
	}
	t, r := &g.tables[table], &g.shown.of(table).rows[s]
	if t.of[slot] == Nobody || t.parent == Root && !g.knows.All && t.window[slot] != r.cell.frame.window {
		return false
	}
	return r.parent == g.shown.of(t.parent).bySlot[t.of[slot]] && g.inPlace(t.parent, t.of[slot])
}

// leave has a row that goes, or moves, and the rows below it wait no more.
func (g *Guarded) leave(table int, slot int32) {
	t, at := g.relation(table), place{table, slot}
	switch {
	case t.state[slot] == waits && table == Root:
		return // and so do its rows
	case t.state[slot] == waits:
		g.stop(at)
		t.state[slot] = hidden
		g.touch(table, slot)
	case t.state[slot] == pooledUnset:
		delete(g.pools[table], slot)
		t.state[slot] = hidden
		g.touch(table, slot)
	}
	for _, child := range t.children {
		for _, row := range g.below(child, slot) {
			g.leave(child, row)
		}
	}
}

// stop has a row wait no more.
func (g *Guarded) stop(at place) {
	g.unprepare(at)
	g.rows.remove(at)
}

// refuse withholds a row for good, and the rows below it that wait for it.
func (g *Guarded) refuse(table int, slot int32) {
	t := &g.tables[table]
	if t.state[slot] != waits {
		return
	}
	g.stop(place{table, slot})
	t.state[slot] = refused
	g.touch(table, slot)
	for _, child := range t.children {
		for _, row := range g.below(child, slot) {
			g.refuse(child, row)
		}
	}
}
