package people

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// unit is what is published anew at once: the rows of a class in one window, or in
// all where all is known.
type unit struct {
	of      *source
	persons []int32 // slots of the members
	tables  []unitTable
	earlier [][]valueOf // what each member has besides; nil for nothing
	// top is a table whose rows are here without those that they belong to; none, else.
	top int
	// omits reports which rows are left out, with all rows below them; nil for none.
	omits func(table int, row int32) bool
}

// unitTable holds the rows of one table. Places in it number them.
type unitTable struct {
	rows   []int32 // slots
	person []int32 // place of the member that each row belongs to
	parent []int32 // place of the row that each row belongs to, or of the member
	cells  [][]int32
	own    []uint64 // pseudonyms
}

func newUnit(m *source, persons []int32) *unit {
	return &unit{of: m, persons: persons, tables: make([]unitTable, len(m.tables)), top: noTable}
}

// noTable is the number of none.
const noTable = -2

// add takes a row with all rows below it.
func (u *unit) add(table int, row, member int32) { u.addBelow(table, row, member, member) }

func (u *unit) addBelow(table int, row, member, parent int32) {
	if u.omits != nil && u.omits(table, row) {
		return
	}
	t := &u.tables[table]
	place := int32(len(t.rows))
	t.rows, t.person, t.parent = append(t.rows, row), append(t.person, member), append(t.parent, parent)
	for _, child := range u.of.tables[table].children {
		for _, below := range u.of.below(child, row) {
			u.addBelow(child, below, member, place)
		}
	}
}

// divide makes the cells, as Anonymize makes those of one class and window.
func (u *unit) divide() {
	r := u.releasing(Options{})
	for table := range r.tables {
		copy(r.tables[table].shares, u.of.tables[table].space().shares)
	}
	w, into := newWorker(r), make([]TableRelease, len(u.tables))
	members := make([]int32, len(u.persons))
	for i := range members {
		members[i] = int32(i)
	}
	for _, table := range r.roots() {
		if u.of.knows.All {
			w.trees.cells(table, 0, members, into)
			continue
		}
		rows := make([]int32, len(u.tables[table].rows))
		for i := range rows {
			rows[i] = int32(i)
		}
		w.cells(table, 0, 0, rows, into)
	}
	for table := range into {
		t := &u.tables[table]
		t.own = make([]uint64, len(t.rows))
		for _, cell := range into[table].Cells {
			t.cells = append(t.cells, cell.Rows)
		}
	}
}

func (u *unit) releasing(o Options) *releasing {
	r := &releasing{forest: newForest(u.data()), constraints: u.of.constraints, k: u.of.k, o: o}
	r.earlier = u.earlier
	return r
}

// data are the rows as Anonymize takes them.
func (u *unit) data() *Data {
	d := &Data{Root: u.of.root.table(u.persons)}
	for i := range u.tables {
		t := &u.of.tables[i]
		d.Tables = append(d.Tables, Table{
			Name: t.name, Rows: t.table(u.tables[i].rows), Parent: t.parent, Of: u.tables[i].parent, Order: t.order, Unknown: t.unknown,
		})
		if i == u.top {
			d.Tables[i].Parent = Root
		}
	}
	return d
}

// table makes some rows a table. One without any column gets an attribute, so that it has
// rows.
func (t *relation) table(rows []int32) *anonymizer.Table {
	attributes, columns := t.attributes, make([][]hierarchy.Cell, len(t.attributes))
	for a := range columns {
		columns[a] = make([]hierarchy.Cell, len(rows))
		for i, row := range rows {
			columns[a][i] = t.cells.Row(row)[a]
		}
	}
	sensitive := make([][]uint32, t.sensitive.Columns())
	for a := range sensitive {
		sensitive[a] = make([]uint32, len(rows))
		for i, row := range rows {
			sensitive[a][i] = t.sensitive.Row(row)[a]
		}
	}
	if len(columns)+len(sensitive) == 0 {
		attributes, columns = []anonymizer.Attribute{feature()}, [][]hierarchy.Cell{make([]hierarchy.Cell, len(rows))}
	}
	made, err := anonymizer.NewTable(attributes, columns, sensitive)
	if err != nil {
		panic(fmt.Sprintf("rows of table %s: %v", t.name, err)) // all columns have one length
	}
	return made
}

// space measures losses by what the attributes of all rows have covered.
func (t *relation) space() *space {
	s := &space{}
	for a, attribute := range t.attributes {
		s.shares = append(s.shares, hierarchy.Coverage(attribute.Hierarchy, t.domains[a].low, t.domains[a].high))
	}
	return s
}

// generalize gives what is published for rows of a unit.
func (t *relation) generalize(rows, cell []int32) []hierarchy.Generalization {
	values := make([]hierarchy.Generalization, len(t.attributes))
	cells := make([]hierarchy.Cell, len(cell))
	for a, attribute := range t.attributes {
		for i, at := range cell {
			cells[i] = t.cells.Row(rows[at])[a]
		}
		values[a] = attribute.Hierarchy.Generalize(cells)
	}
	return values
}

// nextCell is a number that no cell of the table has had.
func (t *relation) nextCell() int64 {
	t.lastCell++
	return t.lastCell
}

// pseudonym is what the root row of a person carries.
func (m *Maintained) pseudonym(person int32) uint64 { return m.pseudonyms[person] }

func (m *Maintained) setPseudonym(person int32, to uint64) {
	for int(person) >= len(m.pseudonyms) {
		m.pseudonyms = append(m.pseudonyms, 0)
	}
	m.pseudonyms[person] = to
}
