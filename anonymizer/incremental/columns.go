package incremental

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Columns are records, column by column: what Divide makes classes of.
type Columns struct {
	Records   int
	Cells     [][]hierarchy.Cell // attribute, record
	Sensitive [][]uint32         // sensitive attribute, record
	Subjects  []uint32           // nil where each record counts for itself
}

// NewColumns has room for so many records, which Set fills in.
func NewColumns(records, attributes, sensitive int, subjects bool) Columns {
	c := Columns{Records: records, Cells: make([][]hierarchy.Cell, attributes), Sensitive: make([][]uint32, sensitive)}
	for a := range c.Cells {
		c.Cells[a] = make([]hierarchy.Cell, records)
	}
	for a := range c.Sensitive {
		c.Sensitive[a] = make([]uint32, records)
	}
	if subjects {
		c.Subjects = make([]uint32, records)
	}
	return c
}

// Set gives a record's values. Its ID is not among them: records are known by their places.
func (c *Columns) Set(place int, r Record) {
	for a, cell := range r.Cells {
		c.Cells[a][place] = cell
	}
	for a, code := range r.Sensitive {
		c.Sensitive[a][place] = code
	}
	if c.Subjects != nil {
		c.Subjects[place] = r.Subject
	}
}

// get fills a record with the values at a place.
func (c *Columns) get(place int, r *Record) {
	for a, column := range c.Cells {
		r.Cells[a] = column[place]
	}
	for a, column := range c.Sensitive {
		r.Sensitive[a] = column[place]
	}
	if c.Subjects != nil {
		r.Subject = c.Subjects[place]
	}
}

// table is what a method reads; the columns are kept and not copied.
func (c *Columns) table(attributes []anonymizer.Attribute) (*anonymizer.Table, error) {
	t, err := anonymizer.NewTable(attributes, c.Cells, c.Sensitive)
	if err != nil || c.Subjects == nil {
		return t, err
	}
	return t.WithSubjects(c.Subjects)
}
