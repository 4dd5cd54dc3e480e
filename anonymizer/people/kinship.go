package people

import (
	"cmp"
	"slices"
)

// link puts a row below the one that has the key, or among those that wait for it.
func (m *source) link(table int, slot int32, of Key) {
	t := &m.tables[table]
	if of == (Key{}) {
		return
	}
	parent := m.relation(t.parent).keys.find(of)
	if parent == none {
		t.wait(slot, of)
		return
	}
	m.hang(table, slot, parent)
}

func (m *source) hang(table int, slot, parent int32) {
	t, head := &m.tables[table], m.head(table, parent)
	t.of[slot], t.previous[slot], t.next[slot] = parent, none, *head
	if *head != none {
		t.previous[*head] = slot
	}
	*head = slot
}

// head is the first row of a table below a row of its parent.
func (m *source) head(table int, parent int32) *int32 {
	above := m.relation(m.tables[table].parent)
	return &above.heads[slices.Index(above.children, table)][parent]
}

// below lists the rows of a table below a row of its parent, by their IDs: what is made of
// them does not depend on the order in which they came.
func (m *source) below(table int, parent int32) []int32 {
	var rows []int32
	for row := *m.head(table, parent); row != none; row = m.tables[table].next[row] {
		rows = append(rows, row)
	}
	ids := m.tables[table].ids
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(ids[a], ids[b]) })
	return rows
}

// unlink takes a row out of the list below its parent, or of those that wait.
func (m *source) unlink(table int, slot int32) {
	t := &m.tables[table]
	if t.of[slot] == Nobody {
		t.forget(slot)
		return
	}
	if next := t.next[slot]; next != none {
		t.previous[next] = t.previous[slot]
	}
	if previous := t.previous[slot]; previous != none {
		t.next[previous] = t.next[slot]
	} else {
		*m.head(table, t.of[slot]) = t.next[slot]
	}
	t.of[slot] = Nobody
}

// wait has a row of nobody wait for a key, in a list of those that do.
func (t *relation) wait(slot int32, key Key) {
	if key == (Key{}) {
		return
	}
	first, others := t.waiting[key]
	if t.previous[slot], t.next[slot] = none, none; others {
		t.previous[first], t.next[slot] = slot, first
	}
	t.waiting[key], t.waitsFor[slot] = slot, key
}

// forget takes a row of nobody out of those that wait.
func (t *relation) forget(slot int32) {
	key, waits := t.waitsFor[slot]
	if !waits {
		return
	}
	delete(t.waitsFor, slot)
	previous, next := t.previous[slot], t.next[slot]
	if next != none {
		t.previous[next] = previous
	}
	switch {
	case previous != none:
		t.next[previous] = next
	case next != none:
		t.waiting[key] = next
	default:
		delete(t.waiting, key)
	}
}

// ofKey is the key of the row that a row belongs to, or waits for.
func (m *source) ofKey(table int, slot int32) Key {
	t := &m.tables[table]
	if t.of[slot] != Nobody {
		return m.relation(t.parent).keys.of(t.of[slot])
	}
	return t.waitsFor[slot]
}

// adopt puts rows that wait for a key below the row that has it now.
func (m *source) adopt(table int, parent int32, key Key) {
	t := &m.tables[table]
	row, waits := t.waiting[key]
	if !waits {
		return
	}
	delete(t.waiting, key)
	for row != none {
		next := t.next[row]
		delete(t.waitsFor, row)
		m.hang(table, row, parent)
		row = next
	}
}

// orphan has the rows below a row that goes wait for its key.
func (m *Maintained) orphan(table int, parent int32, key Key) {
	t := &m.tables[table]
	for _, row := range m.below(table, parent) {
		m.touch(table, row)
		m.unlink(table, row)
		m.hide(table, row)
		t.wait(row, key)
	}
}

// hide has a row, and all rows below it, published no more.
func (m *Maintained) hide(table int, slot int32) {
	t := &m.tables[table]
	m.gone(table, slot)
	if t.state[slot].pooled() {
		_ = m.pools[table].Delete(t.ids[slot]) // it is there
		m.dirty.move(table, t.ids[slot])
	}
	t.state[slot] = hidden
	for _, child := range t.children {
		for _, row := range m.below(child, slot) {
			m.hide(child, row)
		}
	}
}

// person returns the slot of the person that a row belongs to, or Nobody, and the window of the
// row.
func (m *source) person(table int, slot int32) (person, window int32) {
	for table != Root {
		t := &m.tables[table]
		window = t.window[slot]
		if slot = t.of[slot]; slot == Nobody {
			return Nobody, 0
		}
		table = t.parent
	}
	return slot, window
}
