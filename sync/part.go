package sync

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// part is one independent constraint subset of a table: some of its attributes,
// by which all records are divided into classes apart from the other parts. Most
// tables have one part.
type part struct {
	attributes  []int // indexes into table.attributes, ascending
	constraints privacy.ConstraintSet
	column      string // of the class's number, in the records and in the release
	generalized []generalizedColumn
}

// divide makes the table's parts, in the order of anonymizer.Split.
func (t *table) divide() error {
	components, uncovered := t.layout.constraints.Components(len(t.layout.attributes))
	if t.layout.isLinked() { // all of its columns are of one part, and there may be none
		t.addPart(0, t.layout.allAttributes(), t.layout.constraints)
		return nil
	}
	if len(uncovered) > 0 {
		return fmt.Errorf("no constraint of %s speaks of the column %s", t.layout.name(), t.layout.attributes[uncovered[0]].Name)
	}
	for i, c := range components {
		t.addPart(i, c.Attributes, c.Constraints)
	}
	return nil
}

func (t *layout) allAttributes() []int {
	all := make([]int, len(t.attributes))
	for i := range all {
		all[i] = i
	}
	return all
}

func (t *table) addPart(number int, attributes []int, constraints privacy.ConstraintSet) {
	t.parts = append(t.parts, newPart(number, attributes, constraints, t.layout.kept))
}

// newPart makes the part of what a publication shows.
func newPart(number int, attributes []int, constraints privacy.ConstraintSet, shown catalog.Publication) *part {
	p := &part{attributes: attributes, constraints: constraints, column: catalog.ClassColumn(number)}
	for _, column := range shown.Columns {
		if attribute := slices.Index(p.attributes, column.Attribute); column.Generalized() && attribute >= 0 {
			p.generalized = append(p.generalized, generalizedColumn{column, attribute, shown.Attributes[column.Attribute].Spec})
		}
	}
	return p
}

// generalizedColumn is a published column that shows a class instead of a record, of the
// attribute with that index among the part's.
type generalizedColumn struct {
	catalog.PublishedColumn
	attribute int
	spec      hierarchy.Spec
}

// coded is what partitions know of a row: all attributes' cells, the codes of the
// sensitive values and of the person.
type coded struct {
	cells     []hierarchy.Cell
	sensitive []uint32
	subject   uint32
	copied    []uint64 // of each of table.copied; it differs where the values do
	kin       kin
}

// record is a row as one part knows it.
func (p *part) record(id incremental.RecordID, row coded) incremental.Record {
	r := incremental.Record{ID: id, Cells: row.cells, Sensitive: row.sensitive, Subject: row.subject}
	if len(p.attributes) < len(row.cells) {
		r.Cells = make([]hierarchy.Cell, len(p.attributes))
		for i, a := range p.attributes {
			r.Cells[i] = row.cells[a]
		}
	}
	return r
}
