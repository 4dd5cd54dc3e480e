package lineage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Load takes over what a store holds of a coarser release, after the finer one has been loaded:
// rows, with their groups as classes; which rows were replaced by others; units and weights, as in
// CoarserChanges. The error says what does not fit together; neither release must be used then.
func (c *Coarser) Load(rows []StoredRow, parted map[RowID]RowID, units []CoarserUnit, weights map[incremental.ClassID]Weight) error {
	if len(c.units) > 0 {
		return errors.New("loading a coarser release that is not empty")
	}
	for _, stored := range units {
		if _, twice := c.units[stored.Class]; twice || len(stored.Labels) != len(c.rules.attributes) {
			return fmt.Errorf("loading class %d of a coarser release: it is there twice, or has %d labels", stored.Class, len(stored.Labels))
		}
		u := c.addUnit(stored.Class, stored.Labels)
		u.withheld, u.stale = stored.Withheld, stored.Group != 0
		var err error
		if u.change, err = parseChange(stored.Changed); err != nil {
			return fmt.Errorf("loading class %d of a coarser release: %w", stored.Class, err)
		}
		if u.stale {
			u.group = c.loadGroup(stored.Group, false)
		}
	}
	if err := c.loadRows(rows, parted); err != nil {
		return err
	}
	if err := c.checkUnits(); err != nil {
		return err
	}
	c.recount(weights)
	clear(c.marked)
	c.waited = true
	return nil
}

// StartAt sets the number of the next group, as returned by [Coarser.NextGroup], so that none is
// used again. Call it before Load.
func (c *Coarser) StartAt(next incremental.ClassID) { c.nextGroup = next }

func (c *Coarser) loadGroup(id incremental.ClassID, sealed bool) *group {
	g := c.groups[id]
	if g == nil {
		g = &group{class: class{id: id, patience: 1}}
		c.groups[id] = g
		c.nextGroup = max(c.nextGroup, id+1)
	}
	g.sealed = g.sealed || sealed
	return g
}

// loadRows gives the groups their rows.
func (c *Coarser) loadRows(rows []StoredRow, parted map[RowID]RowID) error {
	type where struct {
		class incremental.ClassID
		left  bool
	}
	at := make(map[RowID]where)
	for _, id := range c.finer.shownClasses() {
		for _, r := range c.finer.shownRows(id) {
			at[r.id] = where{id, r.left}
		}
	}
	slices.SortFunc(rows, func(a, b StoredRow) int { return int(a.ID - b.ID) })
	for i, r := range rows {
		if r.ID < 1 || r.Class < 1 || i > 0 && rows[i-1].ID == r.ID {
			return fmt.Errorf("loading row %d of group %d: it is there twice, or has no number", r.ID, r.Class)
		}
		*c.nextRow = max(*c.nextRow, r.ID+1)
		g := c.loadGroup(r.Class, r.Sealed)
		now, isParted := parted[r.ID]
		if !isParted {
			now = r.ID
		}
		found, shown := at[now]
		loaded := row{id: r.ID, slot: nobody, person: r.Person}
		if !shown {
			g.ghosts++
			found.left, now = true, 0
		} else {
			u := c.units[found.class]
			if u == nil {
				u = c.addUnit(found.class, nil)
				u.group = g
			}
			if u.group != g || u.stale != isParted {
				return fmt.Errorf("loading row %d of group %d: class %d stands elsewhere", r.ID, r.Class, found.class)
			}
			u.rows++
			if !found.left {
				c.live++
			}
			if loaded.slot = u.index; isParted {
				g.stale++
			}
		}
		g.rows, g.codes = append(g.rows, loaded), append(g.codes, r.Sensitive...)
		g.followed = append(g.followed, followed{now, found.left})
	}
	return nil
}

// checkUnits sees to it that each class of the finer release is followed, as a whole.
func (c *Coarser) checkUnits() error {
	known := c.finer.shownClasses()
	for _, id := range known {
		u := c.units[id]
		if u == nil {
			return fmt.Errorf("class %d is not known to the coarser release", id)
		}
		if rows := len(c.finer.shownRows(id)); u.group != nil && u.rows != rows {
			return fmt.Errorf("class %d has %d rows, and %d in group %d", id, rows, u.rows, u.group.id)
		}
	}
	if len(known) != len(c.units) {
		return fmt.Errorf("%d classes are there, and %d are known to the coarser release", len(known), len(c.units))
	}
	return nil
}

// recount determines what of the groups is published, and what has to be looked at.
func (c *Coarser) recount(weights map[incremental.ClassID]Weight) {
	groups, order := tallied(weights), make([]incremental.ClassID, 0, len(c.groups))
	for id := range c.groups {
		order = append(order, id)
	}
	slices.Sort(order)
	for _, id := range order {
		g := c.groups[id]
		g.tallied = c.tally.Add(int64(id), len(g.rows), &g.class)
		for place, f := range g.followed {
			if f.left {
				c.tally.Leave(g.tallied, uint64(g.rows[place].person))
			}
		}
		if w, published := weights[id]; published {
			c.tally.LoadItem(g.tallied, w.tallied())
		}
		if g.ghosts+g.stale > 0 {
			c.disturb(g)
		}
	}
	c.tally.Load(groups)
}
