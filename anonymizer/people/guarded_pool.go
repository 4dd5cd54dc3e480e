package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// overdueRows are the rows that have waited for long enough.
func (p *publishing) overdueRows() []place {
	if p.options.RowsWithin <= 0 {
		return nil
	}
	return p.rows.until(p.now.Add(-p.options.RowsWithin))
}

// leaveToPool has a waiting row wait for the pool, and the rows below it, which cannot have
// keys any more.
func (p *publishing) leaveToPool(at place) {
	t := &p.tables[at.table]
	if t.state[at.slot] != waits {
		return // it has been published, or withheld
	}
	p.stop(at)
	t.state[at.slot] = pooledUnset
	p.pools[at.table][at.slot], p.repooled[at.table] = struct{}{}, true
	p.touch(at.table, at.slot)
	for _, child := range t.children {
		for _, row := range p.below(child, at.slot) {
			p.leaveToPool(place{child, row})
		}
	}
}

// refusePooling withholds a row for good that waits for the pool, and the rows below it.
func (p *publishing) refusePooling(at place) {
	t := &p.tables[at.table]
	if t.state[at.slot] != pooledUnset {
		return
	}
	delete(p.pools[at.table], at.slot)
	t.state[at.slot] = refused
	p.touch(at.table, at.slot)
	for _, child := range t.children {
		for _, row := range p.below(child, at.slot) {
			p.refusePooling(place{child, row})
		}
	}
}

// publishPool publishes the rows of a table that wait for the pool, once they are of enough
// persons, or withholds all of them for good where they violate the constraints.
func (p *publishing) publishPool(table int) error {
	t, pool := &p.tables[table], p.pools[table]
	own := ofTable(p.demanded, t.first, t.sensitive.Columns())
	least := p.k
	if len(own) > 1 {
		least = max(least, leastValued)
	}
	if len(pool) < least || !p.repooled[table] { // persons have a row each at least
		return nil
	}
	p.repooled[table] = false
	slots := make([]int32, 0, len(pool))
	for slot := range pool {
		slots = append(slots, slot)
	}
	t.sortByID(slots)
	subjects := make(map[int32]uint32)
	columns := incremental.NewColumns(len(slots), len(t.attributes), t.sensitive.Columns(), true)
	for i, slot := range slots {
		person, _ := p.person(table, slot)
		if _, known := subjects[person]; !known {
			subjects[person] = uint32(len(subjects))
		}
		columns.Set(i, incremental.Record{Cells: t.cells.Row(slot), Sensitive: t.sensitive.Row(slot), Subject: subjects[person]})
	}
	if len(subjects) < least {
		return nil
	}
	classes, err := incremental.Divide(p.ctx, t.attributes, columns, own, p.options.Method, incremental.Options{Seed: p.options.Seed})
	if err != nil {
		return err
	}
	clear(pool)
	for _, slot := range slots {
		t.state[slot] = refused
		p.touch(table, slot)
	}
	for _, rows := range classes {
		p.publishPooled(table, slots, rows, columns.Subjects)
	}
	return nil
}

// publishPooled publishes some of the rows without their keys. The persons that a cell's rows
// are of are numbered within it.
func (p *publishing) publishPooled(table int, slots, rows []int32, subjects []uint32) {
	t := &p.tables[table]
	slices.Sort(rows)
	cell := p.shown.newPooled(table, p.shown.takeCell())
	published := PublishedCell{ID: cell.id, Pooled: true, Values: t.generalize(slots, rows)}
	numbers := make(map[uint32]int32)
	for _, i := range rows {
		number, known := numbers[subjects[i]]
		if !known {
			number = int32(len(numbers))
			numbers[subjects[i]] = number
		}
		p.show(cell, slots[i], shownRow{member: number, parent: none})
		published.Rows = append(published.Rows, PublishedRow{ID: t.ids[slots[i]], Member: number})
	}
	changes := p.changes.of(table)
	changes.Cells = append(changes.Cells, published)
}
