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
	"github.com/kproxy/kproxy/anonymizer/privacy"
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
// together are of too few persons.
func (u *coarserUnit) unite(ctx context.Context, table int, of []*atom) ([][]*atom, error) {
	t := &u.of.tables[table]
	if !u.isCell(of) {
		return nil, nil
	}
	if len(t.attributes) == 0 || len(of) == 1 {
		return [][]*atom{of}, nil
	}
	classes := make([]nested.Class, len(of))
	for i, a := range of {
		classes[i] = nested.Class{Labels: a.values, Sensitive: make([][]uint32, len(a.rows))}
		for _, id := range a.sorted() {
			person, _ := u.of.person(table, t.find(id))
			classes[i].Persons = append(classes[i].Persons, uint32(person))
		}
	}
	groups, err := nested.UniteClasses(ctx, u.attributes[table+1], classes, privacy.ConstraintSet{privacy.KAnonymity{K: u.k}}, anonymizer.Options{Seed: u.options.Seed})
	if err != nil {
		return nil, err
	}
	parts := make([][]*atom, len(groups))
	for i, members := range groups {
		for _, member := range members {
			parts[i] = append(parts[i], of[member])
		}
	}
	return u.mend(parts), nil
}

// mend unites cells that violate constraints on sensitive values with the next ones. All together
// satisfy them.
func (u *coarserUnit) mend(parts [][]*atom) [][]*atom {
	if u.of.sizeDecides() {
		return parts
	}
	for i := 0; i < len(parts); {
		if len(parts) == 1 || u.isCell(parts[i]) {
			i++
			continue
		}
		other := i + 1
		if other == len(parts) {
			other = i - 1
		}
		parts[min(i, other)] = slices.Concat(parts[i], parts[other])
		parts = slices.Delete(parts, max(i, other), max(i, other)+1)
		i = min(i, other)
	}
	return parts
}

// isCell reports whether finer cells together may be a cell.
func (u *coarserUnit) isCell(of []*atom) bool {
	t := &u.of.tables[of[0].table]
	persons := make(map[int32]struct{})
	for _, a := range of {
		for id := range a.rows {
			person, _ := u.of.person(a.table, t.find(id))
			persons[person] = struct{}{}
		}
	}
	return len(persons) >= u.k && (u.of.sizeDecides() || u.holds(persons))
}

// holds reports whether persons with all values in the window satisfy the constraints.
func (u *coarserUnit) holds(persons map[int32]struct{}) bool {
	s := privacy.NewSubjectSummary(u.of.values)
	for p := range persons {
		s.AddSubject(uint32(p))
		u.of.root.addValues(&s, p, p)
		for _, table := range u.of.root.children {
			t := &u.of.tables[table]
			for row := *u.of.head(table, p); row != none; row = t.next[row] {
				if !u.of.knows.All && t.window[row] != u.key.window {
					continue
				}
				t.addValues(&s, row, p)
				for _, child := range t.children {
					u.of.addRows(&s, child, row, p)
				}
			}
		}
	}
	return u.constraints.Satisfied(s, nil)
}

// align finds slots of all classes: each unites a slot of every class, in their order, so that all persons have
// the same tree. There are as many as the class with the fewest has.
func (u *coarserUnit) align(table int, of []*atom) [][]*atom {
	t := &u.of.tables[table]
	positions := make(map[*atom]float64, len(of))
	if t.order >= 0 {
		labels := make([]hierarchy.Generalization, len(of))
		for i, a := range of {
			labels[i] = a.values[t.order]
		}
		for i, span := range hierarchy.SpansOf(u.attributes[table+1][t.order].Hierarchy, labels).Of {
			if !span.Hidden {
				positions[of[i]] = (span.Least + span.Greatest) / 2
			}
		}
	}
	byClass := make(map[incremental.ClassID][]*atom)
	for _, a := range of {
		byClass[a.unit.class] = append(byClass[a.unit.class], a)
	}
	if len(byClass) < len(u.classes) {
		return nil
	}
	shortest := u.classes[0]
	for _, class := range u.classes {
		slices.SortStableFunc(byClass[class], func(a, b *atom) int { return cmp.Compare(positions[a], positions[b]) })
		if len(byClass[class]) < len(byClass[shortest]) {
			shortest = class
		}
	}
	slots := make([][]*atom, len(byClass[shortest]))
	for _, class := range u.classes {
		for i, a := range matched(byClass[shortest], byClass[class], positions) {
			slots[i] = append(slots[i], a)
		}
	}
	return slots
}

// matched picks as many slots, in their order, as there are others, near to these.
func matched(others, of []*atom, positions map[*atom]float64) []*atom {
	picked := make([]*atom, 0, len(others))
	at := 0
	for i, other := range others {
		last := len(of) - (len(others) - i) // the others need as many behind it
		best := at
		for j := at; j <= last; j++ {
			if abs(positions[of[j]]-positions[other]) < abs(positions[of[best]]-positions[other]) {
				best = j
			}
		}
		picked, at = append(picked, of[best]), best+1
	}
	return picked
}

func abs(x float64) float64 { return max(x, -x) }

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
			cell := PublishedCell{ID: s.nextCell(table), Values: s.union(table, part)}
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
