package sync

import (
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// marked are the marks of rows, column by column.
type marked struct {
	records, cells                     []int64
	own, of, classes, parents, aliases []*int64
	members, windows                   []int32
	values                             map[incremental.ClassID][]hierarchy.Generalization // of cells
}

// What statements that write marked rows have in common: the names of the columns of c0, their types as
// parameters, and those of linkedGuarded.marks.
const (
	markNames     = "record, cell, own, parent, persons, member, win, row_above, alias"
	markArrays    = "$1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[], $8::bigint[], $9::bigint[]"
	selectedMarks = "c0.cell, c0.record, c0.persons, c0.member, c0.win, c0.row_above, c0.own, c0.alias"
)

func markedRows(rows []newRow) marked {
	m := marked{values: make(map[incremental.ClassID][]hierarchy.Generalization)}
	for _, r := range rows {
		m.records, m.cells = append(m.records, int64(r.ID)), append(m.cells, r.cell.ID)
		m.own, m.of, m.aliases = append(m.own, storedNumber(int64(r.Own))), append(m.of, storedNumber(int64(r.Of))), append(m.aliases, storedNumber(int64(r.Person)))
		m.classes, m.parents = append(m.classes, storedNumber(r.cell.Class)), append(m.parents, storedNumber(int64(r.Parent)))
		m.members, m.windows = append(m.members, r.Member), append(m.windows, r.cell.Window)
		m.values[incremental.ClassID(r.cell.ID)] = r.cell.Values
	}
	return m
}

func (m *marked) arguments() []any {
	return []any{numbers(m.records), numbers(m.cells), m.own, m.of, m.classes, m.members, m.windows, m.parents, m.aliases}
}

// shown are the texts of what a part publishes for the rows.
func (m *marked) shown(p *part) []any {
	return p.shown(m.cells, func(id incremental.ClassID) []hierarchy.Generalization { return m.values[id] })
}
