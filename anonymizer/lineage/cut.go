package lineage

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// cutAll cuts the classes that rows have left since they were last looked at.
func (l *Lineage) cutAll(ctx context.Context) error {
	dirty := l.dirty
	l.dirty = nil
	for _, c := range dirty {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.dirty = false
		if c.disturbed >= c.patience {
			if err := l.cut(ctx, c); err != nil {
				return err
			}
		}
		if c.ghosts == len(c.rows) { // also of a class that has been cut to nothing
			l.remove(c, isGhost)
			l.classes.remove(c)
			continue
		}
		l.tell(c)
	}
	return nil
}

// cut has the ghosts of a class vanish, and stale rows published anew as a class of
// their own, as far as the parts endure. What is left keeps the class's id and what is
// published for it.
//
// Stale rows of which the same columns changed are a part of their own. A reader can
// tell parts apart by the values that did not change: had a class both people who moved
// and one whose diagnosis was corrected, then the one diagnosis that vanishes and the
// one that appears would be this person's.
func (l *Lineage) cut(ctx context.Context, c *class) error {
	c.disturbed, c.patience = 0, 1
	for again := true; again; {
		var err error
		// What leaves can make it safe to tell what stays apart.
		if again, err = l.sever(ctx, c); err != nil {
			return err
		}
	}
	if left := c.ghosts + c.stale; len(c.rows) > largeClass && left < len(c.rows) {
		c.patience = max(1, left/4)
	}
	return nil
}

// largeClass is the number of rows from which on what could not be cut is tried again only
// after a quarter more has left, since counting costs the whole class.
const largeClass = 1000

// sever cuts the parts of a class that can be cut, and reports whether there were any.
func (l *Lineage) sever(ctx context.Context, c *class) (severed bool, err error) {
	if c.ghosts > 0 && l.severable(c, isGhost, l.k) {
		l.remove(c, isGhost)
		severed = true
	}
	for _, changed := range l.changesOf(c) {
		same := func(r row) bool { return l.isStaleRow(r) && l.records.parting(r.slot).change == changed }
		counted, least := l.counted(changed.columns), l.k
		if counted {
			least = max(least, l.leastChanged)
		}
		if changed.vain || !l.severable(c, same, least) {
			continue
		}
		if !l.renewable(c, same) {
			l.giveUp(c, same)
			continue
		}
		if err := l.renew(ctx, c, same, c.sealed || counted); err != nil {
			return false, err
		}
		severed = true
	}
	return severed, nil
}

// changesOf lists what has changed of the stale rows, each change once.
func (l *Lineage) changesOf(c *class) []change {
	found := make(map[change]struct{})
	if c.stale > 0 {
		for _, r := range c.rows {
			if l.isStaleRow(r) {
				found[l.records.parting(r.slot).change] = struct{}{}
			}
		}
	}
	byText := func(a, b change) int { return cmp.Compare(a.String(), b.String()) }
	return slices.SortedFunc(maps.Keys(found), byText)
}

// severable reports whether some rows, of at least so many persons, may be told apart from
// the rest of their class: whoever is among them, both endure. That depends on how many
// they are and on what is published, and not on whose values these are; so neither a cut
// nor its absence tells whose they are. A whole class is not told apart from anything.
func (l *Lineage) severable(c *class, part func(row) bool, least int) bool {
	gone, rest := l.newSummary(), l.newSummary()
	for place, r := range c.rows {
		if part(r) {
			l.addRow(&gone, c, place)
		} else {
			l.addRow(&rest, c, place)
		}
	}
	if gone.Records < least {
		return false
	}
	return rest.Records == 0 || !c.sealed && l.endures(c, gone) && l.endures(c, rest)
}

// renewable reports whether the records behind stale rows satisfy the constraints with
// their new values as well.
func (l *Lineage) renewable(c *class, part func(row) bool) bool {
	var members []int32
	for _, r := range c.rows {
		if part(r) {
			members = append(members, r.slot)
		}
	}
	return l.satisfied(l.summarizeRecords(members))
}

// renew publishes the records behind stale rows as a class of their own, or as several
// if every one of them may be told apart by its size.
func (l *Lineage) renew(ctx context.Context, c *class, part func(row) bool, sealed bool) error {
	old := l.remove(c, part)
	members := make([]int32, len(old.rows))
	for i, r := range old.rows {
		members[i] = r.slot
		l.stale.drop()
	}
	classes := [][]int32{members}
	if crowd := l.options.Crowd * l.k; len(members) >= 2*crowd && !old.sealed {
		finer, err := l.divide(ctx, members)
		if err != nil {
			return err
		}
		if len(finer) > 0 && l.stoodTogether(old, finer) {
			classes = finer
		}
	}
	for _, members := range classes {
		l.found(members, sealed)
	}
	return nil
}

// stoodTogether reports whether each of some classes endures with the rows that its
// records had before.
func (l *Lineage) stoodTogether(old *class, classes [][]int32) bool {
	before := make(map[int32]int, len(old.rows))
	for place, r := range old.rows {
		before[r.slot] = place
	}
	for _, members := range classes {
		s := l.newSummary()
		for _, slot := range members {
			l.addRow(&s, old, before[slot])
		}
		if !l.endures(old, s) {
			return false
		}
	}
	return true
}

// tell lets the published weight of a class know of its ghosts, if those that it does not
// know of are k persons' or more, or as many of those that it knows of have come back.
func (l *Lineage) tell(c *class) {
	if c.ghosts < c.toldOf+l.k && c.told < c.ghosts+l.k { // persons have a row each at least
		return
	}
	persons := l.summarize(c, isGhost).Records
	left, back := persons >= c.toldOf+l.k, !c.atMost && c.toldOf >= persons+l.k || c.ghosts == 0
	if !left && !back {
		return
	}
	if before := c.told; l.know(c, persons) != before {
		l.changes.Weights[c.id] = c.weight()
	}
}

// know has a class's weight know of its ghosts, which are so many persons', or of none where
// these are fewer than k; it gives the number of ghosts that it then knows of.
func (l *Lineage) know(c *class, persons int) int {
	c.told, c.toldOf, c.atMost = c.ghosts, persons, false
	if persons < l.k {
		c.told, c.toldOf = 0, 0
	}
	return c.told
}

// weight is the share of the rows that stand for somebody, as far as readers may know.
func (c *class) weight() float64 {
	return float64(len(c.rows)-c.told) / float64(len(c.rows))
}
