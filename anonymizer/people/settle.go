package people

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// MaintainedChanges lists the published rows that have to be replaced.
type MaintainedChanges struct {
	Root   TableChanges
	Tables []TableChanges
	// valued are the persons whose values may have changed, with the windows of the rows, even if
	// nothing published of these rows has changed.
	valued map[incremental.RecordID]map[int32]struct{}
}

// TableChanges are those of one table: first the rows in Gone vanish, then the rows
// of Cells appear.
type TableChanges struct {
	Gone []incremental.RecordID
	// GoneOf are the pseudonyms of what these rows belonged to, as reported in PublishedRow.Of.
	GoneOf []uint64
	Cells  []PublishedCell
	// Moved are the rows, in ascending order, whose Class may be another one.
	Moved []incremental.RecordID
}

// PublishedCell holds rows that are published with the same values; of the root, those
// of a class.
type PublishedCell struct {
	// ID is a number that no other cell of the table has had since NewMaintained; of a
	// Guarded release, which no other cell of any table has had.
	ID int64
	// Class is that of the persons, and Window numbers a window of time in it; 0 for pooled rows.
	// Both are set in a Guarded release; do not publish them.
	Class  int64
	Window int32
	// Pooled rows are published without keys.
	Pooled bool
	// Values has one generalization for each attribute.
	Values []hierarchy.Generalization
	// Rows are in an order that reveals when they came; shuffle them before publishing.
	Rows []PublishedRow
	// Sensitive has the values of each row, where they count and others follow a Guarded release.
	Sensitive [][]uint32
}

// PublishedRow is a row with its pseudonyms, which are 0 for pooled rows.
type PublishedRow struct {
	ID  incremental.RecordID
	Own uint64
	// Of is the pseudonym of the row that it belongs to, and Person that of the person.
	Of, Person uint64
	// Member numbers the person within the class or, for pooled rows, within the cell, and Parent
	// is the published row that it belongs to. Both are set in a Guarded release; do not publish
	// them.
	Member int32
	Parent incremental.RecordID
}

func newMaintainedChanges(tables int) *MaintainedChanges {
	return &MaintainedChanges{Tables: make([]TableChanges, tables)}
}

func (c *MaintainedChanges) of(table int) *TableChanges {
	if table == Root {
		return &c.Root
	}
	return &c.Tables[table]
}

// goneRow is a row that vanishes, with the key that it showed of what it belongs to.
type goneRow struct {
	id incremental.RecordID
	of uint64
}

// dirt is what has changed since the last Settle.
type dirt struct {
	persons map[incremental.RecordID]map[int32]struct{} // whose rows have changed, with the windows of these
	valued  map[incremental.RecordID]map[int32]struct{} // whose rows that are published one by one have
	removed map[int][]goneRow                           // published rows that vanish, by table
	moved   map[int][]incremental.RecordID              // rows that are in another class, or in none
	// separate are the rows that have come or changed of tables whose rows are published one by one.
	separate []separate
}

func newDirt() dirt {
	return dirt{
		persons: make(map[incremental.RecordID]map[int32]struct{}), valued: make(map[incremental.RecordID]map[int32]struct{}),
		removed: make(map[int][]goneRow), moved: make(map[int][]incremental.RecordID),
	}
}

// move notes that a row is in another class, or in none.
func (d *dirt) move(table int, id incremental.RecordID) { d.moved[table] = append(d.moved[table], id) }

// gone has a row vanish if it is published.
func (m *Maintained) gone(table int, slot int32) {
	t := m.relation(table)
	if !t.state[slot].published() {
		return
	}
	of := uint64(0)
	if t.state[slot] == inCell {
		of = t.link[slot]
	}
	m.dirty.removed[table] = append(m.dirty.removed[table], goneRow{t.ids[slot], of})
}

// touch marks the window of a row, or only the row, to be published anew.
func (m *Maintained) touch(table int, slot int32) {
	person, window := m.person(table, slot)
	if m.relation(table).separate {
		m.touchSeparate(table, slot)
		if person != Nobody {
			note(m.dirty.valued, m.root.ids[person], table, window)
		}
		return
	}
	if person != Nobody {
		note(m.dirty.persons, m.root.ids[person], table, window)
	}
}

// note notes the window of a person's row; a root row is in none.
func note(in map[incremental.RecordID]map[int32]struct{}, person incremental.RecordID, table int, window int32) {
	windows := in[person]
	if windows == nil {
		windows = make(map[int32]struct{})
		in[person] = windows
	}
	if table != Root {
		windows[window] = struct{}{}
	}
}

// allValued are the persons with any change, with the windows.
func (d *dirt) allValued() map[incremental.RecordID]map[int32]struct{} {
	if len(d.valued) == 0 {
		return d.persons
	}
	for person, windows := range d.persons {
		if d.valued[person] == nil {
			d.valued[person] = windows
			continue
		}
		maps.Copy(d.valued[person], windows)
	}
	return d.valued
}

// settling is one run of Settle.
type settling struct {
	*Maintained
	changes *MaintainedChanges
	units   []*unit
	// separate are the rows that are published one by one.
	separate []separate
}

func (s *settling) run(ctx context.Context) error {
	if s.restored != nil {
		if err := s.restorePersons(); err != nil {
			return err
		}
	}
	if err := s.refresh(); err != nil {
		return err
	}
	moved, err := s.partition.SettleContext(ctx)
	if err != nil {
		return err
	}
	s.withhold(moved)
	satisfied := s.regroup(moved)
	if s.withheld = nil; !satisfied {
		s.withholdAll()
	}
	s.plan(s.publishRoot())
	if err := s.divide(ctx); err != nil {
		return err
	}
	for _, u := range s.units {
		if err := s.publishUnit(u); err != nil {
			return err
		}
	}
	if err := s.publishSeparate(); err != nil {
		return err
	}
	for table := range s.tables {
		if err := s.settlePool(ctx, table); err != nil {
			return err
		}
	}
	for table, rows := range s.dirty.removed {
		of := s.changes.of(table)
		for _, r := range rows {
			of.Gone, of.GoneOf = append(of.Gone, r.id), append(of.GoneOf, r.of)
		}
	}
	for id := range moved.Moved {
		s.dirty.move(Root, id)
	}
	s.noteMoved()
	s.restored = nil
	return nil
}

// noteMoved lists the rows whose classes are others, each once and without deleted ones.
func (s *settling) noteMoved() {
	for table, classes := range s.restored { // what nobody has any more
		for id := range classes {
			s.dirty.move(table, id)
		}
	}
	for table, ids := range s.dirty.moved {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		s.changes.of(table).Moved = slices.DeleteFunc(ids, func(id incremental.RecordID) bool { return s.relation(table).find(id) == none })
	}
}

// refresh updates the partition with features of persons that have changed with their rows.
func (s *settling) refresh() error {
	if !s.knows.All {
		return nil
	}
	for _, id := range sortedKeys(s.dirty.persons) {
		slot := s.root.find(id)
		if slot == none {
			continue
		}
		if err := s.partition.Modify(incremental.Record{ID: id, Cells: s.personCells(slot)}); err != nil {
			return err
		}
		if err := s.partition.Touch(id); err != nil {
			return err
		}
	}
	return nil
}

// withhold removes persons who are no longer in any class, with all their rows.
func (s *settling) withhold(moved incremental.Changes) {
	for _, id := range sortedKeys(moved.Moved) {
		if slot := s.root.find(id); moved.Moved[id] == 0 && slot != none {
			s.hidePerson(slot)
		}
	}
}

// withholdAll has everything vanish.
func (s *settling) withholdAll() {
	for slot, id := range s.root.ids {
		if id != 0 {
			s.hidePerson(int32(slot))
		}
	}
	s.unions, s.withheld = newUnions(), errTooAlike
}

func (s *settling) hidePerson(slot int32) {
	s.gone(Root, slot)
	s.root.state[slot] = hidden
	for _, table := range s.root.children {
		for _, row := range s.below(table, slot) {
			s.hide(table, row)
		}
	}
}

// publishRoot publishes the root rows of unions that are new, with new pseudonyms, and
// returns these.
func (s *settling) publishRoot() []*union {
	var published []*union
	for _, u := range s.unions.list {
		if u.shown || u.classes == nil {
			continue
		}
		u.shown = true
		published = append(published, u)
		places := make([]int32, len(u.persons))
		cell := PublishedCell{ID: s.root.nextCell()}
		for i, slot := range u.persons {
			places[i] = int32(i)
			s.gone(Root, slot)
			s.root.state[slot] = inCell
			own := s.options.Pseudonym(Root)
			s.setPseudonym(slot, own)
			cell.Rows = append(cell.Rows, PublishedRow{ID: s.root.ids[slot], Own: own, Person: own})
		}
		cell.Values = s.root.generalize(u.persons, places)
		s.changes.Root.Cells = append(s.changes.Root.Cells, cell)
	}
	return published
}

// plan lists what is published anew: all windows of new unions, and of others the windows
// with changed rows.
func (s *settling) plan(published []*union) {
	whole := make(map[*union]bool, len(published))
	for _, u := range published {
		whole[u] = true
		s.addUnits(u, nil)
	}
	windows := make(map[*union]map[int32]struct{})
	for _, id := range sortedKeys(s.dirty.persons) {
		u := s.unions.of[s.partition.ClassOf(id)]
		if u == nil || whole[u] {
			continue
		}
		if windows[u] == nil {
			windows[u] = make(map[int32]struct{})
		}
		maps.Copy(windows[u], s.dirty.persons[id])
	}
	s.planSeparate(whole, windows)
	for _, u := range slices.SortedFunc(maps.Keys(windows), func(a, b *union) int { return cmp.Compare(a.classes[0], b.classes[0]) }) {
		s.addUnits(u, windows[u])
	}
}

// addUnits plans some windows of a union, or all.
func (s *settling) addUnits(of *union, only map[int32]struct{}) {
	byWindow := make(map[int32]*unit)
	for member, person := range of.persons {
		for _, table := range s.root.children {
			for _, row := range s.below(table, person) {
				window := s.tables[table].window[row]
				if s.knows.All {
					window = 0
				} else if _, wanted := only[window]; only != nil && !wanted {
					continue
				}
				u := byWindow[window]
				if u == nil {
					u = newUnit(&s.source, of.persons)
					byWindow[window] = u
				}
				u.add(table, row, int32(member))
			}
		}
	}
	for _, window := range sortedKeys(byWindow) {
		s.units = append(s.units, byWindow[window])
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// divide makes the cells of all units, on every processor.
func (s *settling) divide(ctx context.Context) error {
	var next, done atomic.Int64
	var workers sync.WaitGroup
	var told sync.Mutex
	for range min(len(s.units), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(s.units) {
					return
				}
				s.units[i].divide()
				if n := int(done.Add(1)); s.options.Progress != nil {
					told.Lock()
					s.options.Progress(n, len(s.units))
					told.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// publishUnit publishes the rows of a class and window that are in cells, and leaves the
// others to the pools.
func (s *settling) publishUnit(u *unit) error {
	persons := make([]uint64, len(u.persons))
	for i, person := range u.persons {
		persons[i] = s.pseudonym(person)
	}
	if !s.knows.All {
		s.options.Random.Shuffle(len(persons), func(i, j int) { persons[i], persons[j] = persons[j], persons[i] })
	}
	for table := range s.tables {
		if err := s.publishRows(u, table, persons); err != nil {
			return err
		}
	}
	return nil
}

func (s *settling) publishRows(u *unit, table int, persons []uint64) error {
	t, of := &s.tables[table], &u.tables[table]
	in := make([]bool, len(of.rows))
	for _, cell := range of.cells {
		published := PublishedCell{ID: t.nextCell(), Values: t.generalize(of.rows, cell)}
		for _, at := range cell {
			in[at] = true
			p := PublishedRow{Person: persons[of.person[at]]}
			if p.Of = p.Person; t.parent != Root {
				p.Of = u.tables[t.parent].own[of.parent[at]]
			}
			if err := s.show(table, of.rows[at], &p); err != nil {
				return err
			}
			of.own[at] = p.Own
			published.Rows = append(published.Rows, p)
		}
		s.changes.Tables[table].Cells = append(s.changes.Tables[table].Cells, published)
	}
	for at, row := range of.rows {
		if in[at] {
			continue
		}
		if err := s.toPool(table, row, u.persons[of.person[at]]); err != nil {
			return err
		}
	}
	return nil
}

// show has a row published in a cell with the keys that it hangs on, and gives it a key of its own.
func (s *settling) show(table int, row int32, p *PublishedRow) error {
	t := &s.tables[table]
	id := t.ids[row]
	s.gone(table, row)
	if t.state[row].pooled() {
		if err := s.pools[table].Delete(id); err != nil {
			return err
		}
	}
	if t.state[row].pooled() || s.restored.take(table, id) != 0 {
		s.dirty.move(table, id)
	}
	t.state[row] = inCell
	p.ID, p.Own = id, s.options.Pseudonym(table)
	if len(t.children) > 0 {
		t.own[row] = p.Own
	}
	t.link[row] = p.Of
	return nil
}

// toPool leaves a row to the pool.
func (s *settling) toPool(table int, row, person int32) error {
	t := &s.tables[table]
	r := incremental.Record{ID: t.ids[row], Cells: slices.Clone(t.cells.Row(row)), Sensitive: slices.Clone(t.sensitive.Row(row)), Subject: uint32(person)}
	if t.state[row].pooled() {
		if before, _, _ := s.pools[table].Record(r.ID); slices.Equal(before.Cells, r.Cells) && slices.Equal(before.Sensitive, r.Sensitive) {
			return nil
		}
		return s.pools[table].Modify(r)
	}
	s.gone(table, row)
	t.state[row] = pooledUnset
	if class := s.restored.take(table, r.ID); class != 0 {
		return s.pools[table].Load(class, []incremental.Record{r})
	}
	return s.pools[table].Insert(r)
}

// settlePool publishes pooled rows in classes of their own, without keys.
func (s *settling) settlePool(ctx context.Context, table int) error {
	t, pool := &s.tables[table], s.pools[table]
	moved, err := s.pool(ctx, table)
	if err != nil {
		return err
	}
	for _, class := range moved.Rewrite {
		members := pool.Members(class)
		if len(members) == 0 {
			continue
		}
		cell := PublishedCell{ID: t.nextCell(), Pooled: true, Values: pool.Generalize(class)}
		for _, id := range members {
			row := t.find(id)
			s.gone(table, row)
			t.state[row] = pooledShown
			cell.Rows = append(cell.Rows, PublishedRow{ID: id})
		}
		s.changes.Tables[table].Cells = append(s.changes.Tables[table].Cells, cell)
	}
	for _, id := range sortedKeys(moved.Moved) {
		s.dirty.move(table, id)
		if row := t.find(id); moved.Moved[id] == 0 && row != none && t.state[row] == pooledShown {
			s.gone(table, row)
			t.state[row] = pooledUnset
		}
	}
	return nil
}
