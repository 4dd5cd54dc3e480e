package lineage

import (
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// Changes lists what has to be published, and recorded in the store, since the last time.
type Changes struct {
	// Classes are the new classes, with what is published for each: one
	// generalization for each attribute. What is published for a class never changes.
	Classes map[incremental.ClassID][]hierarchy.Generalization
	// Rows are the new rows, of new classes only. Each shows its record's values as
	// they are now.
	Rows []NewRow
	// Gone are published rows that vanish, ascending, and GoneFrom the class of each.
	Gone     []RowID
	GoneFrom []incremental.ClassID
	// Vanished are the ghosts among them that had a number, and those to which nobody can come
	// back since the table was truncated.
	Vanished []Ghost
	// Weights are those that have changed, of classes and, with number 0, of the table. New classes
	// have 1. Those with numbers below 0 are only for Load.
	Weights map[incremental.ClassID]Weight
	// Touched are the records that are new or stand elsewhere, ascending.
	Touched []incremental.RecordID

	of *Lineage
}

// Weight says how many published rows stand for somebody, as far as readers may know.
type Weight struct {
	// Share is the share of a class's rows, in (0, 1]. That of the table, in (0, 2], changes all
	// others: see Rated. Groups have none.
	Share float64
	// Ghosts are how many reported rows stand for nobody, and Persons how many persons they belong
	// to. Both are for Load.
	Ghosts, Persons int
}

// Rated is the share of a class's rows, in (0, 1], given that of the table. Over all published rows, they
// add up to the number of those that stand for somebody, but for k persons' rows at most.
func Rated(share, table float64) float64 { return tally.Rated(share, table) }

func newWeight(w tally.Weight) Weight {
	return Weight{Share: w.Share, Ghosts: w.Told.Rows, Persons: w.Told.Persons}
}

func (w Weight) tallied() tally.Weight {
	return tally.Weight{Share: w.Share, Told: tally.Count{Rows: w.Ghosts, Persons: w.Persons}}
}

// NewRow is a row of a new class.
type NewRow struct {
	ID     RowID
	Class  incremental.ClassID
	Record incremental.RecordID
	// Person numbers the persons who have rows, if persons are counted. It leads only to a person's
	// other rows that stand for a record.
	Person uint32
	// Sealed is for Load; it is the same in all rows of a class.
	Sealed bool
}

// Place is where a record stands.
type Place struct {
	// Class and Row are where it is published, 0 where it is not.
	Class incremental.ClassID
	Row   RowID
	// Since is when it began to wait, or when its values parted from those published;
	// zero where neither is so.
	Since time.Time
	// Changed says which values parted, for Load.
	Changed string
	// Withheld says that the record is not published for good.
	Withheld bool
}

func newChanges() Changes {
	return Changes{
		Classes: map[incremental.ClassID][]hierarchy.Generalization{},
		Weights: map[incremental.ClassID]Weight{},
	}
}

// changeLog gathers what has changed since the last Publish.
type changeLog struct {
	changes  Changes
	touched  []int32       // slots of records whose place may have changed, or that are gone
	marked   compact.Marks // those of them that are not
	unlisted bool          // nothing is listed: all is new
	followed bool          // by a coarser release
	step     step          // for that
}

func (g *changeLog) touch(slot int32) {
	if !g.unlisted && g.marked.Set(slot) {
		g.touched = append(g.touched, slot)
	}
}

// move notes that a row stands for nobody, or for somebody again.
func (g *changeLog) move(c *class, r row, back bool) {
	if g.followed {
		g.step.moves = append(g.step.moves, move{c.id, r.id, back})
	}
}

// gone notes that a row of a class vanishes.
func (g *changeLog) gone(r row, c *class) {
	g.changes.Gone, g.changes.GoneFrom = append(g.changes.Gone, r.id), append(g.changes.GoneFrom, c.id)
}

// takeChanges returns the changes and forgets them. A class that came and went in between
// is not among them.
func (l *Lineage) takeChanges() Changes {
	log := &l.log
	changes := log.changes
	log.changes, changes.of = newChanges(), l
	changes.Touched = make([]incremental.RecordID, 0, len(log.touched))
	for _, slot := range log.touched {
		if log.marked.Unset(slot) {
			changes.Touched = append(changes.Touched, l.records.ids[slot])
		}
	}
	slices.Sort(changes.Touched)
	log.touched = nil // it was as large as the first batch
	l.records.tidy()
	l.released.weigh(&changes)
	sort.Sort(byRow{&changes})
	return changes
}

// byRow orders the rows that vanish, with their classes.
type byRow struct{ *Changes }

func (r byRow) Len() int           { return len(r.Gone) }
func (r byRow) Less(i, j int) bool { return r.Gone[i] < r.Gone[j] }
func (r byRow) Swap(i, j int) {
	r.Gone[i], r.Gone[j] = r.Gone[j], r.Gone[i]
	r.GoneFrom[i], r.GoneFrom[j] = r.GoneFrom[j], r.GoneFrom[i]
}

// place is where a record stands.
func (l *Lineage) place(slot int32) Place {
	at, d := l.records.at(slot), l.records.difference(slot)
	p := Place{Since: d.since, Changed: d.change.String(), Withheld: at.class == withheld}
	if at.class >= 0 {
		c, r := l.released.rowOf(slot)
		p.Class, p.Row = c.id, r.id
	}
	return p
}

// Place is where one of the records touched stands now, valid until the next change to
// the lineage; nowhere for one that does not exist.
func (c Changes) Place(id incremental.RecordID) Place {
	if c.of == nil {
		return Place{}
	}
	slot := c.of.records.slot(id)
	if slot < 0 {
		return Place{}
	}
	return c.of.place(slot)
}

// Places yields the records touched with their Place.
func (c Changes) Places() iter.Seq2[incremental.RecordID, Place] {
	return func(yield func(incremental.RecordID, Place) bool) {
		for _, id := range c.Touched {
			if !yield(id, c.Place(id)) {
				return
			}
		}
	}
}
