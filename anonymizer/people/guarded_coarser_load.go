package people

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// StoredCoarser is what a store holds of a table in a GuardedCoarser: the rows that are shown, their
// weights, and the cells of the finer release that wait.
type StoredCoarser struct {
	Rows    []StoredRow
	Weights []Weight
	Waiting []WaitingCell
}

// Load takes over what a store holds, of the root and of each table, after the finer release has been restored.
// The error says what does not fit together; none of the releases must be used then.
func (c *GuardedCoarser) Load(stored []StoredCoarser) error {
	if len(c.groups)+len(c.waiting) > 0 || len(stored) != len(c.shown) {
		return fmt.Errorf("loading %d tables of a release for others: it is not empty, or has %d", len(stored), len(c.shown))
	}
	for table := Root; table < len(c.of.tables); table++ {
		l := &coarserLoading{GuardedCoarser: c, table: table, at: make(map[incremental.RecordID]finerAt), shownIn: make(map[*finerCell]int64), waiting: make(map[int64]WaitingCell)}
		if err := l.load(stored[table+1]); err != nil {
			return fmt.Errorf("loading table %q of a release for others: %w", c.of.relation(table).name, err)
		}
	}
	for _, group := range c.groups {
		for _, f := range group.frames {
			if f.live == 0 && len(f.parts) > 0 {
				c.emptied[f] = struct{}{}
			}
		}
		if group.live == 0 {
			c.ended = append(c.ended, group)
		}
	}
	slices.SortFunc(c.ended, func(a, b *coarserGroup) int { return cmp.Compare(a.id, b.id) })
	return nil
}

// coarserLoading takes over one table.
type coarserLoading struct {
	*GuardedCoarser
	table   int
	cells   []*finerCell
	at      map[incremental.RecordID]finerAt
	shownIn map[*finerCell]int64
	waiting map[int64]WaitingCell
}

// finerAt is a row where the finer release has it.
type finerAt struct {
	cell *finerCell
	row  finerRow
}

func (l *coarserLoading) load(stored StoredCoarser) error {
	l.cells = l.finer.now(l.table)
	for _, cell := range l.cells {
		for _, r := range cell.rows {
			l.at[r.id] = finerAt{cell, r}
		}
	}
	slices.SortFunc(stored.Rows, func(a, b StoredRow) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Member, b.Member), cmp.Compare(a.ID, b.ID))
	})
	for _, row := range stored.Rows {
		if err := l.row(row); err != nil {
			return fmt.Errorf("row %d of class %d: %w", row.ID, row.Cell, err)
		}
	}
	for _, w := range stored.Waiting {
		if _, twice := l.waiting[w.Cell]; twice || !w.Withheld && len(w.Values) != len(l.of.relation(l.table).attributes) {
			return fmt.Errorf("class %d of the finer release waits twice, or shows %d values", w.Cell, len(w.Values))
		}
		l.waiting[w.Cell] = w
	}
	l.closed()
	for _, cell := range l.cells {
		if err := l.whole(cell); err != nil {
			return err
		}
	}
	if len(l.waiting) > 0 {
		return fmt.Errorf("%d classes of the finer release wait that are not there", len(l.waiting))
	}
	l.weigh(stored.Weights)
	return nil
}

// closed notes the groups that show nothing more.
func (l *coarserLoading) closed() {
	if l.table != Root {
		return
	}
	for id, w := range l.waiting {
		if group := l.groups[id]; group != nil && w.Withheld {
			group.closed = true
			delete(l.waiting, id)
		}
	}
}

// row takes over a row that is shown.
func (l *coarserLoading) row(stored StoredRow) error {
	if _, twice := l.in(l.table).rows[stored.ID]; twice || stored.ID < 1 || stored.Cell < 1 || stored.Pooled {
		return errors.New("it is there twice, or has no number or no keys")
	}
	l.numbers.nextCell = max(l.numbers.nextCell, stored.Cell+1)
	r := &coarserRow{id: stored.ID, cell: stored.Cell, own: stored.Own, parent: stored.Parent, member: stored.Member, codes: stored.Sensitive}
	if l.numbers.valued && len(r.codes) != l.of.relation(l.table).sensitive.Columns() {
		return fmt.Errorf("it shows %d values that count", len(r.codes))
	}
	found, there := l.at[stored.ID]
	r.gone, r.left = !there, !there || found.row.left
	if there {
		if in, known := l.shownIn[found.cell]; known && in != stored.Cell {
			return fmt.Errorf("class %d of the finer release is in two", found.cell.id)
		}
		l.shownIn[found.cell] = stored.Cell
	}
	var err error
	if l.table == Root {
		err = l.member(r, found)
	} else {
		err = l.below(r, stored, found)
	}
	if err != nil {
		return err
	}
	r.part.rows = append(r.part.rows, r)
	shown := l.in(l.table)
	shown.rows[r.id] = r
	shown.tally.Grow(r.part.tallied, 1)
	if r.left {
		shown.left++
		shown.tally.Leave(r.part.tallied, r.person())
	}
	return nil
}

// member enters a person of a group.
func (l *coarserLoading) member(r *coarserRow, found finerAt) error {
	group := l.groups[r.cell]
	if group == nil {
		group = l.addGroup(r.cell)
	}
	if r.part = group.root; int(r.member) != len(group.classOf) {
		return fmt.Errorf("its person is number %d, and %d are before it", r.member, len(group.classOf))
	}
	class := int64(0)
	if !r.gone {
		class = found.cell.class
		group.live++
		first, known := group.first[class]
		if !known {
			first = r.member - found.row.member
			group.first[class], l.groupOf[class] = first, group
		}
		if first != r.member-found.row.member {
			return fmt.Errorf("its person is not where the others of class %d of the finer release are", class)
		}
	}
	group.classOf = append(group.classOf, class)
	return nil
}

// below enters a row of another table than the root's.
func (l *coarserLoading) below(r *coarserRow, stored StoredRow, found finerAt) error {
	group, t := l.groups[stored.Class], &l.of.tables[l.table]
	if group == nil || int(r.member) >= len(group.classOf) || r.member < 0 {
		return fmt.Errorf("its class of persons, %d, does not have its person", stored.Class)
	}
	f := group.frame(stored.Window)
	if of := f.parts[l.table]; of == nil || !slices.Contains(of.cells, r.cell) {
		l.addCell(f, l.table, r.cell)
	}
	r.part = f.parts[l.table]
	above := l.in(t.parent).rows[stored.Parent]
	if above == nil || above.part.group != group || above.member != r.member || t.parent != Root && above.part.frame != f {
		return fmt.Errorf("what it belongs to, %d, is not shown there", stored.Parent)
	}
	if err := f.load(r.member, stored.Person); err != nil {
		return err
	}
	if r.of = stored.Person; t.parent != Root {
		r.of = above.own
	}
	switch {
	case r.gone:
		f.over[group.classOf[r.member]] = struct{}{}
		return nil
	case l.groupOf[found.cell.class] != group || found.cell.window != f.window || group.first[found.cell.class]+found.row.member != r.member || found.row.parent != r.parent:
		return errors.New("the finer release has it as of another person, or in another window")
	}
	f.live++
	return nil
}

// load enters the pseudonym that a member's rows carry.
func (f *coarserFrame) load(member int32, pseudonym uint64) error {
	f.prepareAliases()
	if of := f.aliases[member]; of != none && f.group.root.rows[of].own == pseudonym {
		return nil
	}
	alias := slices.IndexFunc(f.group.root.rows, func(r *coarserRow) bool { return r.own == pseudonym })
	if alias < 0 || f.aliases[member] != none || f.taken[alias] {
		return errors.New("its pseudonym is of nobody of the group, or not the one of its person")
	}
	f.aliases[member], f.taken[alias] = int32(alias), true
	return nil
}

// whole sees to it that a cell of the finer release is shown as a whole, or waits.
func (l *coarserLoading) whole(cell *finerCell) error {
	in, shown := l.shownIn[cell]
	if !shown {
		waiting, waits := l.waiting[cell.id]
		if !waits || waiting.Withheld && l.table == Root {
			return fmt.Errorf("class %d of the finer release is not shown, and does not wait", cell.id)
		}
		delete(l.waiting, cell.id)
		cell.values, cell.withheld = waiting.Values, waiting.Withheld
		l.wait(cell)
		return nil
	}
	for _, r := range cell.rows {
		if of := l.in(l.table).rows[r.id]; of == nil || of.cell != in {
			return fmt.Errorf("class %d of the finer release is shown in part", cell.id)
		}
	}
	return nil
}

// weigh gives the parts of the release their weights.
func (l *coarserLoading) weigh(weights []Weight) {
	parts, groups := make(map[int64]*coarserPart), make(map[int64]tally.Weight)
	for _, r := range l.in(l.table).rows {
		parts[r.cell] = r.part
	}
	of := l.in(l.table).tally
	for _, w := range weights {
		for _, id := range w.Cells {
			if part := parts[id]; id <= 0 {
				groups[id] = w.tallied()
			} else if part != nil {
				of.LoadItem(part.tallied, w.tallied())
			}
		}
	}
	of.Load(groups)
}
