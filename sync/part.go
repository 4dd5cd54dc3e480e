package sync

import (
	"context"
	"fmt"
	"math/rand/v2"

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
	partition   *incremental.Partition
	recent      []incremental.ClassID // written since the classes were mixed
}

// divide makes the table's parts, in the order of anonymizer.Split.
func (t *table) divide() error {
	components, uncovered := t.constraints.Components(len(t.attributes))
	if len(uncovered) > 0 {
		return fmt.Errorf("no constraint of %s speaks of the column %s", t.name(), t.attributes[uncovered[0]].Name)
	}
	for i, c := range components {
		t.parts = append(t.parts, &part{attributes: c.Attributes, constraints: c.Constraints, column: catalog.ClassColumn(i)})
	}
	return nil
}

// coded is what partitions know of a row: all attributes' cells, the codes of the
// sensitive values and of the person.
type coded struct {
	cells     []hierarchy.Cell
	sensitive []uint32
	subject   uint32
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

// row puts together what the parts know of a record.
func (t *table) row(id incremental.RecordID) coded {
	row := coded{cells: make([]hierarchy.Cell, len(t.attributes))}
	for _, p := range t.parts {
		r, _, _ := p.partition.Record(id)
		for i, a := range p.attributes {
			row.cells[a] = r.Cells[i]
		}
		row.sensitive, row.subject = r.Sensitive, r.Subject
	}
	return row
}

// each does the same to the partition of every part.
func (t *table) each(do func(*part) error) error {
	for _, p := range t.parts {
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

// infeasible is why nothing of the table can be published: a row needs a class
// in every part.
func (t *table) infeasible() error {
	return t.each(func(p *part) error { return p.partition.Feasible() })
}

// settle brings every part into order. A partition places all of its records or,
// where the constraints are infeasible, none; then the other parts must not show
// theirs either, and so the classes of a part are always those of the published
// rows.
func (t *table) settle(ctx context.Context) ([]incremental.Changes, error) {
	withheld := t.infeasible() != nil
	changes := make([]incremental.Changes, len(t.parts))
	for i, p := range t.parts {
		if withheld {
			changes[i] = p.partition.Withhold()
			continue
		}
		var err error
		if changes[i], err = p.partition.SettleContext(ctx); err != nil {
			return nil, fmt.Errorf("settling the classes of %s: %w", t.name(), err)
		}
	}
	return changes, nil
}

// records and withheld count the table's records; a record is withheld in all
// parts or in none.
func (t *table) countRecords() int  { return t.parts[0].partition.Len() }
func (t *table) countWithheld() int { return t.parts[0].partition.Withheld() }

// nextClass is a number that no class of any part has had.
func (t *table) nextClass() incremental.ClassID {
	next := incremental.ClassID(1)
	for _, p := range t.parts {
		next = max(next, p.partition.NextClass())
	}
	return next
}

// touchRandom has the classes of a record drawn at random written anew, in every
// part: what a change of that record would write.
func (t *table) touchRandom() {
	first := t.parts[0].partition
	if first.Classes() == 0 {
		return
	}
	class := first.ClassAt(rand.IntN(first.Classes()))
	first.TouchClass(class)
	if len(t.parts) == 1 {
		return
	}
	members := first.Members(class)
	if len(members) == 0 {
		return // all of them were deleted since the last Settle
	}
	id := members[rand.IntN(len(members))]
	for _, p := range t.parts[1:] {
		_, class, _ := p.partition.Record(id)
		p.partition.TouchClass(class)
	}
}
