package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// personCells are the cells by which the partition divides persons.
func (m *Maintained) personCells(person int32) []hierarchy.Cell {
	cells := slices.Clone(m.root.cells.Row(person))
	if !m.knows.All {
		return cells
	}
	for table := range m.tables {
		if m.tables[table].unknown {
			continue
		}
		rows, positions := m.orderedRows(table, person)
		cells = append(cells, featuresOf(rows, positions)...)
	}
	return cells
}

// orderedRows numbers a person's rows of a table, in order where they have one, and gives
// their positions.
func (m *Maintained) orderedRows(table int, person int32) (rows []int32, positions []float64) {
	t := &m.tables[table]
	slots := m.rowsOf(table, person)
	if t.order >= 0 && t.parent == Root {
		positions = make([]float64, 0, len(slots))
		for _, slot := range slots {
			positions = append(positions, t.position(t.order, slot))
		}
		slices.SortFunc(positions, compareOffLast)
	}
	rows = make([]int32, len(slots))
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows, positions
}

// rowsOf lists the rows of a table that belong to a person, at whatever depth.
func (m *source) rowsOf(table int, person int32) []int32 {
	parent := m.tables[table].parent
	if parent == Root {
		return m.below(table, person)
	}
	var rows []int32
	for _, above := range m.rowsOf(parent, person) {
		rows = append(rows, m.below(table, above)...)
	}
	return rows
}
