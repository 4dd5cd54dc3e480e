package people

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// follow brings the coarser releases up to date, each after that before it.
func (g *Guarded) follow(ctx context.Context, changes *GuardedChanges) error {
	moves := g.moves
	g.moves = nil
	for _, c := range g.coarser {
		if err := c.settle(ctx, changes, moves); err != nil {
			return fmt.Errorf("publishing tables of persons for others: %w", err)
		}
		changes, moves = c.news(), c.moves
		c.moves = nil
	}
	return nil
}

// note informs the coarser releases of who has left a table and come back, though nothing is
// published.
func (g *Guarded) note(table int) {
	var moves []moved
	g.moves = slices.DeleteFunc(g.moves, func(m moved) bool {
		if m.table == table {
			moves = append(moves, m)
		}
		return m.table == table
	})
	for _, c := range g.coarser {
		for _, m := range moves {
			c.move(m)
		}
		moves, c.moves = c.moves, nil
	}
}

// settle follows a Publish of the finer release.
func (c *GuardedCoarser) settle(ctx context.Context, finer *GuardedChanges, moves []moved) error {
	for table := Root; table < len(c.of.tables); table++ {
		for _, cell := range finer.of(table).Cells {
			if !cell.Pooled {
				c.await(c.followedCell(table, cell))
			}
		}
	}
	for _, m := range moves {
		c.move(m)
	}
	for table := Root; table < len(c.of.tables); table++ {
		for _, id := range finer.of(table).Gone {
			c.lose(table, id)
		}
	}
	c.vanish()
	if err := c.unite(ctx); err != nil {
		return err
	}
	if err := c.publish(ctx); err != nil {
		return err
	}
	c.updateWeights()
	return ctx.Err()
}

// followedCell is a new cell of the finer release, with what may be shown of its values; everything
// else is made from these.
func (c *GuardedCoarser) followedCell(table int, cell PublishedCell) *finerCell {
	of := &finerCell{id: cell.ID, class: cell.Class, window: cell.Window, table: table, values: c.attributes.seen(table, cell.Values)}
	for i, r := range cell.Rows {
		row := finerRow{id: r.ID, parent: r.Parent, of: r.Of, member: r.Member}
		if len(cell.Sensitive) > 0 {
			row.codes = cell.Sensitive[i]
		}
		of.rows = append(of.rows, row)
	}
	of.sort()
	return of
}

// await has a cell of the finer release wait.
func (c *GuardedCoarser) await(cell *finerCell) {
	c.changes[cell.table+1].Waiting = append(c.changes[cell.table+1].Waiting, WaitingCell{Cell: cell.id, Values: cell.values})
	c.wait(cell)
}

func (c *GuardedCoarser) wait(cell *finerCell) {
	for _, r := range cell.rows {
		c.in(cell.table).waits[r.id] = cell
	}
	of := c.waiting[cell.class]
	if of == nil {
		of = &waitingClass{cells: make(map[*finerCell]struct{})}
		c.waiting[cell.class] = of
	}
	if cell.table == Root {
		of.root = cell
		return
	}
	of.cells[cell] = struct{}{}
	if group := c.groupOf[cell.class]; group != nil {
		c.disturb(group.frame(cell.window))
	}
}

// disturb has what waits in a window be tried.
func (c *GuardedCoarser) disturb(f *coarserFrame) {
	c.dirty[unitKey{incremental.ClassID(f.group.id), f.window}] = f
}

// settled has a cell wait no more.
func (c *GuardedCoarser) settled(cell *finerCell) {
	c.changes[cell.table+1].Settled = append(c.changes[cell.table+1].Settled, cell.id)
	for _, r := range cell.rows {
		delete(c.in(cell.table).waits, r.id)
	}
	of := c.waiting[cell.class]
	if cell.table == Root {
		of.root = nil
	}
	delete(of.cells, cell)
	if of.root == nil && len(of.cells) == 0 {
		delete(c.waiting, cell.class)
	}
}

// move updates weights when persons leave and come back. Nothing else follows these.
func (c *GuardedCoarser) move(m moved) {
	if cell := c.in(m.table).waits[m.id]; cell != nil {
		for i := range cell.rows {
			if cell.rows[i].id == m.id {
				cell.rows[i].left = !m.back
			}
		}
		return
	}
	if r := c.in(m.table).rows[m.id]; r != nil && !r.gone && r.left == m.back {
		c.leave(r, !m.back)
	}
}

func (c *GuardedCoarser) leave(r *coarserRow, left bool) {
	r.left = left
	of := c.in(r.part.table)
	if left {
		of.left++
		of.tally.Leave(r.part.tallied, r.person())
	} else {
		of.left--
		of.tally.Return(r.part.tallied, r.person())
	}
	c.moves = append(c.moves, moved{r.part.table, r.id, !left})
}

// lose notes that the finer release has taken a row back, which stands for nobody from now on.
func (c *GuardedCoarser) lose(table int, id incremental.RecordID) {
	if cell := c.in(table).waits[id]; cell != nil {
		c.settled(cell) // all of its rows are gone
		return
	}
	r := c.in(table).rows[id]
	if r == nil {
		return // it had no keys
	}
	if !r.left {
		c.leave(r, true)
	}
	r.gone = true
	group := r.part.group
	if table == Root {
		if group.live--; group.live == 0 {
			c.ended = append(c.ended, group)
		}
		class := group.classOf[r.member]
		delete(c.groupOf, class)
		delete(group.first, class)
		group.classOf[r.member] = 0
		return
	}
	f := r.part.frame
	if f.live--; f.live == 0 {
		c.emptied[f] = struct{}{}
	}
	f.over[group.classOf[r.member]] = struct{}{}
}

// vanish has windows and groups vanish of which the finer release publishes nothing any more.
func (c *GuardedCoarser) vanish() {
	for _, f := range slices.SortedFunc(maps.Keys(c.emptied), compareFrames) {
		for _, table := range slices.Backward(slices.Sorted(maps.Keys(f.parts))) {
			c.vanishPart(f.parts[table])
		}
		f.clear()
		if c.ofRows && c.of.knows.All && f.group.live > 0 && !f.group.closed {
			c.close(f.group)
		}
		c.disturb(f)
	}
	clear(c.emptied)
	for _, group := range c.ended {
		c.vanishPart(group.root)
		if group.closed {
			c.changes[0].Settled = append(c.changes[0].Settled, group.id)
		}
		delete(c.groups, group.id)
		maps.DeleteFunc(c.dirty, func(_ unitKey, f *coarserFrame) bool { return f.group == group })
	}
	c.ended = nil
}

func compareFrames(a, b *coarserFrame) int {
	return cmp.Or(cmp.Compare(a.group.id, b.group.id), cmp.Compare(a.window, b.window))
}

// vanishPart has rows vanish, all of which the finer release has taken back.
func (c *GuardedCoarser) vanishPart(of *coarserPart) {
	changes, shown := &c.changes[of.table+1], c.in(of.table)
	ghosts := make([]uint64, len(of.rows))
	for i, r := range of.rows {
		changes.Gone, changes.GoneOf = append(changes.Gone, r.id), append(changes.GoneOf, r.of)
		delete(shown.rows, r.id)
		ghosts[i] = r.person()
	}
	shown.left -= len(of.rows)
	shown.tally.Vanish(of.tallied, len(of.rows), ghosts)
	shown.tally.Remove(of.tallied)
}

// updateWeights has weights follow what has changed.
func (c *GuardedCoarser) updateWeights() {
	for i := range c.shown {
		told := c.shown[i].tally.Settle()
		for _, item := range told.Items {
			c.changes[i].Weights = append(c.changes[i].Weights, item.Of.weight())
		}
		c.changes[i].weigh(told.Groups)
	}
}
