package lineage

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// cutAll cuts the groups that have changed since they were last looked at, by the rules of [cutting.all].
func (c *Coarser) cutAll(ctx context.Context) error {
	dirty := c.dirty
	c.dirty = nil
	for _, g := range dirty {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.dirty = false
		if g.disturbed >= g.patience {
			if err := c.cut(ctx, g); err != nil {
				return err
			}
		}
		if g.ghosts == len(g.rows) {
			c.remove(g, isGhost)
			c.tally.Remove(g.tallied)
			delete(c.groups, g.id)
		}
	}
	return nil
}

func (c *Coarser) cut(ctx context.Context, g *group) error {
	g.disturbed, g.patience = 0, 1
	for again := true; again; {
		var err error
		if again, err = c.cutParts(ctx, g); err != nil {
			return err
		}
	}
	if left := g.ghosts + g.stale; len(g.rows) > largeClass && left < len(g.rows) {
		g.patience = max(1, left/4)
	}
	return nil
}

// cutParts cuts the parts of a group that can be cut: the rows of which nothing is published any more, and
// units that are published with other values, those together of which the same columns have changed.
func (c *Coarser) cutParts(ctx context.Context, g *group) (cut bool, err error) {
	if g.ghosts > 0 && c.rules.separable(&g.class, isGhost, c.rules.k) {
		c.remove(g, isGhost)
		cut = true
	}
	for _, changed := range c.changesOf(g) {
		same := func(r row) bool { return c.isStale(r) && c.indexed[r.slot].change == changed }
		counted, least := c.rules.counted(changed.columns), c.rules.k
		if counted {
			least = max(least, c.rules.leastChanged)
		}
		if changed.refused || !c.rules.separable(&g.class, same, least) {
			continue
		}
		units := c.unitsOf(slices.DeleteFunc(slices.Clone(g.rows), func(r row) bool { return !same(r) }))
		if !c.satisfiedBy(units) {
			for _, u := range units {
				u.change.refused = true
				c.mark(u)
			}
			continue
		}
		if err := c.renew(ctx, g, units, same, changed.columns); err != nil {
			return false, err
		}
		cut = true
	}
	return cut, nil
}

func (c *Coarser) isStale(r row) bool { return r.slot >= 0 && c.indexed[r.slot].stale }

// changesOf lists what has changed of the units of a group, each change once.
func (c *Coarser) changesOf(g *group) []change {
	found := make(map[change]struct{})
	if g.stale > 0 {
		for _, r := range g.rows {
			if c.isStale(r) {
				found[c.indexed[r.slot].change] = struct{}{}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b change) int { return cmp.Compare(a.String(), b.String()) })
}

// satisfiedBy reports whether the rows of units satisfy the constraints, as the finer release shows them.
func (c *Coarser) satisfiedBy(units []*unit) bool {
	all := c.rules.newSummary()
	for _, u := range units {
		c.count(&all, u)
	}
	return c.rules.satisfied(all)
}

// renew publishes units as a group of their own, or as several if the size of each allows telling
// them apart.
func (c *Coarser) renew(ctx context.Context, g *group, units []*unit, part func(row) bool, changed columns) error {
	sealed := g.sealed || c.rules.counted(changed)
	old := c.remove(g, part)
	groups := [][]*unit{units}
	if len(old.rows) >= 2*c.crowd*c.rules.k && !old.sealed {
		finer, err := c.unite(ctx, units)
		if err != nil {
			return err
		}
		if len(finer) > 0 && c.safeBefore(old, finer) {
			groups = finer
		}
	}
	for _, units := range groups {
		from := &origin{class: g.id, changed: changed}
		of := make(map[int32]bool)
		for _, u := range units {
			of[u.index] = true
			u.rows = 0
		}
		for place, r := range old.rows {
			if of[r.slot] {
				from.rows = append(from.rows, replaced{r.id, old.followed[place].now})
			}
		}
		c.found(units, sealed, from)
	}
	return nil
}

// safeBefore reports whether each of some groups is safe with the rows that its units had before.
func (c *Coarser) safeBefore(old *group, groups [][]*unit) bool {
	for _, units := range groups {
		part := c.rules.newSummary()
		of := make(map[int32]bool)
		for _, u := range units {
			of[u.index] = true
		}
		for place, r := range old.rows {
			if of[r.slot] {
				c.rules.addRow(&part, &old.class, place)
			}
		}
		if !c.rules.safe(&old.class, part) {
			return false
		}
	}
	return true
}

// remove takes rows away from a group and returns them, as a group that is nowhere.
func (c *Coarser) remove(g *group, part func(row) bool) *group {
	removed := &group{class: class{sealed: g.sealed}}
	kept, codes, followed := g.rows[:0], g.codes[:0], g.followed[:0]
	var left []uint64
	for place, r := range g.rows {
		shown, f := c.rules.shown(&g.class, place), g.followed[place]
		if !part(r) {
			kept, codes, followed = append(kept, r), append(codes, shown...), append(followed, f)
			continue
		}
		c.changes.Gone, c.changes.GoneFrom = append(c.changes.Gone, r.id), append(c.changes.GoneFrom, g.id)
		c.next.gone, c.next.from = append(c.next.gone, r.id), append(c.next.from, g.id)
		removed.rows, removed.codes, removed.followed = append(removed.rows, r), append(removed.codes, shown...), append(removed.followed, f)
		if isGhost(r) {
			g.ghosts--
		} else {
			if !f.left {
				c.live--
			}
			g.stale--
			c.changes.unpart(r.id, f.now)
		}
		if f.left {
			left = append(left, uint64(r.person))
		}
	}
	clear(g.codes[len(codes):])
	g.rows, g.codes, g.followed = kept, codes, followed
	c.tally.Vanish(g.tallied, len(removed.rows), left)
	return removed
}
