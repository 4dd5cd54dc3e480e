package lineage

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// cutting cuts classes during one Publish.
type cutting struct {
	ctx      context.Context
	records  *records
	rules    *rules
	released *released
	backlog  *backlog
	divider  *divider
	log      *changeLog
}

func (l *Lineage) cutting(ctx context.Context) *cutting {
	return &cutting{
		ctx: ctx, records: &l.records, rules: &l.rules, released: &l.released,
		backlog: &l.backlog, divider: &l.divider, log: &l.log,
	}
}

// all cuts the classes that rows have left since they were last looked at.
func (u *cutting) all() error {
	dirty := u.released.dirty
	u.released.dirty = nil
	for _, c := range dirty {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		c.dirty = false
		if c.disturbed >= c.patience {
			if err := u.cut(c); err != nil {
				return err
			}
		}
		if c.ghosts == len(c.rows) { // also of a class that has been cut to nothing
			u.released.remove(c, isGhost)
			u.released.classes.remove(c)
			u.released.tally.Remove(c.tallied)
		}
	}
	return nil
}

// cut removes the ghosts of a class, and publishes stale rows anew as a class of their own, as far
// as the parts are safe. The rest keeps the class's id and what is published for it.
//
// Stale rows in which the same columns changed form a separate part. A reader can tell parts apart
// by the values that did not change: if a class had both people who moved and one whose diagnosis
// was corrected, the one diagnosis that vanishes and the one that appears would be this person's.
func (u *cutting) cut(c *class) error {
	c.disturbed, c.patience = 0, 1
	for again := true; again; {
		var err error
		// What leaves can make it safe to tell what stays apart.
		if again, err = u.cutParts(c); err != nil {
			return err
		}
	}
	if left := c.ghosts + c.stale; len(c.rows) > largeClass && left < len(c.rows) {
		c.patience = max(1, left/4)
	}
	return nil
}

// largeClass is the number of rows from which on a cut is tried again only after a quarter
// more has left, since counting costs the whole class.
const largeClass = 1000

// cutParts cuts the parts of a class that can be cut, and reports whether there were any.
func (u *cutting) cutParts(c *class) (cut bool, err error) {
	if c.ghosts > 0 && u.rules.separable(c, isGhost, u.rules.k) {
		u.released.remove(c, isGhost)
		cut = true
	}
	for _, changed := range u.changesOf(c) {
		same := func(r row) bool { return u.records.isStaleRow(r) && u.records.difference(r.slot).change == changed }
		counted, least := u.rules.counted(changed.columns), u.rules.k
		if counted {
			least = max(least, u.rules.leastChanged)
		}
		if changed.refused || !u.rules.separable(c, same, least) {
			continue
		}
		if members := slotsOf(c, same); !u.rules.satisfiedBy(u.records, members) {
			u.refuse(members)
			continue
		}
		if err := u.renew(c, same, c.sealed || counted, changed.columns); err != nil {
			return false, err
		}
		cut = true
	}
	return cut, nil
}

// changesOf lists what has changed of the stale rows, each change once.
func (u *cutting) changesOf(c *class) []change {
	found := make(map[change]struct{})
	if c.stale > 0 {
		for _, r := range c.rows {
			if u.records.isStaleRow(r) {
				found[u.records.difference(r.slot).change] = struct{}{}
			}
		}
	}
	byText := func(a, b change) int { return cmp.Compare(a.String(), b.String()) }
	return slices.SortedFunc(maps.Keys(found), byText)
}

// slotsOf lists the records behind some rows of a class, none of which is a ghost.
func slotsOf(c *class, part func(row) bool) []int32 {
	var members []int32
	for _, r := range c.rows {
		if part(r) {
			members = append(members, r.slot)
		}
	}
	return members
}

// refuse keeps rows as they are for good, whose new values violate the constraints
// together. Were they tried again with one person more, then that person's new value
// would be what had been missing. Nor are they tried when they have changed again: they
// may have changed back.
func (u *cutting) refuse(members []int32) {
	for _, slot := range members {
		d := u.records.difference(slot)
		d.change.refused = true
		u.records.setDifference(slot, d)
		u.log.touch(slot)
	}
}

// renew publishes the records behind stale rows as a class of their own, or as several if the size
// of each allows telling them apart.
func (u *cutting) renew(c *class, part func(row) bool, sealed bool, changed columns) error {
	old := u.released.remove(c, part)
	from := &renewed{class: c.id, changed: changed, rows: make(map[int32]RowID, len(old.rows))}
	for _, r := range old.rows {
		from.rows[r.slot] = r.id
	}
	members := slotsOf(old, isAny)
	for range members {
		u.backlog.stale.drop()
	}
	classes := [][]int32{members}
	if crowd := u.divider.options.Crowd * u.rules.k; len(members) >= 2*crowd && !old.sealed {
		finer, err := u.divider.divide(u.ctx, members)
		if err != nil {
			return err
		}
		if len(finer) > 0 && u.safeBefore(old, finer) {
			classes = finer
		}
	}
	for _, members := range classes {
		u.released.found(members, sealed, from)
	}
	return nil
}

// safeBefore reports whether each of some classes is safe with the rows that its
// records had before.
func (u *cutting) safeBefore(old *class, classes [][]int32) bool {
	before := make(map[int32]int, len(old.rows))
	for place, r := range old.rows {
		before[r.slot] = place
	}
	for _, members := range classes {
		s := u.rules.newSummary()
		for _, slot := range members {
			u.rules.addRow(&s, old, before[slot])
		}
		if !u.rules.safe(old, s) {
			return false
		}
	}
	return true
}
