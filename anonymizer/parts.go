package anonymizer

import (
	"context"
	"fmt"
	"sync"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Part is the release of some attributes, apart from those of other parts: an
// independent constraint subset of Yang, Liu, Wang and Yu 2006. Each part divides
// all records of the table. Each constraint is over attributes of one part
// (privacy.Component).
type Part struct {
	// Attributes are indexes into the whole table's attributes, ascending.
	Attributes []int
	// Table has only these attributes, and all sensitive ones.
	Table *Table
	// Constraints are the part's own, over the attributes of Table; none is
	// privacy.Restricted.
	Constraints privacy.ConstraintSet
	// Release is a release of Table.
	Release *Release
}

// Split divides a table into its parts, each without a release. The error names
// the attributes that no k-anonymity constraint covers, which must not be
// published.
func Split(t *Table, c privacy.ConstraintSet) ([]Part, error) {
	components, uncovered := c.Components(len(t.attributes))
	if len(uncovered) > 0 {
		names := make([]string, len(uncovered))
		for i, a := range uncovered {
			names[i] = t.attributes[a].Name
		}
		return nil, fmt.Errorf("no k-anonymity constraint covers the attributes %q", names)
	}
	parts := make([]Part, len(components))
	for i, component := range components {
		parts[i] = Part{Attributes: component.Attributes, Table: t.Project(component.Attributes), Constraints: component.Constraints}
	}
	return parts, nil
}

// Anonymize runs the method on each part of the table. Errors: constraints that
// do not cover the attributes, those that the method does not accept, and the
// context's.
func Anonymize(ctx context.Context, m Method, t *Table, c privacy.ConstraintSet, o Options) ([]Part, error) {
	parts, err := Split(t, c)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := m.Accepts(part.Table.attributes, part.Constraints); err != nil {
			return nil, fmt.Errorf("method %s %w", m.Name(), err)
		}
	}
	for i := range parts {
		options := o
		options.Progress = o.share(i, len(parts))
		parts[i].Release, err = m.Anonymize(ctx, parts[i].Table, parts[i].Constraints, options)
		if err != nil {
			return nil, fmt.Errorf("anonymizing by %s: %w", m.Name(), err)
		}
	}
	return parts, nil
}

// share makes the progress of one of several equal pieces of work.
func (o Options) share(piece, pieces int) func(done, total int) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int) { o.Progress((piece*total+done)/pieces, total) }
}

// Project is the table with some of its attributes only. What is common to both
// is shared.
func (t *Table) Project(attributes []int) *Table {
	if len(attributes) == len(t.attributes) {
		return t
	}
	part := *t
	part.attributes = make([]Attribute, len(attributes))
	part.cells = make([][]hierarchy.Cell, len(attributes))
	for i, a := range attributes {
		part.attributes[i], part.cells[i] = t.attributes[a], t.cells[a]
	}
	return &part
}

// Pick is the table of some of its records, which are copied; its Population contains only theirs.
func (t *Table) Pick(records []int32) *Table {
	part := *t
	part.records = len(records)
	part.cells, part.sensitive, part.subjects = pickColumns(t.cells, records), pickColumns(t.sensitive, records), pick(t.subjects, records)
	part.population = sync.OnceValue(part.countAll)
	return &part
}

func pickColumns[T any](columns [][]T, records []int32) [][]T {
	picked := make([][]T, len(columns))
	for i, column := range columns {
		picked[i] = pick(column, records)
	}
	return picked
}

// pick copies some values of a column; nil stays nil.
func pick[T any](column []T, records []int32) []T {
	if column == nil {
		return nil
	}
	picked := make([]T, len(records))
	for i, r := range records {
		picked[i] = column[r]
	}
	return picked
}
