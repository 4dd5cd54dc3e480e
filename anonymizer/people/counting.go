package people

import "github.com/kproxy/kproxy/anonymizer/privacy"

// counting says what of persons counts for some constraints.
type counting struct {
	attributes []bool // by number among those of all tables
	tables     []bool // these, or tables below them, have such attributes
}

func (m *source) counting(c privacy.ConstraintSet) *counting {
	of := &counting{attributes: make([]bool, m.values), tables: make([]bool, len(m.tables))}
	for _, constraint := range c {
		if a := attributeOf(constraint); a >= 0 && a < len(of.attributes) {
			of.attributes[a] = true
		}
	}
	for table := len(m.tables) - 1; table >= 0; table-- {
		t := &m.tables[table]
		for a := range t.sensitive.Columns() {
			of.tables[table] = of.tables[table] || of.attributes[t.first+a]
		}
		for _, child := range t.children {
			of.tables[table] = of.tables[table] || of.tables[child]
		}
	}
	return of
}

// attributeOf is the sensitive attribute that a constraint is of; -1 for none.
func attributeOf(c privacy.Constraint) int {
	switch c := c.(type) {
	case privacy.DistinctDiversity:
		return c.Attribute
	case privacy.EntropyDiversity:
		return c.Attribute
	case privacy.RecursiveDiversity:
		return c.Attribute
	case privacy.AlphaBound:
		return c.Attribute
	}
	return -1
}

// anyWindow is that of all rows.
const anyWindow = int32(-1)

// count counts a person with the values of the root row, and of its rows in a window or in any.
func (m *source) count(s *privacy.Summary, person, window int32, of *counting) {
	s.AddSubject(uint32(person))
	m.root.addCounted(s, person, person, of)
	for _, table := range m.root.children {
		if !of.tables[table] {
			continue
		}
		t := &m.tables[table]
		for row := *m.head(table, person); row != none; row = t.next[row] {
			if window == anyWindow || t.window[row] == window {
				m.countRow(s, table, row, person, of)
			}
		}
	}
}

func (m *source) countRow(s *privacy.Summary, table int, row, person int32, of *counting) {
	t := &m.tables[table]
	t.addCounted(s, row, person, of)
	for _, child := range t.children {
		if !of.tables[child] {
			continue
		}
		for below := *m.head(child, row); below != none; below = m.tables[child].next[below] {
			m.countRow(s, child, below, person, of)
		}
	}
}

func (t *relation) addCounted(s *privacy.Summary, row, person int32, of *counting) {
	for a, code := range t.sensitive.Row(row) {
		if of.attributes[t.first+a] {
			s.AddValueOf(uint32(person), t.first+a, code)
		}
	}
}
