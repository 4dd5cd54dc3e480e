package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// A row of an unknown table is published apart from its class and window, with the keys that the
// row has which it belongs to: cells and pseudonyms of known rows stay as they are, so that the
// versions before and after divide persons in one way. This holds where nothing that is published
// of other rows depends on the row: no generalized value, and no constraint but k.

// separate names a row that has come or changed and is published by itself.
type separate struct {
	table int
	id    incremental.RecordID
}

// separateTables finds the tables whose rows are published one by one: with all that are below them.
func (m *Maintained) separateTables() {
	for table := len(m.tables) - 1; table >= 0; table-- {
		t := &m.tables[table]
		t.separate = m.sizeDecides() && t.unknown && len(t.attributes) == 0 &&
			!slices.ContainsFunc(t.children, func(child int) bool { return !m.tables[child].separate })
	}
}

// touchSeparate has a row published anew. Where nothing is published, all rows will be.
func (m *Maintained) touchSeparate(table int, slot int32) {
	if len(m.unions.list) > 0 {
		m.dirty.separate = append(m.dirty.separate, separate{table, m.tables[table].ids[slot]})
	}
}

// planSeparate takes the changed rows whose class and window are not published anew. A row whose
// person has no pseudonym in its window yet causes that window to be published anew.
func (s *settling) planSeparate(whole map[*union]bool, windows map[*union]map[int32]struct{}) {
	for _, r := range s.dirty.separate {
		row := s.tables[r.table].find(r.id)
		if row == none {
			continue
		}
		person, window := s.person(r.table, row)
		if person == Nobody {
			continue
		}
		u := s.unions.of[s.partition.ClassOf(s.root.ids[person])]
		if u == nil || whole[u] {
			continue
		}
		if s.tables[r.table].parent == Root && s.alias(person, window) == 0 {
			if windows[u] == nil {
				windows[u] = make(map[int32]struct{})
			}
			windows[u][window] = struct{}{}
		}
		s.separate = append(s.separate, r)
	}
	s.separate = slices.DeleteFunc(s.separate, func(r separate) bool {
		person, window := s.person(r.table, s.tables[r.table].find(r.id))
		of, replaced := windows[s.unions.of[s.partition.ClassOf(s.root.ids[person])]]
		_, within := of[window]
		return within || replaced && s.knows.All
	})
}

// alias is the pseudonym of a person in a window; 0 where none of the person's rows in it has keys.
func (s *settling) alias(person, window int32) uint64 {
	for _, table := range s.root.children {
		t := &s.tables[table]
		for row := *s.head(table, person); row != none; row = t.next[row] {
			if t.state[row] == inCell && (s.knows.All || t.window[row] == window) {
				return t.link[row]
			}
		}
	}
	return 0
}

// publishSeparate publishes the changed rows that are published one by one.
func (s *settling) publishSeparate() error {
	p := &separating{settling: s, cells: make(map[below]int), done: make(map[separate]bool)}
	slices.SortStableFunc(s.separate, func(a, b separate) int { return a.table - b.table }) // rows above before those below
	for _, r := range s.separate {
		if err := p.publish(r.table, s.tables[r.table].find(r.id)); err != nil {
			return err
		}
	}
	return nil
}

// separating publishes rows one by one.
type separating struct {
	*settling
	cells map[below]int // places among the cells of a table's changes
	done  map[separate]bool
}

// below says what rows of a table have in common that one cell may have.
type below struct {
	table  int
	of     int32
	window int32
}

// publish publishes a row with all rows below it.
func (s *separating) publish(table int, row int32) error {
	t := &s.tables[table]
	r := separate{table, t.ids[row]}
	if s.done[r] {
		return nil
	}
	s.done[r] = true
	person, window := s.person(table, row)
	p := PublishedRow{}
	if p.Of, p.Person = s.keysAbove(table, row, person, window); p.Of == 0 {
		if err := s.toPool(table, row, person); err != nil {
			return err
		}
	} else {
		if err := s.show(table, row, &p); err != nil {
			return err
		}
		cell := s.cell(below{table, t.of[row], window})
		cell.Rows = append(cell.Rows, p)
	}
	for _, child := range t.children {
		for _, row := range s.below(child, row) {
			if err := s.publish(child, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// keysAbove are the pseudonyms of what a row belongs to and of its person; 0 where that is published
// without keys.
func (s *separating) keysAbove(table int, row, person, window int32) (of, alias uint64) {
	t := &s.tables[table]
	if t.parent == Root {
		alias = s.alias(person, window)
		return alias, alias
	}
	if above := &s.tables[t.parent]; above.state[t.of[row]] == inCell {
		return above.own[t.of[row]], s.aliasOf(t.parent, t.of[row])
	}
	return 0, 0
}

// cell is one for rows that have come.
func (s *separating) cell(of below) *PublishedCell {
	cells := &s.changes.Tables[of.table].Cells
	at, begun := s.cells[of]
	if !begun {
		at = len(*cells)
		s.cells[of] = at
		*cells = append(*cells, PublishedCell{ID: s.tables[of.table].nextCell()})
	}
	return &(*cells)[at]
}

// aliasOf returns the pseudonym of the person that a row in a cell belongs to.
func (s *settling) aliasOf(table int, row int32) uint64 {
	for s.tables[table].parent != Root {
		table, row = s.tables[table].parent, s.tables[table].of[row]
	}
	return s.tables[table].link[row]
}
