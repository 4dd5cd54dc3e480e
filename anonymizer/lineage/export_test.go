package lineage

import "github.com/kproxy/kproxy/anonymizer/incremental"

// Kept tells how many slots there are for records, how many of them hold a value other than
// zero, and how many differences are known.
func (l *Lineage) Kept() (slots, valued, differences int) {
	for slot := range l.records.ids {
		r := l.records.view(int32(slot))
		held := r.ID != 0 || r.Subject != 0
		for _, cell := range r.Cells {
			held = held || cell != 0
		}
		for _, code := range r.Sensitive {
			held = held || code != 0
		}
		for _, value := range r.Copied {
			held = held || value != 0
		}
		if held {
			valued++
		}
	}
	return len(l.records.ids), valued, len(l.records.differences.list)
}

// Ghosts is how many rows have a number to which a record may come back.
func (l *Lineage) Ghosts() int {
	return len(l.released.returnable.classes) - len(l.released.returnable.free)
}

// Shown is what the rows of a class show of the sensitive attributes, by number.
func (l *Lineage) Shown(class incremental.ClassID) map[RowID][]uint32 {
	c, shown := l.released.classes.find(class), make(map[RowID][]uint32)
	for place, r := range c.rows {
		shown[r.id] = l.rules.shown(c, place)
	}
	return shown
}

// Queued is how many entries the queues have.
func (l *Lineage) Queued() int { return len(l.backlog.waiting.entries) + len(l.backlog.stale.entries) }
