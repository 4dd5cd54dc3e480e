package people

import (
	"cmp"
	"maps"
	"slices"
)

// takeBack has rows that were inserted, or got another key, take over the ghosts of their keys.
func (p *publishing) takeBack() {
	slices.SortFunc(p.fresh, func(a, b place) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.slot, b.slot)) })
	for _, at := range p.fresh {
		t, shown := p.relation(at.table), p.shown.of(at.table)
		key := t.keys.of(at.slot)
		ghost, there := shown.ghosts[key]
		if !there || t.ids[at.slot] == 0 || shown.bySlot[at.slot] != none || t.state[at.slot] == refused {
			continue
		}
		if at.table == Root {
			p.persons.remove(at)
		} else {
			p.leaveAlone(at)
		}
		p.shown.comeBack(at.table, ghost, at.slot)
		p.tell(moved{at.table, shown.rows[ghost].id, true})
		if t.state[at.slot] = inCell; shown.rows[ghost].cell.class == nil {
			t.state[at.slot] = pooledShown
		}
		p.touch(at.table, at.slot)
		p.enter(at.table, at.slot, p.now)
	}
	p.fresh = nil
}

// leaveAlone has a row wait no more, whatever the rows below it do.
func (p *publishing) leaveAlone(at place) {
	switch p.tables[at.table].state[at.slot] {
	case waits:
		p.stop(at)
	case pooledUnset:
		delete(p.pools[at.table], at.slot)
	}
}

// vanish has everything vanish that stands for nobody: whole classes, windows of classes and
// cells of the pool.
func (p *publishing) vanish() {
	for _, of := range p.dirtyParts() {
		switch {
		case of.rows == 0 || of.ghosts < of.rows: // it has vanished with others, or stays
		case of.table == Root:
			p.vanishClass(of.class)
		case of.class == nil:
			p.vanishPart(of)
		default:
			p.vanishFrame(of.frame)
		}
	}
}

// dirtyParts are the parts whose ghosts have changed, the root's first.
func (p *publishing) dirtyParts() []*part {
	return slices.SortedFunc(maps.Keys(p.shown.dirty), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.cells[0].id, b.cells[0].id))
	})
}

func (p *publishing) vanishClass(c *shownClass) {
	for _, f := range c.frames {
		p.vanishParts(f)
	}
	p.vanishPart(c.root)
	for _, cell := range c.past {
		p.shown.drop(cell)
	}
	delete(p.shown.classes, c.id)
}

// vanishFrame has the rows of a window vanish if none of them stands for anybody. Its persons
// get other pseudonyms in it afterwards.
func (p *publishing) vanishFrame(f *timeframe) {
	for _, of := range f.parts {
		if of.ghosts < of.rows {
			return
		}
	}
	p.vanishParts(f)
	f.clear()
}

// vanishParts has all rows of a window vanish, before those that they belong to.
func (p *publishing) vanishParts(f *timeframe) {
	tables := slices.Sorted(maps.Keys(f.parts))
	for _, table := range slices.Backward(tables) {
		p.vanishPart(f.parts[table])
	}
}

// belongsTo is the pseudonym of what a published row belongs to, 0 without one.
func (p *publishing) belongsTo(table int, r *shownRow) uint64 {
	switch {
	case r.cell.frame == nil:
		return 0
	case p.tables[table].parent == Root:
		return p.alias(r.cell.frame, r.member)
	}
	return p.shown.of(p.tables[table].parent).rows[r.parent].own
}

// vanishPart has rows vanish. Those that still exist are withheld from now on, so that no row
// is published twice.
func (p *publishing) vanishPart(of *part) {
	changes, shown, t := p.changes.of(of.table), p.shown.of(of.table), p.relation(of.table)
	var ghosts []uint64
	for _, cell := range of.cells {
		for _, at := range cell.rows {
			r := &shown.rows[at]
			changes.Gone, changes.GoneOf = append(changes.Gone, r.id), append(changes.GoneOf, p.belongsTo(of.table, r))
			if shown.forget(at); r.slot == none {
				ghosts = append(ghosts, r.person())
			} else {
				shown.bySlot[r.slot] = none
				t.state[r.slot] = refused
				p.touch(of.table, r.slot)
				r.slot = none
			}
		}
		if p.KeepsVanished() && of.class != nil && of.table != Root {
			cell.vanished = true
			of.class.past = append(of.class.past, cell)
		} else {
			p.shown.drop(cell)
		}
	}
	shown.departed -= of.ghosts
	shown.tally.Vanish(of.tallied, of.rows, ghosts)
	shown.tally.Remove(of.tallied)
	of.rows, of.ghosts = 0, 0
	delete(p.shown.dirty, of)
}

// updateWeights has weights follow what has changed.
func (p *publishing) updateWeights() {
	for table := Root; table < len(p.tables); table++ {
		told, changes := p.shown.of(table).tally.Settle(), p.changes.of(table)
		for _, item := range told.Items {
			changes.Weights = append(changes.Weights, item.Of.weight())
		}
		changes.weigh(told.Groups)
	}
	clear(p.shown.dirty)
}
