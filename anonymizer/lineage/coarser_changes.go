package lineage

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// CoarserChanges lists what has to be published of a coarser release, and recorded in the store,
// since the last time.
type CoarserChanges struct {
	// Classes are the new groups, with what is published for each.
	Classes map[incremental.ClassID][]hierarchy.Generalization
	// Rows are the new rows, of new groups only.
	Rows []CoarserRow
	// Gone are rows that vanish, and GoneFrom the group of each.
	Gone     []RowID
	GoneFrom []incremental.ClassID
	// Weights are as those of Changes.
	Weights map[incremental.ClassID]Weight
	// Units are the followed classes of which a store has to know more than that their rows are shown, and
	// Settled those of which it has not, any more.
	Units   []CoarserUnit
	Settled []incremental.ClassID
	// Parted are the rows that are shown and that others took the place of in the finer release, with these; Unparted
	// are those of which that is no longer so, or that are gone.
	Parted   map[RowID]RowID
	Unparted map[RowID]struct{}
}

// CoarserRow is a row of a new group. It shows what the row of the finer release shows that has its number.
type CoarserRow struct {
	ID     RowID
	Class  incremental.ClassID
	From   incremental.ClassID // where the finer release has it
	Person uint32
	Sealed bool
}

// CoarserUnit is a class of the finer release as a store keeps it.
type CoarserUnit struct {
	Class incremental.ClassID
	// Group shows rows of which this class took the place; 0 where the class is in no group.
	Group    incremental.ClassID
	Changed  string // which values have changed since
	Withheld bool   // it is not published for good
	Labels   []hierarchy.Generalization
}

func newCoarserChanges() CoarserChanges {
	return CoarserChanges{
		Classes: make(map[incremental.ClassID][]hierarchy.Generalization), Weights: make(map[incremental.ClassID]Weight),
		Parted: make(map[RowID]RowID), Unparted: make(map[RowID]struct{}),
	}
}

// part notes that another row stands for a row that is shown.
func (n *CoarserChanges) part(shown, now RowID) {
	n.Parted[shown] = now
	delete(n.Unparted, shown)
}

// unpart notes that a row is shown as the finer release shows it, or not at all.
func (n *CoarserChanges) unpart(shown, now RowID) {
	if shown != now {
		delete(n.Parted, shown)
		n.Unparted[shown] = struct{}{}
	}
}

// Changes returns the changes since the last time and forgets them.
func (c *Coarser) Changes() CoarserChanges {
	changes := c.changes
	c.changes = newCoarserChanges()
	for id := range c.marked {
		u := c.units[id]
		if u == nil || u.settled() {
			changes.Settled = append(changes.Settled, id)
			continue
		}
		stored := CoarserUnit{Class: id, Withheld: u.withheld, Labels: u.labels}
		if u.group != nil {
			stored.Group, stored.Changed = u.group.id, u.change.String()
		}
		changes.Units = append(changes.Units, stored)
	}
	clear(c.marked)
	slices.Sort(changes.Settled)
	slices.SortFunc(changes.Units, func(u, v CoarserUnit) int { return int(u.Class - v.Class) })
	weights := c.tally.Settle()
	for _, item := range weights.Items {
		if c.groups[item.Of.id] != nil {
			changes.Weights[item.Of.id] = newWeight(item.Weight())
		}
	}
	for number, w := range weights.Groups {
		changes.Weights[incremental.ClassID(number)] = newWeight(w)
	}
	return changes
}

// CoarserFreshness reports how far a coarser release is behind the finer one.
type CoarserFreshness struct {
	Groups, Rows int
	Live         int // rows that stand for somebody, whom the finer release shows, too
	Waiting      int // rows of the finer release that wait for others
	Withheld     int // rows of the finer release that are not published for good
	Gone, Stale  int // rows that the finer release does not show, and that it shows with other values
	Least        int // persons who have to wait before they are published
}

// Groups is the number of groups.
func (c *Coarser) Groups() int { return len(c.groups) }

// NextGroup is the number that the next group will have. A store keeps it.
func (c *Coarser) NextGroup() incremental.ClassID { return c.nextGroup }

// Live is the number of rows that stand for a record, each for another one.
func (c *Coarser) Live() int { return c.live }

// Freshness counts, which takes time for each row.
func (c *Coarser) Freshness() CoarserFreshness {
	f := CoarserFreshness{Groups: len(c.groups), Live: c.live, Least: c.least}
	for _, g := range c.groups {
		f.Rows += len(g.rows)
		f.Gone += g.ghosts
		f.Stale += g.stale
	}
	for _, u := range c.units {
		switch n := 0; {
		case u.group != nil:
		case u.withheld:
			n = len(c.finer.shownRows(u.id))
			f.Withheld += n
		default:
			n = len(c.finer.shownRows(u.id))
			f.Waiting += n
		}
	}
	return f
}
