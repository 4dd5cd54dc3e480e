package dataset

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Coder makes a Table from records that are added one by one, such as those of a database. It
// keeps only their codes, not their texts.
type Coder struct {
	table      *Table
	attributes []anonymizer.Attribute
	persons    *privacy.Dictionary
	columns    []string
	// attribute, sensitive and subject are the places of their columns among columns;
	// subject is -1 where the policy names none.
	attribute, sensitive []int
	subject              int

	cells    [][]hierarchy.Cell // attribute, record
	codes    [][]uint32         // sensitive attribute, record
	subjects []uint32
}

// NewCoder makes a coder for records of the publication's table. There is no error for a
// publication in which catalog.Publish has found no problem.
func NewCoder(p catalog.Publication) (*Coder, error) {
	schema, err := p.NewSchema()
	if err != nil {
		return nil, err
	}
	attributes, err := p.NewAttributes()
	if err != nil {
		return nil, err
	}
	c := &Coder{
		table:      &Table{Publication: p, Schema: schema, Label: -1, types: make(map[string]string)},
		attributes: attributes, persons: privacy.NewDictionary(), subject: -1,
		cells: make([][]hierarchy.Cell, len(attributes)), codes: make([][]uint32, len(schema.Sensitive)),
	}
	for _, a := range attributes {
		c.attribute = append(c.attribute, c.place(a.Name))
	}
	for _, s := range schema.Sensitive {
		c.sensitive = append(c.sensitive, c.place(s.Name))
	}
	if subject := p.Policy.Subject; subject != "" {
		c.subject = c.place(subject)
	}
	return c, nil
}

// place is where a column stands in the records, which have each once.
func (c *Coder) place(column string) int {
	if at := slices.Index(c.columns, column); at >= 0 {
		return at
	}
	c.columns = append(c.columns, column)
	return len(c.columns) - 1
}

// Columns are the columns that Add takes, in its order.
func (c *Coder) Columns() []string { return c.columns }

// Add takes a record: for each of Columns the text in PostgreSQL's output form
// (DateStyle ISO, TimeZone UTC), nil for NULL. The record is not kept.
func (c *Coder) Add(record [][]byte) {
	for a, at := range c.attribute {
		cell := hierarchy.OffScale()
		if record[at] != nil {
			cell = c.attributes[a].Hierarchy.Encode(string(record[at]))
		}
		c.cells[a] = append(c.cells[a], cell)
	}
	for s, at := range c.sensitive {
		c.codes[s] = append(c.codes[s], c.code(c.table.Schema.Sensitive[s].Values, at, record))
	}
	if c.subject >= 0 {
		c.subjects = append(c.subjects, c.code(c.persons, c.subject, record))
	}
}

// code numbers a value as package sync does: one number for all that is equal in SQL,
// and one for NULL.
func (c *Coder) code(values *privacy.Dictionary, at int, record [][]byte) uint32 {
	if record[at] == nil {
		return values.Null()
	}
	column, _ := c.table.Publication.Relation.Column(c.columns[at])
	return values.Code(catalog.Canonical(column.BaseType, string(record[at])))
}

// Table returns the table of the added records. The coder must not be used afterwards. The error
// means that there are more records than a table can have.
func (c *Coder) Table() (*Table, error) {
	records, err := anonymizer.NewTable(c.attributes, c.cells, c.codes)
	if err != nil {
		return nil, err
	}
	if c.subject >= 0 {
		if c.subjects == nil {
			c.subjects = []uint32{}
		}
		if records, err = records.WithSubjects(c.subjects); err != nil {
			return nil, err
		}
	}
	c.table.Records = records
	return c.table, nil
}
