package people

import (
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// FollowedTable is what has to be published of a table in a GuardedCoarser, and what a store has to
// keep.
type FollowedTable struct {
	GuardedTable
	// Origin is what each new row shows, in the finer release, of what it belongs to. There are its values.
	Origin map[incremental.RecordID]uint64
	// Waiting are the cells of the finer release that wait from now on, and Settled those that do no more. Withheld are
	// those of all that wait that will never be shown.
	Waiting  []WaitingCell
	Settled  []int64
	Withheld []int64
}

// WaitingCell is a cell of the finer release that is not shown yet, with what may be shown of it.
type WaitingCell struct {
	Cell   int64
	Values []hierarchy.Generalization
	// Withheld cells are never shown. Their values need not be kept.
	Withheld bool
}

// Changes are those since the last time, of the root's rows and of those of each table, and forgets them.
func (c *GuardedCoarser) Changes() []FollowedTable {
	changes := c.changes
	c.changes = make([]FollowedTable, len(c.shown))
	for i := range changes {
		sort.Sort(byGone{&changes[i].TableChanges})
		changes[i].settleWaiting()
	}
	return changes
}

// Note returns what a store has to know of a table, after Guarded.Note of it.
func (c *GuardedCoarser) Note(table int) (noted FollowedTable) {
	noted.weigh(c.in(table).tally.Note())
	return noted
}

// settleWaiting leaves out the cells that came and were settled at once.
func (t *FollowedTable) settleWaiting() {
	slices.Sort(t.Settled)
	kept := t.Waiting[:0]
	for _, cell := range t.Waiting {
		if at, settled := slices.BinarySearch(t.Settled, cell.Cell); settled {
			t.Settled = slices.Delete(t.Settled, at, at+1)
		} else {
			kept = append(kept, cell)
		}
	}
	t.Waiting = kept
}

// news is what has changed, in the form that followers take.
func (c *GuardedCoarser) news() *GuardedChanges {
	news := newGuardedChanges(len(c.changes) - 1)
	for i, of := range c.changes {
		news.of(i - 1).TableChanges = of.TableChanges
	}
	return news
}
