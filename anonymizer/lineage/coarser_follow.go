package lineage

import (
	"context"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// settle follows a step of the finer release: first its changes to published rows are taken over,
// then groups are cut as classes are, then waiting units become groups.
func (c *Coarser) settle(ctx context.Context, s step) error {
	c.places = make(map[*group]map[RowID]int32)
	c.followMoves(s.moves)
	if err := c.followRenewals(s.born); err != nil {
		return err
	}
	c.followGone(s.gone, s.from)
	for _, b := range s.born {
		if b.origin == nil {
			c.follows(b.class, b.labels)
			c.waited = true
		}
	}
	c.places = nil
	if err := c.cutAll(ctx); err != nil {
		return fmt.Errorf("cutting groups: %w", err)
	}
	if err := c.publishWaiting(ctx); err != nil {
		return fmt.Errorf("uniting classes: %w", err)
	}
	return nil
}

// placesOf are the places of a group's rows by what is published for them now.
func (c *Coarser) placesOf(g *group) map[RowID]int32 {
	places := c.places[g]
	if places == nil {
		places = make(map[RowID]int32, len(g.rows))
		for place, f := range g.followed {
			if !isGhost(g.rows[place]) {
				places[f.now] = int32(place)
			}
		}
		c.places[g] = places
	}
	return places
}

// followMoves counts who has left and come back. Only the weights depend on that.
func (c *Coarser) followMoves(moves []move) {
	for _, m := range moves {
		u := c.units[m.class]
		if u == nil || u.group == nil {
			continue
		}
		g := u.group
		place, shown := c.placesOf(g)[m.row]
		if !shown || g.followed[place].left != m.back {
			continue
		}
		g.followed[place].left = !m.back
		if m.back {
			c.live++
			c.tally.Return(g.tallied, uint64(g.rows[place].person))
		} else {
			c.live--
			c.tally.Leave(g.tallied, uint64(g.rows[place].person))
		}
		c.next.moves = append(c.next.moves, move{g.id, g.rows[place].id, m.back})
	}
}

// followRenewals has new classes stand where those stood whose rows they took.
func (c *Coarser) followRenewals(born []birth) error {
	for _, b := range born {
		if b.origin == nil {
			continue
		}
		old := c.units[b.origin.class]
		if old == nil {
			return fmt.Errorf("class %d has taken rows of class %d, which is not known", b.class, b.origin.class)
		}
		u := c.follows(b.class, b.labels)
		if u.withheld = old.withheld; old.group == nil {
			c.waited = true
			continue
		}
		g := old.group
		u.group, u.stale = g, true
		u.change = change{old.change.columns.and(b.origin.changed), old.change.refused}
		places := c.placesOf(g)
		for _, r := range b.origin.rows {
			place, shown := places[r.old]
			if !shown {
				return fmt.Errorf("row %d of class %d is not in group %d", r.old, old.id, g.id)
			}
			delete(places, r.old)
			places[r.new] = place
			g.rows[place].slot, g.followed[place].now = u.index, r.new
			c.changes.part(g.rows[place].id, r.new)
			old.rows--
			u.rows++
			if !old.stale {
				g.stale++
			}
		}
		c.disturb(g)
	}
	return nil
}

// followGone notes rows of which nothing is published any more. Those that others took the place of are among
// the rows, and are found no more.
func (c *Coarser) followGone(gone []RowID, from []incremental.ClassID) {
	touched := make(map[incremental.ClassID]struct{})
	for i, id := range gone {
		u := c.units[from[i]]
		if u == nil {
			continue
		}
		touched[u.id] = struct{}{}
		if u.group == nil {
			c.waited = true
			continue
		}
		g := u.group
		place, shown := c.placesOf(g)[id]
		if !shown {
			continue
		}
		c.changes.unpart(g.rows[place].id, id)
		if !g.followed[place].left {
			c.live--
		}
		g.rows[place].slot = nobody
		g.followed[place].now = 0
		g.ghosts++
		if u.stale {
			g.stale--
		}
		u.rows--
		c.disturb(g)
	}
	for id := range touched {
		if u := c.units[id]; u.group != nil && u.rows == 0 || u.group == nil && c.finer.shownRows(id) == nil {
			c.dropUnit(u)
		}
	}
}

// publishWaiting makes groups of all classes that wait, if they are enough, or withholds them for good, as the
// lineage does with a batch.
func (c *Coarser) publishWaiting(ctx context.Context) error {
	if !c.waited {
		return nil
	}
	c.waited = false
	waiting := c.waiting()
	if c.persons(waiting) < c.least {
		return nil
	}
	groups, err := c.unite(ctx, waiting)
	if err != nil {
		return err
	}
	for _, units := range groups {
		c.found(units, false, nil)
	}
	if len(groups) == 0 {
		for _, u := range waiting {
			u.withheld = true
			c.mark(u)
		}
	}
	return nil
}

// Overdue reports whether enough classes wait for each other, as they may where the release was loaded: the next
// [Lineage.Publish] unites them.
func (c *Coarser) Overdue() bool {
	if !c.waited {
		return false
	}
	rows, persons := 0, make(map[uint32]struct{})
	for _, u := range c.waiting() {
		for _, r := range c.finer.shownRows(u.id) {
			rows++
			persons[r.person] = struct{}{}
		}
	}
	if c.rules.subjects {
		rows = len(persons)
	}
	return rows >= c.least
}

// waiting are the units that wait for others, by number.
func (c *Coarser) waiting() []*unit {
	var all []*unit
	for _, u := range c.units {
		if u.group == nil && !u.withheld {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(u, v *unit) int { return int(u.id - v.id) })
	return all
}

// persons counts the persons with rows in units of the finer release.
func (c *Coarser) persons(units []*unit) int {
	all := c.rules.newSummary()
	for _, u := range units {
		c.count(&all, u)
	}
	return all.Records
}

// count adds the rows of a unit, as the finer release shows them.
func (c *Coarser) count(to *privacy.Summary, u *unit) {
	for _, r := range c.finer.shownRows(u.id) {
		if c.rules.subjects {
			to.AddOf(r.person, r.codes)
		} else {
			to.Add(r.codes)
		}
	}
}

// found makes a group of units. Was are the rows of the group that they come from, by what is published now.
func (c *Coarser) found(units []*unit, sealed bool, from *origin) {
	g := &group{class: class{id: c.nextGroup, patience: 1, sealed: sealed}}
	c.nextGroup++
	c.groups[g.id] = g
	labels := make([]hierarchy.Generalization, len(c.rules.attributes))
	for a, attribute := range c.rules.attributes {
		parts := make([]hierarchy.Generalization, len(units))
		for i, u := range units {
			parts[i] = u.labels[a]
		}
		labels[a] = hierarchy.Union(attribute.Hierarchy, parts)
	}
	c.changes.Classes[g.id] = labels
	for _, u := range units {
		for _, r := range c.finer.shownRows(u.id) {
			person := uint32(len(g.rows))
			if c.rules.subjects {
				person = r.person
			}
			g.rows, g.codes = append(g.rows, row{id: r.id, slot: u.index, person: person}), append(g.codes, r.codes...)
			g.followed = append(g.followed, followed{r.id, r.left})
			c.changes.Rows = append(c.changes.Rows, CoarserRow{ID: r.id, Class: g.id, From: u.id, Person: person, Sealed: sealed})
			u.rows++
			if !r.left {
				c.live++
			}
		}
		u.group, u.labels, u.stale, u.change = g, nil, false, change{}
		c.mark(u)
	}
	g.tallied = c.tally.Add(int64(g.id), len(g.rows), &g.class)
	for place, f := range g.followed {
		if f.left {
			c.tally.Leave(g.tallied, uint64(g.rows[place].person))
		}
	}
	c.next.born = append(c.next.born, birth{g.id, labels, from})
}
