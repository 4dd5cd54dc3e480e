package people

import (
	"cmp"
	"maps"
	"slices"
)

// group is the rows of a table that can be published together: of a class and window or,
// below other tables, of one cell.
type group struct {
	table  int
	parent int64 // the cell of the rows that they belong to
}

// publishRows publishes the rows of classes and windows in which enough persons have some.
func (p *publishing) publishRows(overdue []place) error {
	late := make(map[place]struct{}, len(overdue))
	for _, at := range overdue {
		late[at] = struct{}{}
		if f := p.ready[at]; f != nil {
			p.renewed[f] = struct{}{}
		}
	}
	renewed := p.renewed
	p.renewed = make(map[*timeframe]struct{})
	byNumber := func(a, b *timeframe) int {
		return cmp.Or(cmp.Compare(a.class.id, b.class.id), cmp.Compare(a.window, b.window))
	}
	for _, f := range slices.SortedFunc(maps.Keys(renewed), byNumber) {
		for _, rows := range p.groups(f) {
			if p.due(f, rows, late) {
				p.try(f, rows)
			}
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// groups are the rows of a window that are ready, those of parents first.
func (p *publishing) groups(f *timeframe) [][]place {
	rows := make(map[group][]place)
	for at := range f.ready {
		of := group{at.table, p.parentCell(at.table, at.slot)}
		rows[of] = append(rows[of], at)
	}
	byNumber := func(a, b group) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.parent, b.parent)) }
	var groups [][]place
	for _, of := range slices.SortedFunc(maps.Keys(rows), byNumber) {
		ids := p.tables[of.table].ids
		slices.SortFunc(rows[of], func(a, b place) int { return cmp.Compare(ids[a.slot], ids[b.slot]) })
		groups = append(groups, rows[of])
	}
	return groups
}

// due reports whether a group is tried. The number of its rows and the time decide, unless all
// is known: neither values nor whose rows they are. With a new class, fewer rows suffice
// that its persons have by then: of past windows, no others may come.
func (p *publishing) due(f *timeframe, rows []place, late map[place]struct{}) bool {
	if p.aligned(rows[0].table) {
		return len(p.members(rows)) == len(f.class.members)
	}
	if _, is := p.founded[f.class]; is && len(rows) >= max(p.leastRows(), (p.options.Rows+1)/2) {
		return true
	}
	isLate := func(at place) bool { _, is := late[at]; return is }
	return len(rows) >= p.options.Rows || slices.ContainsFunc(rows, isLate)
}

// aligned reports whether rows of a table are published in slots that all persons of a class
// have.
func (p *publishing) aligned(table int) bool { return p.knows.All && !p.tables[table].unknown }

// members are the persons of rows of a class, each once and in order.
func (p *publishing) members(rows []place) []int32 {
	var members []int32
	for _, at := range rows {
		person, _ := p.person(at.table, at.slot)
		members = append(members, p.member(person))
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// member is the place of a published person in the class.
func (p *publishing) member(person int32) int32 {
	root := p.shown.of(Root)
	return root.rows[root.bySlot[person]].member
}

// try publishes the rows of a group, with those below them, in cells. It leaves them to the
// pool if they are of too few persons, and rejects all of them if they violate the constraints.
// They are not tried again: if others came to them, whether these suffice would tell whose they
// are.
func (p *publishing) try(f *timeframe, rows []place) {
	members, table := p.members(rows), rows[0].table
	if len(rows) < p.leastRows() || len(members) < p.k {
		if !p.aligned(table) {
			for _, at := range rows {
				p.leaveToPool(at)
			}
			return
		}
	}
	persons := make([]int32, len(members))
	for i, member := range members {
		persons[i] = p.shown.of(Root).rows[f.class.members[member]].slot
	}
	u := newUnit(&p.source, persons)
	u.top = table
	u.omits = func(table int, row int32) bool { return p.tables[table].state[row] != waits }
	for _, at := range rows {
		person, _ := p.person(table, at.slot)
		member, _ := slices.BinarySearch(members, p.member(person))
		u.add(table, at.slot, int32(member))
	}
	if !p.sizeDecides() && !p.knows.All {
		u.earlier = p.earlier(f, members)
	}
	u.divide()
	if len(u.tables[table].cells) == 0 || !p.sizeDecides() && !p.mayFollow(f, u, members) {
		for _, at := range rows {
			p.reject(at)
		}
		return
	}
	shown := make([][]int32, len(p.tables)) // published row of each row of the unit, or none
	for t := range u.tables {
		shown[t] = slices.Repeat([]int32{none}, len(u.tables[t].rows))
		for _, cell := range u.tables[t].cells {
			p.publishCell(f, u, t, cell, members, shown)
		}
	}
	p.leftOver(u, shown)
}

// reject withholds a row of a group that violates the constraints for good, and the rows below it:
// few others would be pooled with it, and would give its value away. The first Publish leaves it to
// the pool, as Anonymize does, and withholds it if it does not appear there.
func (p *publishing) reject(at place) {
	if p.first {
		p.leaveToPool(at)
		p.rejected = append(p.rejected, at)
		return
	}
	p.refuse(at.table, at.slot)
}

// publishCell publishes rows of a unit; its members are places in the class.
func (p *publishing) publishCell(f *timeframe, u *unit, table int, places, members []int32, shown [][]int32) {
	t, of := &p.tables[table], &u.tables[table]
	cell := p.shown.newCell(f, table, p.shown.takeCell())
	published := PublishedCell{ID: cell.id, Class: f.class.id, Window: f.window, Values: t.generalize(of.rows, places)}
	for _, at := range places {
		slot, member := of.rows[at], members[of.person[at]]
		p.stop(place{table, slot})
		above := p.shown.of(t.parent)
		r := shownRow{member: member, own: p.options.Pseudonym(table), parent: above.bySlot[t.of[slot]]}
		out := PublishedRow{ID: t.ids[slot], Own: r.own, Person: p.alias(f, member), Member: member, Parent: above.rows[r.parent].id}
		if out.Of = out.Person; t.parent != Root {
			out.Of = above.rows[r.parent].own
		}
		shown[table][at] = p.show(cell, slot, r)
		published.Rows = append(published.Rows, out)
		if p.tellsValues(table) {
			published.Sensitive = append(published.Sensitive, slices.Clone(t.sensitive.Row(slot)))
		}
	}
	changes := p.changes.of(table)
	changes.Cells = append(changes.Cells, published)
}

// leftOver is about rows below published ones that are in no cell. They have been tried: if
// they are of too few persons, they are left to the pool, else they violate the constraints
// and are rejected. Where all is known, they wait for another slot.
func (p *publishing) leftOver(u *unit, shown [][]int32) {
	for table := range u.tables {
		of, t := &u.tables[table], &p.tables[table]
		left := make(map[int64][]int32) // places of rows by parents' cell
		for at, row := range of.rows {
			if shown[table][at] == none && p.inPlace(t.parent, t.of[row]) {
				cell := p.parentCell(table, row)
				left[cell] = append(left[cell], int32(at))
			}
		}
		for _, places := range left {
			persons := make(map[int32]struct{})
			for _, at := range places {
				persons[of.person[at]] = struct{}{}
			}
			for _, at := range places {
				switch {
				case p.aligned(table):
					p.prepare(place{table, of.rows[at]})
				case len(persons) < p.k:
					p.leaveToPool(place{table, of.rows[at]})
				default:
					p.reject(place{table, of.rows[at]})
				}
			}
		}
	}
}

// parentCell is the cell of the published row that a row belongs to, 0 for a person's.
func (p *publishing) parentCell(table int, slot int32) int64 {
	t := &p.tables[table]
	if t.parent == Root {
		return 0
	}
	above := p.shown.of(t.parent)
	return above.rows[above.bySlot[t.of[slot]]].cell.id
}

// alias returns the pseudonym that a person's rows carry in a window: that of a member of the class
// drawn at random among those whose pseudonym nobody carries yet.
func (p *publishing) alias(f *timeframe, member int32) uint64 {
	class := f.class
	if f.aliases == nil {
		f.clearAliases()
	}
	if f.aliases[member] == none {
		alias := member
		if !p.knows.All {
			alias = p.freeAlias(f)
		}
		f.aliases[member], f.taken[alias] = alias, true
	}
	return p.shown.of(Root).rows[class.members[f.aliases[member]]].own
}

func (p *publishing) freeAlias(f *timeframe) int32 {
	var free []int32
	for alias, taken := range f.taken {
		if !taken {
			free = append(free, int32(alias))
		}
	}
	return free[p.options.Random.IntN(len(free))]
}
