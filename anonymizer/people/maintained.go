package people

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Maintained is a release that follows inserts, updates and deletes of all its tables. Between two
// calls of Settle it collects changes; Settle restores the guarantee about what an outsider knows,
// and returns which published rows have to be replaced.
//
// Everything that is published of a class and window is a function of the current rows of its
// persons and of fresh random numbers. If one of these rows changes, all of them are published
// anew, with new pseudonyms, unless no outsider knows the row and nothing else that is published
// depends on it. Classes are those of incremental.Partition, over the root's attributes or, if
// everything is known, over the features of persons. The first Settle after everything was inserted
// makes the first release, and one after a restart makes a new one.
//
// It is not safe for concurrent use.
type Maintained struct {
	source
	options MaintainedOptions

	features  []anonymizer.Attribute // of persons, by which they are divided
	partition *incremental.Partition // of persons
	unions    unions
	counted   *counting // what of persons counts for the constraints
	pools     []*incremental.Partition
	dirty     dirt
	withheld  error // why nothing is published although there are enough persons
	restored  restored

	pseudonyms []uint64 // that root rows carry, by the person's slot
}

// Shape describes the tables of a maintained release. The root is described only by its attributes.
type Shape struct {
	Root []anonymizer.Attribute
	// RootSensitive is the number of sensitive attributes of the root.
	RootSensitive int
	Tables        []TableShape
}

// TableShape describes a table whose rows belong to persons; see Table.
type TableShape struct {
	Name       string
	Attributes []anonymizer.Attribute
	Sensitive  int // number of sensitive attributes
	Parent     int
	Order      int
	Unknown    bool
}

// MaintainedOptions of a maintained release.
type MaintainedOptions struct {
	// Method makes and splits classes; see Options.Method.
	Method anonymizer.Method
	// Seed is handed to the method.
	Seed uint64
	// Pseudonym returns a new pseudonym for a row of a table, or of Root: one that no
	// row of the table has, and that nobody can compute. It may be 0 where no table is
	// through the row's.
	Pseudonym func(table int) uint64
	// Random exchanges the pseudonyms of a class's members. It must be unpredictable.
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
	// Key is what rows below name it by. No two rows of a table have the same one at a Settle;
	// until then they may, as in the middle of a transaction.
	Key Key
	// Of is the key of the row that it belongs to; of no meaning for the root. It may
	// be the key of a row that comes later.
	Of Key
	// Window is the window of time that the row lies in, of tables that belong to
	// persons directly; 0 for others.
	Window int32
	// Cells has one cell for each attribute.
	Cells []hierarchy.Cell
	// Sensitive has a code for each sensitive attribute.
	Sensitive []uint32
}

// DuplicateKeyError says that two rows of a table, or of Root, have the same key.
type DuplicateKeyError struct{ Table int }

func (e *DuplicateKeyError) Error() string {
	return "a row has a key that another row of its table has"
}

// NewMaintained returns a maintained release without rows. Sensitive attributes are
// numbered as in Data.SensitiveOf. The error says that constraints are over some attributes
// or compare classes with all persons, that a table stands before its parent, or that the
// method does not accept what persons are divided by.
func NewMaintained(shape Shape, c privacy.ConstraintSet, knows Knows, o MaintainedOptions) (*Maintained, error) {
	set, err := maintainable(c)
	if err != nil {
		return nil, err
	}
	m := &Maintained{options: o, dirty: newDirt(), unions: newUnions()}
	if m.source, err = newSource(shape, set, knows); err != nil {
		return nil, err
	}
	m.counted = m.counting(set)
	for i, t := range shape.Tables {
		// Rows of the pool are distinguished by their values, and count by their persons.
		pool, err := o.partition(t.Attributes, ofTable(set, m.tables[i].first, t.Sensitive), true)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		m.pools = append(m.pools, pool)
	}
	m.separateTables()
	size := m.k
	if m.features = shape.Root; knows.All {
		m.features = featureAttributes(shape)
	} else {
		size *= max(1, knows.crowd())
	}
	m.partition, err = o.partition(m.features, privacy.ConstraintSet{privacy.KAnonymity{K: size}}, false)
	return m, err
}

func (o MaintainedOptions) partition(attributes []anonymizer.Attribute, c privacy.ConstraintSet, subjects bool) (*incremental.Partition, error) {
	if err := o.Method.Accepts(attributes, c); err != nil {
		return nil, fmt.Errorf("method %s %w", o.Method.Name(), err)
	}
	return incremental.New(attributes, c, o.Method, incremental.Options{Seed: o.Seed, Subjects: subjects}), nil
}

// Insert adds a row. The errors are incremental.ErrDuplicate for an ID,
// and one about the number of cells; nothing is changed then.
func (m *Maintained) Insert(table int, r Row) error { return m.insert(table, r, 0) }

// insert adds a row, which has been in a class before a restart.
func (m *Maintained) insert(table int, r Row, class incremental.ClassID) error {
	t := m.relation(table)
	slot, err := t.insert(r)
	if err != nil {
		return fmt.Errorf("inserting row %d into table %s: %w", r.ID, t.name, err)
	}
	if class != 0 {
		m.restored.add(table, r.ID, class)
	}
	switch {
	case table != Root:
		m.link(table, slot, r.Of)
	case class == 0:
		if err := m.partition.Insert(incremental.Record{ID: r.ID, Cells: m.personCells(slot)}); err != nil {
			return err
		}
	}
	if r.Key != (Key{}) && t.keys.find(r.Key) == slot {
		for _, child := range t.children {
			m.adopt(child, slot, r.Key)
		}
	}
	m.touch(table, slot)
	return nil
}

// Modify replaces a row of the same ID, which is published anew even if it is the same: it may
// have values that the release does not know. The errors are incremental.ErrUnknown and those
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
	if err := t.checkShape(r); err != nil {
		return fmt.Errorf("modifying row %d of table %s: %w", r.ID, t.name, err)
	}
	t.set(slot, r)
	m.touch(table, slot)
	if t.state[slot].pooled() { // values that the pool does not know may have changed
		if err := m.pools[table].Touch(r.ID); err != nil {
			return err
		}
	}
	if table == Root && m.restored.class(Root, r.ID) == 0 {
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
	m.gone(table, slot)
	switch {
	case m.restored.take(table, id) != 0: // it is nowhere else
		m.dirty.move(table, id)
	case table == Root:
		if err := m.partition.Delete(id); err != nil {
			return err
		}
	case t.state[slot].pooled():
		m.dirty.move(table, id) // it may come back
		if err := m.pools[table].Delete(id); err != nil {
			return err
		}
	}
	if table != Root {
		m.unlink(table, slot)
	}
	key := t.keys.of(slot)
	if heir := t.remove(slot); heir != none {
		for _, child := range t.children {
			m.adopt(child, heir, key)
		}
		m.touch(table, heir)
	}
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

// Feasible returns nil, or why nothing can be published.
func (m *Maintained) Feasible() error {
	if m.withheld != nil {
		return m.withheld
	}
	why := m.partition.Feasible()
	if least, persons := m.classSize(), m.Len(Root); why != nil && least > m.k && persons < least {
		return fmt.Errorf("a class has %d persons or more (k = %d, crowd %d), and there are %d", least, m.k, least/m.k, persons)
	}
	return why
}

// Classes is the number of published classes of persons.
func (m *Maintained) Classes() int { return len(m.unions.list) - m.unions.tooMany }

// Settle restores the guarantee and returns what it changed. The error is a *DuplicateKeyError,
// before anything is changed, or the context's; the release must not be used any more then.
func (m *Maintained) Settle(ctx context.Context) (*MaintainedChanges, error) {
	if err := m.checkKeys(); err != nil {
		return nil, err
	}
	s := &settling{Maintained: m, changes: newMaintainedChanges(len(m.tables))}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("settling tables of persons: %w", err)
	}
	s.changes.valued = m.dirty.allValued()
	m.dirty = newDirt()
	return s.changes, nil
}
