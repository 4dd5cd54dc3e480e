package people

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Coarser is a release of the same tables for an audience with a greater k. It is made of what a
// finer release publishes: a Maintained, or another Coarser.
//
// Its classes of persons are unions of the finer classes, the same for all tables. In a union and
// window, cells are unions of the finer cells of a table; in child tables, inside one cell of the
// parent table. Whatever lies in no such cell, with all rows below it, has no keys, like the rows
// without keys of the finer release; these are united in the same way from what the finer release
// publishes with the same values. What the finer release shows determines which are united, and
// values are the hierarchy.Union of its values (nested). Pseudonyms are new, and exchanged at
// random in each window, so that readers cannot tell the finer classes. A reader of both releases
// therefore learns only what the finer one reveals.
//
// It is not safe for concurrent use.
type Coarser struct {
	of          *Maintained
	attributes  shownAttributes
	k, least    int // persons of a cell, and of a class
	constraints privacy.ConstraintSet
	stated      privacy.ConstraintSet // of these, the constraints on sensitive values that are stated for audiences
	inCells     *counting             // what of persons counts for them in cells
	options     CoarserOptions

	classes  *atoms // the finer classes of persons
	groups   *nested.Groups
	tables   []coarserTable
	cellOf   []map[incremental.RecordID]*atom // where rows are in the finer release; the root's first
	units    map[unitKey]map[*atom]struct{}   // cells by finer class and window
	windows  map[incremental.ClassID]map[int32]struct{}
	shown    []map[incremental.RecordID]shownAt                   // the root's first
	rowsOf   map[incremental.ClassID]map[int32]map[rowOf]struct{} // by group and window
	persons  map[incremental.ClassID][]incremental.RecordID
	alias    map[incremental.RecordID]uint64                                   // that root rows carry
	aliases  map[incremental.ClassID]map[int32]map[incremental.RecordID]uint64 // that persons have in a group and window
	trees    *unitedTrees                                                      // where all is known
	lastCell []int64
	withheld bool                                           // nothing is published
	restored []map[incremental.RecordID]incremental.ClassID // until the first Settle
	told     []map[incremental.RecordID]incremental.ClassID // the group of each row, as it was told
}

// CoarserOptions of a coarser release.
type CoarserOptions struct {
	// K is the least number of persons with the same values; it replaces the finer release's.
	K int
	// Constraints are what is stated for the audience and for those before it, besides K and what holds for the tables' own
	// readers: of l and alpha, on sensitive attributes that are numbered as those of NewMaintained.
	Constraints privacy.ConstraintSet
	// Attributes of the root and of each other table, where less of some is shown than by the finer release: those of
	// hierarchy.Coarser of its. Nil for its own.
	Root   []anonymizer.Attribute
	Tables [][]anonymizer.Attribute
	// Seed of the unions.
	Seed uint64
	// Pseudonym and Random are those of MaintainedOptions, and not shared with the finer release.
	Pseudonym func(table int) uint64
	Random    *rand.Rand
}

// coarserTable is what a Coarser has of a table besides: the rows without keys.
type coarserTable struct {
	pool    *atoms
	groups  *nested.Groups
	keyless map[*atom]struct{}                             // the atoms that have no keys in the finer release, either
	rows    map[incremental.ClassID][]incremental.RecordID // of each group, as it is shown
	retired []incremental.ClassID
	added   map[incremental.ClassID]struct{}
}

// unitKey names a class of persons, or a group of such classes, in a window.
type unitKey struct {
	class  incremental.ClassID
	window int32
}

func compareUnits(a, b unitKey) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.window, b.window))
}

// shownAt is where a row is published: in a cell of a unit, with a pseudonym and below another one, or without keys in a group
// of its table.
type shownAt struct {
	of    uint64
	own   uint64
	unit  unitKey // by group
	group incremental.ClassID
}

type rowOf struct {
	table int
	id    incremental.RecordID
}

func compareRows(a, b rowOf) int {
	return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.id, b.id))
}

// NewCoarser makes a release without rows, of one that has published nothing yet. The error says that a constraint is none
// that unions of persons are made for.
func NewCoarser(of *Maintained, o CoarserOptions) (*Coarser, error) {
	c := &Coarser{
		of: of, k: max(o.K, of.k), options: o,
		units: make(map[unitKey]map[*atom]struct{}), windows: make(map[incremental.ClassID]map[int32]struct{}),
		withheld: true, rowsOf: make(map[incremental.ClassID]map[int32]map[rowOf]struct{}), persons: make(map[incremental.ClassID][]incremental.RecordID), alias: make(map[incremental.RecordID]uint64), aliases: make(map[incremental.ClassID]map[int32]map[incremental.RecordID]uint64),
		lastCell: make([]int64, 1+len(of.tables)),
	}
	if err := c.constrain(); err != nil {
		return nil, err
	}
	if c.least = c.k; !of.knows.All {
		c.least *= max(1, of.knows.crowd())
	}
	for range 1 + len(of.tables) {
		c.cellOf = append(c.cellOf, make(map[incremental.RecordID]*atom))
		c.shown = append(c.shown, make(map[incremental.RecordID]shownAt))
		c.told = append(c.told, make(map[incremental.RecordID]incremental.ClassID))
	}
	c.attributes = o.shown(attributesOf(&of.source))
	c.classes = newAtoms(&of.root, c.attributes[0], c.cellOf[0], nil, 0)
	if of.knows.All { // slots are as many as the class with the fewest has
		c.classes.know(of.numberOfSlotFeatures(), c.slots)
	} else if len(of.root.attributes) == 0 {
		c.classes.divideAlike()
	}
	c.countClasses()
	grouping := nested.Options{Seed: o.Seed, OmitMoved: true, Counted: c.classes.tally != nil}
	if of.knows.All && len(c.stated) == 0 {
		grouping.Loss = c.lossTogether
	}
	c.groups = nested.NewGroups(c.classes, c.classes.attributes, append(privacy.ConstraintSet{privacy.KAnonymity{K: c.least}}, c.stated...), grouping)
	for i := range of.tables {
		t := &of.tables[i]
		pool := newAtoms(t, c.attributes[i+1], c.cellOf[i+1], func(slot int32) uint32 { person, _ := of.person(i, slot); return uint32(person) }, t.sensitive.Columns())
		pool.divideAlike()
		set := ofTable(c.constraints, t.first, t.sensitive.Columns())
		c.tables = append(c.tables, coarserTable{
			pool: pool, groups: nested.NewGroups(pool, pool.attributes, set, nested.Options{Seed: o.Seed, Subjects: true, OmitMoved: true}),
			keyless: make(map[*atom]struct{}), rows: make(map[incremental.ClassID][]incremental.RecordID), added: make(map[incremental.ClassID]struct{}),
		})
	}
	return c, nil
}

// Restore states, before the first Settle, the group that a row had before a restart, as returned
// by Group.
func (c *Coarser) Restore(table int, id incremental.RecordID, group incremental.ClassID) {
	if group == 0 {
		return
	}
	if c.restored == nil {
		c.restored = make([]map[incremental.RecordID]incremental.ClassID, 1+len(c.tables))
	}
	if c.restored[table+1] == nil {
		c.restored[table+1] = make(map[incremental.RecordID]incremental.ClassID)
	}
	c.restored[table+1][id], c.told[table+1][id] = group, group
}

// Group is the group of the class of a person or, of another table, of a row without keys; 0 without one.
func (c *Coarser) Group(table int, id incremental.RecordID) incremental.ClassID {
	a := c.cellOf[table+1][id]
	switch {
	case a == nil:
		return 0
	case table == Root:
		return c.groups.GroupOf(a.id)
	case !c.tables[table].pool.has(a):
		return 0
	}
	return c.tables[table].groups.GroupOf(a.id)
}

// Classes is the number of published classes of persons.
func (c *Coarser) Classes() int { return c.groups.Classes() }

// Feasible returns nil, or why nothing can be published although the finer release is.
func (c *Coarser) Feasible() error {
	persons := c.classes.whole.Records
	switch {
	case c.groups.Classes() > 0 || persons == 0:
	case persons >= c.least:
		return fmt.Errorf("all persons together violate %v", c.stated)
	default:
		return fmt.Errorf("a class has %d persons or more (k = %d, crowd %d), and there are %d", c.least, c.k, c.least/c.k, persons)
	}
	return nil
}

// coarsening is one run of Settle.
type coarsening struct {
	*Coarser
	changes *MaintainedChanges
	retired []incremental.ClassID
	added   []incremental.ClassID
	dirty   map[unitKey]struct{}                // by finer class
	single  []*atom                             // cells that have come, of rows that are published one by one
	touched []map[incremental.RecordID]struct{} // rows that are published otherwise
	shrunk  map[*atom]struct{}
}

// Settle follows a Settle of the finer release, given what that changed, and returns what changes
// of this one. The error is the context's; the release must not be used any more then.
func (c *Coarser) Settle(ctx context.Context, finer *MaintainedChanges) (*MaintainedChanges, error) {
	s := &coarsening{Coarser: c, changes: newMaintainedChanges(len(c.tables)), dirty: make(map[unitKey]struct{}), shrunk: make(map[*atom]struct{})}
	s.changes.valued = finer.valued
	for range c.shown {
		s.touched = append(s.touched, make(map[incremental.RecordID]struct{}))
	}
	for table := Root; table < len(c.tables); table++ {
		s.follow(table, finer.of(table))
	}
	s.recount(finer.valued)
	for a := range s.shrunk {
		if len(a.rows) > 0 {
			s.enterPool(a)
		} else {
			delete(s.tables[a.table].keyless, a)
		}
	}
	dirty, err := s.group(ctx)
	if err != nil {
		return nil, err
	}
	if c.trees != nil {
		c.trees.forget()
	}
	s.addSingle(dirty)
	if err := s.publishUnits(ctx, dirty); err != nil {
		return nil, err
	}
	s.publishSingle(dirty)
	for table := range c.tables {
		if err := s.settlePool(ctx, table); err != nil {
			return nil, err
		}
	}
	s.noteMoved()
	c.restored = nil
	return s.changes, ctx.Err()
}

// follow takes over what the finer release has changed of a table.
func (s *coarsening) follow(table int, changes *TableChanges) {
	for _, id := range changes.Gone {
		s.hide(table, id)
		if a := s.cellOf[table+1][id]; a != nil {
			delete(s.cellOf[table+1], id)
			s.take(a, id)
		}
		if table == Root {
			delete(s.alias, id)
		}
	}
	for i := range changes.Cells {
		cell := &changes.Cells[i]
		a := &atom{id: incremental.ClassID(cell.ID), table: table, pooled: cell.Pooled, values: s.attributes.seen(table, cell.Values), drawn: s.options.Random.Float64(), rows: make(map[incremental.RecordID]struct{}, len(cell.Rows))}
		for _, r := range cell.Rows {
			a.rows[r.ID] = struct{}{}
			s.cellOf[table+1][r.ID] = a
		}
		switch {
		case table == Root:
			s.classes.add(a)
			s.added = append(s.added, a.id)
		case a.pooled:
			s.tables[table].keyless[a] = struct{}{}
			s.enterPool(a)
		default:
			s.settleIn(a, cell.Rows[0].ID)
		}
	}
}

// settleIn puts a cell into its unit, by one of its rows.
func (s *coarsening) settleIn(a *atom, row incremental.RecordID) {
	t := s.of.relation(a.table)
	slot := t.find(row)
	person, window := s.of.person(a.table, slot)
	if s.of.knows.All {
		window = 0
	}
	a.unit = unitKey{s.cellOf[0][s.of.root.ids[person]].id, window}
	if t.parent != Root {
		a.parent = s.cellOf[t.parent+1][s.of.relation(t.parent).ids[t.of[slot]]]
	}
	if s.units[a.unit] == nil {
		s.units[a.unit] = make(map[*atom]struct{})
	}
	s.units[a.unit][a] = struct{}{}
	if s.windows[a.unit.class] == nil {
		s.windows[a.unit.class] = make(map[int32]struct{})
	}
	s.windows[a.unit.class][window] = struct{}{}
	if t.separate {
		s.single = append(s.single, a)
	} else {
		s.dirty[a.unit] = struct{}{}
	}
}

// take takes a row out of what the finer release published it in.
func (s *coarsening) take(a *atom, id incremental.RecordID) {
	pooled := a.table != Root && s.tables[a.table].pool.has(a)
	if pooled {
		s.leavePool(a)
	}
	delete(a.rows, id)
	switch {
	case a.table == Root:
		if s.classes.has(a) {
			s.classes.remove(a)
			s.retired = append(s.retired, a.id)
		}
	case a.pooled:
		s.shrunk[a] = struct{}{}
	default:
		if !s.of.tables[a.table].separate {
			s.dirty[a.unit] = struct{}{}
		} else if pooled {
			s.shrunk[a] = struct{}{}
		}
		if len(a.rows) > 0 {
			return
		}
		if delete(s.units[a.unit], a); len(s.units[a.unit]) == 0 {
			delete(s.units, a.unit)
			if delete(s.windows[a.unit.class], a.unit.window); len(s.windows[a.unit.class]) == 0 {
				delete(s.windows, a.unit.class)
			}
		}
	}
}

// group unites the classes, publishes the root rows of changed groups, and returns the units of
// groups that are to be published anew.
func (s *coarsening) group(ctx context.Context) (map[unitKey]struct{}, error) {
	before := s.restoredOf(Root)
	if arranged, err := s.arrange(ctx); err != nil {
		return nil, err
	} else if arranged {
		before = make(map[incremental.RecordID]incremental.ClassID) // all groups are told
	}
	changes, err := s.classes.settle(ctx, s.groups, s.retired, s.added, before)
	if err != nil {
		return nil, fmt.Errorf("uniting classes of persons: %w", err)
	}
	s.withholdRows()
	dirty := make(map[unitKey]struct{})
	for _, group := range slices.Concat(changes.Retired, changes.Rewrite) {
		for _, id := range s.persons[group] {
			s.hide(Root, id)
		}
		delete(s.persons, group)
		delete(s.aliases, group) // of windows without rows as well
		for window := range s.rowsOf[group] {
			dirty[unitKey{group, window}] = struct{}{}
		}
	}
	for _, group := range changes.Rewrite {
		s.publishRoot(group)
		for _, class := range s.groups.Members(group) {
			for window := range s.windows[class] {
				dirty[unitKey{group, window}] = struct{}{}
			}
		}
	}
	for key := range s.dirty {
		if group := s.groups.GroupOf(key.class); group != 0 {
			dirty[unitKey{group, key.window}] = struct{}{}
		}
	}
	return dirty, nil
}

// restoredOf are the groups of a table's rows before a restart; nil after the first Settle.
func (c *Coarser) restoredOf(table int) map[incremental.RecordID]incremental.ClassID {
	if c.restored == nil {
		return nil
	}
	return c.restored[table+1]
}

// publishRoot publishes the root rows of a group, with new pseudonyms.
func (s *coarsening) publishRoot(group incremental.ClassID) {
	cell := PublishedCell{ID: s.nextCell(Root), Values: s.classes.shows(s.groups.Generalize(group))}
	for _, id := range s.members(group) {
		s.alias[id] = s.options.Pseudonym(Root)
		s.show(Root, id, shownAt{})
		cell.Rows = append(cell.Rows, PublishedRow{ID: id, Own: s.alias[id], Person: s.alias[id]})
		s.persons[group] = append(s.persons[group], id)
	}
	s.changes.Root.Cells = append(s.changes.Root.Cells, cell)
}

// members are the persons of a group, in ascending order.
func (c *Coarser) members(group incremental.ClassID) (persons []incremental.RecordID) {
	for _, class := range c.groups.Members(group) {
		persons = append(persons, c.classes.byID[class].sorted()...)
	}
	slices.Sort(persons)
	return persons
}

func (c *Coarser) nextCell(table int) int64 {
	c.lastCell[table+1]++
	return c.lastCell[table+1]
}

// hide has a row vanish if it is published.
func (s *coarsening) hide(table int, id incremental.RecordID) {
	s.touched[table+1][id] = struct{}{}
	at, there := s.shown[table+1][id]
	if !there {
		return
	}
	delete(s.shown[table+1], id)
	delete(s.rowsOf[at.unit.class][at.unit.window], rowOf{table, id})
	of := s.changes.of(table)
	of.Gone, of.GoneOf = append(of.Gone, id), append(of.GoneOf, at.of)
}

// show has a row published, and nowhere else.
func (s *coarsening) show(table int, id incremental.RecordID, at shownAt) {
	s.hide(table, id)
	s.shown[table+1][id] = at
}

// noteMoved lists the rows whose groups differ from those reported before.
func (s *coarsening) noteMoved() {
	for table := Root; table < len(s.tables); table++ {
		touched, told, t := s.touched[table+1], s.told[table+1], s.of.relation(table)
		if s.restored != nil {
			for id := range s.restored[table+1] {
				touched[id] = struct{}{}
			}
		}
		moved := &s.changes.of(table).Moved
		for id := range touched {
			group := s.Group(table, id)
			if t.find(id) == none {
				delete(told, id)
				continue
			}
			if told[id] == group {
				continue
			}
			if *moved = append(*moved, id); group == 0 {
				delete(told, id)
			} else {
				told[id] = group
			}
		}
		slices.Sort(*moved)
	}
}
