package people

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
)

// coarserUnit is what is published anew of a group and window.
type coarserUnit struct {
	*Coarser
	key     unitKey // a group
	classes []incremental.ClassID
	cells   [][][]*atom // of each table: the finer cells of each cell
	keyless []*atom     // finer cells whose rows have no keys
	err     error
}

// publishUnits publishes units of groups anew.
func (s *coarsening) publishUnits(ctx context.Context, dirty map[unitKey]struct{}) error {
	var units []*coarserUnit
	for _, key := range slices.SortedFunc(maps.Keys(dirty), compareUnits) {
		for _, r := range slices.SortedFunc(maps.Keys(s.rowsOf[key.class][key.window]), compareRows) {
			s.hide(r.table, r.id)
		}
		delete(s.aliases[key.class], key.window)
		if delete(s.rowsOf[key.class], key.window); len(s.rowsOf[key.class]) == 0 {
			delete(s.rowsOf, key.class)
		}
		if classes := s.groups.Members(key.class); len(classes) > 0 {
			units = append(units, &coarserUnit{Coarser: s.Coarser, key: key, classes: classes, cells: make([][][]*atom, len(s.tables))})
		}
	}
	planAll(ctx, units)
	for _, u := range units {
		if u.err != nil {
			return fmt.Errorf("uniting cells: %w", u.err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, u := range units {
		s.publishUnit(u)
	}
	return nil
}

// addSingle has the units published anew in which rows that have come cannot be published one by one: nothing of the group is
// published in the window.
func (s *coarsening) addSingle(dirty map[unitKey]struct{}) {
	for _, a := range s.single {
		key := unitKey{s.groups.GroupOf(a.unit.class), a.unit.window}
		if key.class != 0 && s.aliases[key.class][key.window] == nil {
			dirty[key] = struct{}{}
		}
	}
}

// publishSingle publishes the cells that have come of rows that no outsider knows, with the keys that the rows have which they belong to;
// see separate.go. Those of units that are published anew are there already.
func (s *coarsening) publishSingle(dirty map[unitKey]struct{}) {
	slices.SortFunc(s.single, func(a, b *atom) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.id, b.id)) }) // rows above first
	for _, a := range s.single {
		key := unitKey{s.groups.GroupOf(a.unit.class), a.unit.window}
		if _, anew := dirty[key]; anew || key.class == 0 || len(a.rows) == 0 {
			continue
		}
		t, cell := &s.of.tables[a.table], PublishedCell{ID: s.nextCell(a.table), Values: a.values}
		for _, id := range a.sorted() {
			slot := t.find(id)
			person, _ := s.of.person(a.table, slot)
			r := PublishedRow{ID: id, Person: s.aliases[key.class][key.window][s.of.root.ids[person]]}
			if r.Of = r.Person; t.parent != Root {
				r.Of = s.shown[t.parent+1][s.of.tables[t.parent].ids[t.of[slot]]].own
			}
			if r.Of == 0 {
				break // all of the cell belong to rows of one cell, which have no keys
			}
			r.Own = s.options.Pseudonym(a.table)
			s.show(a.table, id, shownAt{of: r.Of, own: r.Own, unit: key})
			s.note(key, rowOf{a.table, id})
			cell.Rows = append(cell.Rows, r)
		}
		if len(cell.Rows) > 0 {
			s.changes.Tables[a.table].Cells = append(s.changes.Tables[a.table].Cells, cell)
		} else {
			s.enterPool(a)
		}
	}
}

// planAll makes the cells of all units, on every processor.
func planAll(ctx context.Context, units []*coarserUnit) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(units), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				units[i].plan(ctx)
			}
		})
	}
	workers.Wait()
}

// plan makes the cells of all tables.
func (u *coarserUnit) plan(ctx context.Context) {
	direct := make(map[int][]*atom)
	below := make(map[*atom]map[int][]*atom)
	for _, class := range u.classes {
		for a := range u.units[unitKey{class, u.key.window}] {
			if a.parent == nil {
				direct[a.table] = append(direct[a.table], a)
				continue
			}
			if below[a.parent] == nil {
				below[a.parent] = make(map[int][]*atom)
			}
			below[a.parent][a.table] = append(below[a.parent][a.table], a)
		}
	}
	for _, table := range u.of.root.children {
		u.divide(ctx, table, direct[table], below)
	}
}

// divide makes the cells of finer cells of a table, which hang on one cell, and inside each those of
// the tables below.
func (u *coarserUnit) divide(ctx context.Context, table int, of []*atom, below map[*atom]map[int][]*atom) {
	if len(of) == 0 || u.err != nil {
		return
	}
	u.sort(table, of)
	var parts [][]*atom
	switch {
	case u.of.tables[table].unknown:
		parts = [][]*atom{of}
	case u.of.knows.All:
		parts = u.align(table, of)
	default:
		parts, u.err = u.unite(ctx, table, of)
	}
	keyed := make(map[*atom]bool, len(of))
	for _, part := range parts {
		u.cells[table] = append(u.cells[table], part)
		for _, child := range u.of.tables[table].children {
			var rows []*atom
			for _, a := range part {
				keyed[a] = true
				rows = append(rows, below[a][child]...)
			}
			u.divide(ctx, child, rows, below)
		}
		for _, a := range part {
			keyed[a] = true
		}
	}
	for _, a := range of {
		if !keyed[a] {
			u.leaveOut(a, below)
		}
	}
}

// leaveOut has a cell, and all cells below it, lose its keys.
func (u *coarserUnit) leaveOut(a *atom, below map[*atom]map[int][]*atom) {
	u.keyless = append(u.keyless, a)
	for _, child := range u.of.tables[a.table].children {
		for _, b := range below[a][child] {
			u.leaveOut(b, below)
		}
	}
}

// sort orders finer cells by what they show. The order of cells that look alike is that of their numbers.
func (u *coarserUnit) sort(table int, of []*atom) {
	looks := make(map[*atom]string, len(of))
	for _, a := range of {
		looks[a] = fmt.Sprint(a.values, len(a.rows))
	}
	slices.SortFunc(of, func(a, b *atom) int { return cmp.Or(cmp.Compare(looks[a], looks[b]), cmp.Compare(a.id, b.id)) })
}

// unite unites finer cells of which no outsider knows more than one row; there are none where all
// together are of too few persons, or violate the constraints.
func (u *coarserUnit) unite(ctx context.Context, table int, of []*atom) ([][]*atom, error) {
	t := &u.of.tables[table]
	if all := u.valuesInWindow(of...); !u.constraints.Satisfied(all, nil) {
		return nil, nil
	}
	if len(t.attributes) == 0 || len(of) == 1 {
		return [][]*atom{of}, nil
	}
	if u.sizeDecides() {
		if parts := u.runs(table, of); parts != nil {
			return parts, nil
		}
	}
	classes := make([]nested.Class, len(of))
	for i, a := range of {
		classes[i] = nested.Class{Labels: a.values, Sensitive: make([][]uint32, len(a.rows))}
		for _, id := range a.sorted() {
			person, _ := u.of.person(table, t.find(id))
			classes[i].Persons = append(classes[i].Persons, uint32(person))
		}
		if !u.sizeDecides() {
			classes[i].Counts = u.valuesInWindow(a)
		}
	}
	groups, err := nested.UniteClasses(ctx, u.attributes[table+1], classes, u.constraints, anonymizer.Options{Seed: u.options.Seed})
	if err != nil {
		return nil, err
	}
	parts := make([][]*atom, len(groups))
	for i, members := range groups {
		for _, member := range members {
			parts[i] = append(parts[i], of[member])
		}
	}
	return parts, nil
}

// publishUnit publishes the rows of a group in a window, those of its cells with keys.
func (s *coarsening) publishUnit(u *coarserUnit) {
	members := s.members(u.key.class)
	pseudonyms := make([]uint64, len(members))
	for i, id := range members {
		pseudonyms[i] = s.alias[id]
	}
	if !s.of.knows.All {
		s.options.Random.Shuffle(len(pseudonyms), func(i, j int) { pseudonyms[i], pseudonyms[j] = pseudonyms[j], pseudonyms[i] })
	}
	persons := make(map[incremental.RecordID]uint64, len(members))
	for i, id := range members {
		persons[id] = pseudonyms[i]
	}
	if s.aliases[u.key.class] == nil {
		s.aliases[u.key.class] = make(map[int32]map[incremental.RecordID]uint64)
	}
	s.aliases[u.key.class][u.key.window] = persons
	own := make([]map[int32]uint64, len(s.tables))
	for table := range s.tables {
		t := &s.of.tables[table]
		own[table] = make(map[int32]uint64)
		for _, part := range u.cells[table] {
			cell := PublishedCell{ID: s.nextCell(table), Values: s.attributes.union(table, len(part), func(i int) []hierarchy.Generalization { return part[i].values })}
			for _, a := range part {
				if s.tables[table].pool.has(a) {
					s.leavePool(a)
				}
				for _, id := range a.sorted() {
					slot := t.find(id)
					person, _ := s.of.person(table, slot)
					r := PublishedRow{ID: id, Own: s.options.Pseudonym(table), Person: persons[s.of.root.ids[person]]}
					if r.Of = r.Person; t.parent != Root {
						r.Of = own[t.parent][t.of[slot]]
					}
					own[table][slot] = r.Own
					s.show(table, id, shownAt{of: r.Of, own: r.Own, unit: u.key})
					s.note(u.key, rowOf{table, id})
					cell.Rows = append(cell.Rows, r)
				}
			}
			s.changes.Tables[table].Cells = append(s.changes.Tables[table].Cells, cell)
		}
	}
	for _, a := range u.keyless {
		if !s.tables[a.table].pool.has(a) {
			s.enterPool(a)
		}
	}
}

// note notes a row that vanishes when the unit is published anew.
func (c *Coarser) note(key unitKey, r rowOf) {
	if c.rowsOf[key.class] == nil {
		c.rowsOf[key.class] = make(map[int32]map[rowOf]struct{})
	}
	if c.rowsOf[key.class][key.window] == nil {
		c.rowsOf[key.class][key.window] = make(map[rowOf]struct{})
	}
	c.rowsOf[key.class][key.window][r] = struct{}{}
}
