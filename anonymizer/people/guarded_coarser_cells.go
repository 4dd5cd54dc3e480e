package people

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// unite makes groups of all finer classes that wait, if they are enough.
func (c *GuardedCoarser) unite(ctx context.Context) error {
	var classes []*finerCell
	for _, of := range c.waiting {
		if of.root != nil {
			classes = append(classes, of.root)
		}
	}
	if len(classes) < c.classes {
		return nil
	}
	slices.SortFunc(classes, compareFiner)
	groups, err := c.divide(ctx, Root, classes)
	if err != nil {
		return err
	}
	if groups, err = c.mendGroups(ctx, groups); err != nil {
		return err
	}
	for _, group := range groups {
		c.found(group)
	}
	return nil
}

// divide divides cells into unions of cells of enough classes, by what is published of them. The number of
// classes decides, whose persons are as many as each has: whose rows there are does not matter.
func (c *GuardedCoarser) divide(ctx context.Context, table int, cells []*finerCell) ([][]*finerCell, error) {
	attributes := c.known(table)
	if len(attributes) == 0 {
		return [][]*finerCell{cells}, nil
	}
	numbers, shown := make(map[int64]uint32), shownCells{}
	classes := make([]nested.Class, len(cells))
	for i, cell := range cells {
		number, known := numbers[cell.class]
		if !known {
			number = uint32(len(numbers))
			numbers[cell.class] = number
		}
		classes[i] = nested.Class{Labels: c.knownOf(cell), Sensitive: [][]uint32{{}}, Persons: []uint32{number}}
		shown.add(cell.values, len(cell.rows), classes[i].Persons)
	}
	if runs := runsOf(attributes, shown, c.classes); table != Root && runs != nil {
		return pick(cells, runs), nil
	}
	found, err := nested.UniteClasses(ctx, attributes, classes, privacy.ConstraintSet{privacy.KAnonymity{K: c.classes}}, anonymizer.Options{Seed: c.options.Seed})
	if err != nil {
		return nil, fmt.Errorf("uniting what is published of table %q: %w", c.of.relation(table).name, err)
	}
	unions := make([][]*finerCell, len(found))
	for i, places := range found {
		for _, place := range places {
			unions[i] = append(unions[i], cells[place])
		}
	}
	return unions, nil
}

func classesOf(cells []*finerCell) int {
	classes := make(map[int64]struct{})
	for _, cell := range cells {
		classes[cell.class] = struct{}{}
	}
	return len(classes)
}

// found publishes the persons of finer classes as a group.
func (c *GuardedCoarser) found(classes []*finerCell) {
	group := c.addGroup(c.numbers.takeCell())
	published := PublishedCell{ID: group.id, Class: group.id, Values: c.union(Root, classes)}
	for _, class := range classes {
		c.settled(class)
		group.first[class.class] = int32(len(group.classOf))
		c.groupOf[class.class] = group
		for _, r := range class.rows {
			own := c.options.Pseudonym(Root)
			out := PublishedRow{ID: r.id, Own: own, Person: own, Member: int32(len(group.classOf))}
			published.Rows = append(published.Rows, out)
			if c.numbers.valued && c.of.root.sensitive.Columns() > 0 {
				published.Sensitive = append(published.Sensitive, r.codes)
			}
			group.classOf = append(group.classOf, class.class)
			group.live++
			c.show(group.root, group.id, r, out)
		}
		if of := c.waiting[class.class]; of != nil {
			for cell := range of.cells {
				c.disturb(group.frame(cell.window))
			}
		}
	}
	c.changes[0].Cells = append(c.changes[0].Cells, published)
}

func (c *GuardedCoarser) addGroup(id int64) *coarserGroup {
	group := &coarserGroup{id: id, first: make(map[int64]int32), frames: make(map[int32]*coarserFrame)}
	group.root = &coarserPart{group: group, table: Root, cells: []int64{id}}
	group.root.tallied = c.in(Root).tally.Add(id, 0, group.root)
	c.groups[id] = group
	return group
}

// show shows a row of the finer release.
func (c *GuardedCoarser) show(part *coarserPart, cell int64, from finerRow, out PublishedRow) {
	r := &coarserRow{id: from.id, part: part, cell: cell, own: out.Own, of: out.Of, parent: out.Parent, member: out.Member, codes: from.codes}
	part.rows = append(part.rows, r)
	shown := c.in(part.table)
	shown.rows[r.id] = r
	shown.tally.Grow(part.tallied, 1)
	if from.left {
		c.leave(r, true)
	}
	changes := &c.changes[part.table+1]
	if changes.Origin == nil {
		changes.Origin = make(map[incremental.RecordID]uint64)
	}
	changes.Origin[r.id] = from.of
}

// publish publishes what can be of the windows in which cells have come.
func (c *GuardedCoarser) publish(ctx context.Context) error {
	for _, f := range slices.SortedFunc(maps.Values(c.dirty), compareFrames) {
		if err := c.publishFrame(ctx, f); err != nil {
			return err
		}
	}
	clear(c.dirty)
	return ctx.Err()
}

func (c *GuardedCoarser) publishFrame(ctx context.Context, f *coarserFrame) error {
	if f.group.closed {
		c.withholdClosed(f.group)
		return nil
	}
	made := make(map[int64]struct{}) // cells
	for table := range c.of.tables {
		groups := c.waitingIn(f, table)
		for _, parent := range slices.Sorted(maps.Keys(groups)) {
			unions, err := c.unionsOf(ctx, table, f.group, groups[parent], made, parent)
			if err != nil {
				return err
			}
			mended, err := c.mendCells(ctx, f, table, unions)
			if err != nil {
				return err
			}
			if mended == nil {
				c.withhold(unions)
			}
			for _, cells := range mended {
				made[c.publishCell(f, table, cells)] = struct{}{}
			}
		}
	}
	return nil
}

// waitingIn are the cells of a window and table that could be shown, by the cell of what they belong to: 0 of
// persons. A class of which the finer release has taken a window back, while it is shown, has others there
// by new pseudonyms. They wait until it is not shown any more: here, too, nothing leads from one to the other.
func (c *GuardedCoarser) waitingIn(f *coarserFrame, table int) map[int64][]*finerCell {
	groups, parent := make(map[int64][]*finerCell), c.of.tables[table].parent
	for class := range f.group.first {
		of := c.waiting[class]
		if _, over := f.over[class]; of == nil || over && !c.of.knows.All {
			continue
		}
		for cell := range of.cells {
			if cell.table != table || cell.window != f.window || cell.withheld {
				continue
			}
			if parent == Root {
				groups[0] = append(groups[0], cell)
			} else if above := c.in(parent).rows[cell.rows[0].parent]; above != nil {
				groups[above.cell] = append(groups[above.cell], cell)
			}
		}
	}
	for _, cells := range groups {
		slices.SortFunc(cells, compareFiner)
	}
	return groups
}

// unionsOf are the cells that are made of cells that wait below one cell; none where they are of too few classes.
func (c *GuardedCoarser) unionsOf(ctx context.Context, table int, group *coarserGroup, cells []*finerCell, made map[int64]struct{}, parent int64) ([][]*finerCell, error) {
	t := &c.of.tables[table]
	if _, with := made[parent]; t.unknown && with {
		return [][]*finerCell{cells}, nil // they come with what they belong to
	}
	if c.of.knows.All && !t.unknown {
		return c.align(table, group, cells), nil
	}
	if classesOf(cells) < c.classes {
		return nil, nil
	}
	return c.divide(ctx, table, cells)
}

// publishCell shows cells of the finer release as one, and returns its number.
func (c *GuardedCoarser) publishCell(f *coarserFrame, table int, cells []*finerCell) int64 {
	t, id := &c.of.tables[table], c.numbers.takeCell()
	part := c.addCell(f, table, id)
	published := PublishedCell{ID: id, Class: f.group.id, Window: f.window, Values: c.union(table, cells)}
	for _, cell := range cells {
		c.settled(cell)
		for _, r := range cell.rows {
			member := f.group.first[cell.class] + r.member
			alias := f.group.root.rows[f.alias(member, c.of.knows.All, c.options.Random)]
			out := PublishedRow{ID: r.id, Own: c.options.Pseudonym(table), Person: alias.own, Of: alias.own, Member: member, Parent: r.parent}
			if t.parent != Root {
				out.Of = c.in(t.parent).rows[r.parent].own
			}
			published.Rows = append(published.Rows, out)
			f.live++
			c.show(part, id, r, out)
		}
	}
	slices.SortFunc(published.Rows, func(a, b PublishedRow) int { return cmp.Compare(a.ID, b.ID) })
	if c.numbers.valued && t.sensitive.Columns() > 0 {
		for _, r := range published.Rows {
			published.Sensitive = append(published.Sensitive, c.in(table).rows[r.ID].codes)
		}
	}
	c.changes[table+1].Cells = append(c.changes[table+1].Cells, published)
	return id
}

// addCell adds an empty cell to a window.
func (c *GuardedCoarser) addCell(f *coarserFrame, table int, id int64) *coarserPart {
	part := f.parts[table]
	if part == nil {
		part = &coarserPart{group: f.group, frame: f, table: table}
		part.tallied = c.in(table).tally.Add(id, 0, part)
		f.parts[table] = part
	}
	part.cells = append(part.cells, id)
	return part
}

// union is what stands for all that some cells show.
func (c *GuardedCoarser) union(table int, cells []*finerCell) []hierarchy.Generalization {
	return c.attributes.union(table, len(cells), func(i int) []hierarchy.Generalization { return cells[i].values })
}
