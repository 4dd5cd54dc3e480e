package people

import (
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// source holds the rows of all tables as they are, with what they belong to, and what is
// demanded of a release of them.
type source struct {
	knows       Knows
	k           int
	constraints privacy.ConstraintSet
	values      int // sensitive attributes of all tables

	root   relation
	tables []relation
}

func newSource(shape Shape, constraints privacy.ConstraintSet, knows Knows) (source, error) {
	m := source{knows: knows, k: constraints.K(), constraints: constraints, values: shape.RootSensitive}
	m.root = newRelation(shape.Root, shape.RootSensitive, 0)
	for i, t := range shape.Tables {
		if err := m.addTable(i, t); err != nil {
			return m, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return m, nil
}

func (m *source) addTable(number int, t TableShape) error {
	if t.Parent < Root || t.Parent >= number {
		return errors.New("its parent has to stand before it")
	}
	if t.Parent != Root && m.tables[t.Parent].unknown && !t.Unknown {
		return errKnownBelow
	}
	own := newRelation(t.Attributes, t.Sensitive, m.values)
	own.name, own.parent, own.order, own.unknown = t.Name, t.Parent, t.Order, t.Unknown
	m.tables = append(m.tables, own)
	m.values += t.Sensitive
	above := m.relation(t.Parent)
	above.children = append(above.children, number)
	return nil
}

func (m *source) relation(table int) *relation {
	if table == Root {
		return &m.root
	}
	return &m.tables[table]
}

// checkKeys returns a *DuplicateKeyError, or nil.
func (m *source) checkKeys() error {
	for table := Root; table < len(m.tables); table++ {
		if len(m.relation(table).keys.waiting) > 0 {
			return &DuplicateKeyError{table}
		}
	}
	return nil
}

// Len is the number of rows of a table, or of Root, those that are not published
// included.
func (m *source) Len(table int) int { return m.relation(table).directory.Len() }

// classSize is the least number of persons of a class.
func (m *source) classSize() int {
	if m.knows.All {
		return m.k
	}
	return max(1, m.knows.crowd()) * m.k
}
