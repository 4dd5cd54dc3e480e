package people

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Maintained is a release that follows inserts, updates and deletes of all its
// tables. Between two calls of Settle it collects changes; Settle restores the
// guarantee of what an outsider knows, and says which published rows have to be
// replaced.
//
// Everything that is published of a class and window is a function of the rows that
// its persons have then, and of fresh random numbers: where one of these rows changes,
// all of them are published anew, with new pseudonyms. Classes are those of
// incremental.Partition, over the root's attributes or, where all is known, over the
// features of persons. The first Settle after everything was inserted makes the first
// release, and one after a restart makes a new one.
//
// It is not safe for concurrent use.
type Maintained struct {
	knows     Knows
	k         int
	options   MaintainedOptions
	root      relation
	tables    []relation
	features  []anonymizer.Attribute // of persons, by which they are divided
	partition *incremental.Partition // of persons
	pools     []*incremental.Partition
	dirty     dirt

	pseudonyms []uint64 // that root rows carry, by the person's slot
}

// Shape describes the tables of a maintained release. The root is described by its
// attributes alone.
type Shape struct {
	Root   []anonymizer.Attribute
	Tables []TableShape
}

// TableShape describes a table whose rows belong to persons; see Table.
type TableShape struct {
	Name       string
	Attributes []anonymizer.Attribute
	Parent     int
	Order      int
}

// MaintainedOptions of a maintained release.
type MaintainedOptions struct {
	// Method makes and splits classes; see Options.Method.
	Method anonymizer.Method
	// Seed is handed to the method.
	Seed uint64
	// Pseudonym returns a new pseudonym for a row of a table, or of Root: one that no
	// row of the table has, and that nobody can compute.
	Pseudonym func(table int) uint64
	// Random exchanges the pseudonyms of a class's members. Nobody can compute it.
	Random *rand.Rand
	// Progress is called with how many classes and windows of those to be published
	// are done.
	Progress func(done, total int)
}

// Key is what rows below name a row by, such as a digest of its primary key's values.
// The zero Key is none: of a row that cannot be named, or that belongs to nobody.
type Key [16]byte

// Row is a row of the root or of a table below.
type Row struct {
	ID incremental.RecordID
	// Key is what rows below name it by. No two rows of a table have the same one.
	Key Key
	// Of is the key of the row that it belongs to; of no meaning for the root. It may
	// be the key of a row that comes later.
	Of Key
	// Window is the window of time that the row lies in, of tables that belong to
	// persons directly; 0 for others.
	Window int32
	// Cells has one cell for each attribute.
	Cells []hierarchy.Cell
}

// ErrDuplicateKey says that two rows of a table have the same key.
var ErrDuplicateKey = errors.New("a row has a key that another row of the table has")

// NewMaintained returns a maintained release without rows. The error says that the
// constraints are not k-anonymity of all persons alone, that a table stands before its
// parent, or that the method does not accept what persons are divided by.
func NewMaintained(shape Shape, c privacy.ConstraintSet, knows Knows, o MaintainedOptions) (*Maintained, error) {
	for _, constraint := range c {
		if k, is := constraint.(privacy.KAnonymity); !is || k.Over != nil {
			return nil, fmt.Errorf("%v: a maintained release of several tables supports k-anonymity of all persons alone", constraint)
		}
	}
	m := &Maintained{knows: knows, k: c.K(), options: o, root: newRelation(shape.Root), dirty: newDirt()}
	for i, t := range shape.Tables {
		if t.Parent < Root || t.Parent >= i {
			return nil, fmt.Errorf("table %s: its parent has to stand before it", t.Name)
		}
		m.tables = append(m.tables, newRelation(t.Attributes))
		own := &m.tables[i]
		own.name, own.parent, own.order = t.Name, t.Parent, t.Order
		if t.Parent != Root {
			m.tables[t.Parent].children = append(m.tables[t.Parent].children, i)
		} else {
			m.root.children = append(m.root.children, i)
		}
		// Rows of a pool are told apart by their values, and count by their persons.
		pool := privacy.ConstraintSet{privacy.KAnonymity{K: m.k}}
		if err := o.Method.Accepts(t.Attributes, pool); err != nil {
			return nil, fmt.Errorf("table %s: method %s %w", t.Name, o.Method.Name(), err)
		}
		m.pools = append(m.pools, incremental.New(t.Attributes, pool, o.Method, incremental.Options{Seed: o.Seed, Subjects: true}))
	}
	size := m.k
	if m.features = shape.Root; knows.All {
		m.features = featureAttributes(shape)
	} else {
		size *= max(1, knows.crowd())
	}
	set := privacy.ConstraintSet{privacy.KAnonymity{K: size}}
	if err := o.Method.Accepts(m.features, set); err != nil {
		return nil, fmt.Errorf("method %s %w", o.Method.Name(), err)
	}
	m.partition = incremental.New(m.features, set, o.Method, incremental.Options{Seed: o.Seed})
	return m, nil
}

func (m *Maintained) relation(table int) *relation {
	if table == Root {
		return &m.root
	}
	return &m.tables[table]
}

// Insert adds a row. The errors are incremental.ErrDuplicate for an ID, ErrDuplicateKey,
// and one about the number of cells; nothing is changed then.
func (m *Maintained) Insert(table int, r Row) error {
	t := m.relation(table)
	slot, err := t.insert(r)
	if err != nil {
		return fmt.Errorf("inserting row %d into table %s: %w", r.ID, t.name, err)
	}
	if table == Root {
		if err := m.partition.Insert(incremental.Record{ID: r.ID, Cells: m.personCells(slot)}); err != nil {
			return err
		}
	} else {
		m.link(table, slot, r.Of)
	}
	if r.Key != (Key{}) {
		for _, child := range t.children {
			m.adopt(child, slot, r.Key)
		}
	}
	m.touch(table, slot)
	return nil
}

// Modify replaces a row of the same ID. The errors are incremental.ErrUnknown and those
// of Insert.
func (m *Maintained) Modify(table int, r Row) error {
	t := m.relation(table)
	slot := t.find(r.ID)
	if slot < 0 {
		return fmt.Errorf("modifying row %d of table %s: %w", r.ID, t.name, incremental.ErrUnknown)
	}
	if len(t.children) > 0 && t.keys.of(slot) != r.Key || table != Root && (m.ofKey(table, slot) != r.Of || t.window[slot] != r.Window) {
		if err := m.Delete(table, r.ID); err != nil {
			return err
		}
		return m.Insert(table, r)
	}
	if len(r.Cells) != len(t.attributes) {
		return fmt.Errorf("modifying row %d of table %s: %d cells, %d expected", r.ID, t.name, len(r.Cells), len(t.attributes))
	}
	t.set(slot, r.Cells)
	m.touch(table, slot)
	if table == Root {
		return m.partition.Modify(incremental.Record{ID: r.ID, Cells: m.personCells(slot)})
	}
	return nil
}

// Delete removes a row. Rows that belong to it belong to nobody then, until a row of its
// key comes. The error is incremental.ErrUnknown.
func (m *Maintained) Delete(table int, id incremental.RecordID) error {
	t := m.relation(table)
	slot := t.find(id)
	if slot < 0 {
		return fmt.Errorf("deleting row %d of table %s: %w", id, t.name, incremental.ErrUnknown)
	}
	m.touch(table, slot)
	for _, child := range t.children {
		m.orphan(child, slot, t.keys.of(slot))
	}
	m.dirty.gone(table, id, t.state[slot])
	switch {
	case table == Root:
		if err := m.partition.Delete(id); err != nil {
			return err
		}
	case t.state[slot].pooled():
		if err := m.pools[table].Delete(id); err != nil {
			return err
		}
	}
	if table != Root {
		m.unlink(table, slot)
	}
	t.remove(slot)
	return nil
}

// Truncate removes all rows of a table.
func (m *Maintained) Truncate(table int) error {
	t := m.relation(table)
	for _, id := range t.all() {
		if err := m.Delete(table, id); err != nil {
			return err
		}
	}
	return nil
}

// Len is the number of rows of a table, or of Root, those that are not published
// included.
func (m *Maintained) Len(table int) int { return m.relation(table).directory.Len() }

// Feasible returns nil, or why nothing can be published.
func (m *Maintained) Feasible() error { return m.partition.Feasible() }

// Classes is the number of classes of persons.
func (m *Maintained) Classes() int { return m.partition.Classes() }

// Settle restores the guarantee and returns what it changed. The error is the
// context's; the release must not be used any more then.
func (m *Maintained) Settle(ctx context.Context) (*MaintainedChanges, error) {
	s := &settling{Maintained: m, changes: newMaintainedChanges(len(m.tables))}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("settling tables of persons: %w", err)
	}
	m.dirty = newDirt()
	return s.changes, nil
}
