// Package persons makes the data of one kind of person, as package people takes them, of
// the records of its tables.
//
// A Builder takes records one by one, in the text form in which PostgreSQL writes them,
// from files or from a database and in any order of the tables. It finds by their keys
// what rows belong to, and by the calendar the windows of time that they lie in.
package persons

import (
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Builder gathers the records of a kind's tables. It is not safe for concurrent use.
type Builder struct {
	publication catalog.PeoplePublication
	root        *records
	tables      []*records
}

// NewBuilder makes a builder. The error does not occur for what catalog.PublishPeople
// has found no problem with.
func NewBuilder(p catalog.PeoplePublication) (*Builder, error) {
	b := &Builder{publication: p}
	var err error
	if b.root, err = newRecords(p.Root, nil, p.People.Key, ""); err != nil {
		return nil, err
	}
	for i, t := range p.People.Tables {
		table, err := newRecords(p.Tables[i], t.Link(), t.Key, t.Order)
		if err != nil {
			return nil, err
		}
		b.tables = append(b.tables, table)
	}
	return b, nil
}

// Publication is what the builder was made for.
func (b *Builder) Publication() catalog.PeoplePublication { return b.publication }

func (b *Builder) of(table int) *records {
	if table == people.Root {
		return b.root
	}
	return b.tables[table]
}

// Columns are the columns that Add takes of a table, in its order. Table is people.Root
// or an index of People.Tables.
func (b *Builder) Columns(table int) []string { return b.of(table).columns }

// Add takes a record of a table: for each of Columns the text in PostgreSQL's output form
// (DateStyle ISO, TimeZone UTC), nil for NULL. The record is not kept.
func (b *Builder) Add(table int, record [][]byte) { b.of(table).add(record) }

// Persons are the data of a kind of person, and the constraints over them. Tables and
// rows are in the order in which they were added.
type Persons struct {
	Data        *people.Data
	Constraints privacy.ConstraintSet
	// Schema names the sensitive attributes of all tables, as Data.SensitiveOf numbers them.
	Schema privacy.Schema
}

// Persons makes the data, with windows of time as somebody knows rows of them. Errors:
// records with a key that another record has or, of the root, with none; knowledge by
// windows where a table has no dates; more records than a table can have.
func (b *Builder) Persons(knows catalog.Knowledge) (*Persons, error) {
	kind := b.publication.People
	data := &people.Data{}
	var err error
	if data.Root, err = b.root.table(); err != nil {
		return nil, err
	}
	persons, err := b.root.index(true)
	if err != nil {
		return nil, err
	}
	indexes := make(map[catalog.Name]map[identity]int32)
	schemas := make([]privacy.Schema, len(b.tables))
	for i, t := range kind.Tables {
		table := people.Table{Name: t.Table.String(), Parent: people.Root, Unknown: t.Unknown, Order: b.tables[i].orderAttribute}
		if table.Rows, err = b.tables[i].table(); err != nil {
			return nil, err
		}
		parents := persons
		if !t.Direct() {
			parents = indexes[t.Through]
			table.Parent = slices.IndexFunc(kind.Tables, func(other catalog.PeopleTable) bool { return other.Table == t.Through })
		}
		table.Of = b.tables[i].resolve(parents)
		if slices.ContainsFunc(kind.Tables, func(other catalog.PeopleTable) bool { return other.Through == t.Table }) {
			if indexes[t.Table], err = b.tables[i].index(false); err != nil {
				return nil, err
			}
		}
		data.Tables, schemas[i] = append(data.Tables, table), b.tables[i].schema
	}
	if err := b.windows(data, knows); err != nil {
		return nil, err
	}
	schema := b.publication.Schema(b.root.schema, schemas)
	constraints, err := b.publication.ConstraintSet(schema)
	if err != nil {
		return nil, err
	}
	return &Persons{Data: data, Constraints: constraints, Schema: schema}, nil
}

// noMonth is the month of rows without a date; they lie in a window of their own.
const noMonth = math.MinInt32

// windows numbers the windows that rows lie in, in the order of time.
func (b *Builder) windows(data *people.Data, knows catalog.Knowledge) error {
	if knows.Per == 0 {
		return nil
	}
	found := make(map[int32]int32)
	for i, t := range b.publication.People.Tables {
		if !t.Direct() {
			continue
		}
		if !b.tables[i].dated() {
			return fmt.Errorf("windows of %v lie on the calendar, and table %s is not ordered by a date: write order: with one of its dates", knows.Per, t.Table)
		}
		window := make([]int32, len(b.tables[i].months))
		for row, month := range b.tables[i].months {
			if window[row] = month; month != noMonth {
				window[row] = int32(knows.Per.Window(0, int(month)+1))
			}
			found[window[row]] = 0
		}
		data.Tables[i].Window = window
	}
	var calendar []int32
	for window := range found {
		calendar = append(calendar, window)
	}
	slices.Sort(calendar)
	for number, window := range calendar {
		found[window] = int32(number)
	}
	for _, t := range data.Tables {
		for row, window := range t.Window {
			t.Window[row] = found[window]
		}
	}
	return nil
}

// attributeNamed is the index of the attribute of that name, -1 without.
func attributeNamed(attributes []anonymizer.Attribute, name string) int {
	return slices.IndexFunc(attributes, func(a anonymizer.Attribute) bool { return a.Name == name })
}
