package persons

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// records are those of one table: codes, and hashes of keys, in place of texts.
type records struct {
	publication catalog.Publication
	attributes  []anonymizer.Attribute
	schema      privacy.Schema
	columns     []string
	// attribute, sensitive, link, key and order are the places of their columns among
	// columns; order is -1 where there is none.
	attribute, sensitive, link, key []int
	order                           int
	orderAttribute                  int

	cells  [][]hierarchy.Cell // attribute, record
	codes  [][]uint32         // sensitive attribute, record
	links  []identity         // of what each record belongs to
	keys   []identity         // of each record itself
	months []int32            // of the order, counted from the year 0; noMonth
	// alike says that there is no column to generalize or to bound: records then have a
	// sensitive attribute of a single value, so that a table of them has a length.
	alike bool
}

func newRecords(p catalog.Publication, link, key []string, order string) (*records, error) {
	r := &records{publication: p, order: -1}
	var err error
	if r.attributes, err = p.NewAttributes(); err != nil {
		return nil, err
	}
	if r.schema, err = p.NewSchema(); err != nil {
		return nil, err
	}
	if r.alike = len(r.attributes)+len(r.schema.Sensitive) == 0; r.alike {
		r.schema.Sensitive = []privacy.Sensitive{{Values: privacy.NewDictionary()}}
	}
	r.cells, r.codes = make([][]hierarchy.Cell, len(r.attributes)), make([][]uint32, len(r.schema.Sensitive))
	for _, a := range r.attributes {
		r.attribute = append(r.attribute, r.place(a.Name))
	}
	for _, s := range p.Sensitive {
		r.sensitive = append(r.sensitive, r.place(s.Column))
	}
	for _, column := range link {
		r.link = append(r.link, r.place(column))
	}
	for _, column := range key {
		r.key = append(r.key, r.place(column))
	}
	if r.orderAttribute = attributeNamed(r.attributes, order); r.orderAttribute >= 0 {
		r.order = r.place(order)
	}
	return r, nil
}

// place is where a column stands in the records, which have each once.
func (r *records) place(column string) int {
	if at := slices.Index(r.columns, column); at >= 0 {
		return at
	}
	r.columns = append(r.columns, column)
	return len(r.columns) - 1
}

func (r *records) add(record [][]byte) {
	for a, at := range r.attribute {
		cell := hierarchy.OffScale()
		if record[at] != nil {
			cell = r.attributes[a].Hierarchy.Encode(string(record[at]))
		}
		r.cells[a] = append(r.cells[a], cell)
	}
	for s, at := range r.sensitive {
		values := r.schema.Sensitive[s].Values
		code := values.Null()
		if record[at] != nil {
			code = values.Code(r.canonical(at, record))
		}
		r.codes[s] = append(r.codes[s], code)
	}
	if r.alike {
		r.codes[0] = append(r.codes[0], 0)
	}
	if len(r.link) > 0 {
		r.links = append(r.links, r.identity(r.link, record))
	}
	if len(r.key) > 0 {
		r.keys = append(r.keys, r.identity(r.key, record))
	}
	if r.dated() {
		month, dated := catalog.MonthOf(string(record[r.order]))
		if !dated {
			month = noMonth
		}
		r.months = append(r.months, month)
	}
}

// canonical is one text for values that are equal in SQL.
func (r *records) canonical(at int, record [][]byte) string {
	column, _ := r.publication.Relation.Column(r.columns[at])
	return catalog.Canonical(column.BaseType, string(record[at]))
}

// dated reports whether the records are ordered by a date or a point in time.
func (r *records) dated() bool {
	return r.order >= 0 && r.attributes[r.orderAttribute].Hierarchy.Kind() == hierarchy.Date
}

func (r *records) table() (*anonymizer.Table, error) {
	table, err := anonymizer.NewTable(r.attributes, r.cells, r.codes)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", r.publication.Policy.Table, err)
	}
	return table, nil
}

// identity stands for the values of a key. The zero identity is that of a key with a NULL,
// which refers to nothing.
type identity = people.Key

func (r *records) identity(places []int, record [][]byte) identity {
	texts := make([]string, len(places))
	for i, at := range places {
		if record[at] == nil {
			return identity{}
		}
		texts[i] = r.canonical(at, record)
	}
	return catalog.KeyDigest(texts...)
}

// index finds records by their keys. Records without a key are an error if all need one,
// and so are two of one key.
func (r *records) index(all bool) (map[identity]int32, error) {
	index := make(map[identity]int32, len(r.keys))
	twice, without := 0, 0
	for row, key := range r.keys {
		if key == (identity{}) {
			without++
			continue
		}
		if _, taken := index[key]; taken {
			twice++
			continue
		}
		index[key] = int32(row)
	}
	name := r.publication.Policy.Table
	switch {
	case twice > 0:
		return nil, fmt.Errorf("table %s: %d records have a key that another one has: correct its key in people, or the data", name, twice)
	case all && without > 0:
		return nil, fmt.Errorf("table %s: %d records have no key, so that nobody can tell whose they are: correct its key in people, or the data", name, without)
	}
	return index, nil
}

// resolve gives the parent of each record, or people.Nobody.
func (r *records) resolve(parents map[identity]int32) []int32 {
	of := make([]int32, len(r.links))
	for row, link := range r.links {
		parent, known := parents[link]
		if !known {
			parent = people.Nobody
		}
		of[row] = parent
	}
	return of
}
