package people

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// GuardedChanges says what a Publish has changed.
type GuardedChanges struct {
	Root   GuardedTable
	Tables []GuardedTable
}

// GuardedTable are the changes of one table. Gone numbers published rows, each by the ID of
// the record that it was published for; Moved are the rows whose Place may be another one.
type GuardedTable struct {
	TableChanges
	// Left are the published rows that have become ghosts.
	Left []LeftRow
	// Weights are those that have changed.
	Weights []Weight
}

// LeftRow is a published row that stands for nobody. A row that is inserted with its key,
// unless that is zero, takes it over.
type LeftRow struct {
	Row incremental.RecordID
	Key Key
}

// Weight is the share of some published rows that stand for somebody, as far as readers may
// know: of a class's root records, of its rows of a table in a window, or of a pooled cell. That of the table
// changes all others, see lineage.Rated.
type Weight struct {
	// Cells are all that have it, in ascending order. The table's is 0; numbers below 0 are only
	// for the store.
	Cells []int64
	Share float64 // 0 to 1; of the table, 0 to 2
	// Ghosts are how many rows it leaves out, and Persons how many persons' they are. Both
	// are for the store.
	Ghosts, Persons int
}

func (p *part) weight() Weight {
	w := newWeight(nil, p.tallied.Weight())
	for _, cell := range p.cells {
		w.Cells = append(w.Cells, cell.id)
	}
	slices.Sort(w.Cells)
	return w
}

// weigh adds weights that are of no cells.
func (t *GuardedTable) weigh(weights map[int64]tally.Weight) {
	for _, number := range slices.Sorted(maps.Keys(weights)) {
		t.Weights = append(t.Weights, newWeight([]int64{number}, weights[number]))
	}
}

func newWeight(cells []int64, w tally.Weight) Weight {
	return Weight{Cells: cells, Share: w.Share, Ghosts: w.Told.Rows, Persons: w.Told.Persons}
}

func (w Weight) tallied() tally.Weight {
	return tally.Weight{Share: w.Share, Told: tally.Count{Rows: w.Ghosts, Persons: w.Persons}}
}

func newGuardedChanges(tables int) *GuardedChanges {
	return &GuardedChanges{Tables: make([]GuardedTable, tables)}
}

func (c *GuardedChanges) of(table int) *GuardedTable {
	if table == Root {
		return &c.Root
	}
	return &c.Tables[table]
}

// takeChanges returns the changes and forgets them.
func (g *Guarded) takeChanges() *GuardedChanges {
	changes := g.changes
	for table := Root; table < len(g.tables); table++ {
		of := changes.of(table)
		of.Moved = g.takeTouched(table)
		sort.Sort(byGone{&of.TableChanges})
		of.Left = latest(of.Left)
	}
	g.changes = newGuardedChanges(len(g.tables))
	return changes
}

// takeTouched are the rows of a table whose Place may have changed, in ascending order, and forgets them.
func (g *Guarded) takeTouched(table int) (moved []incremental.RecordID) {
	g.recount(table)
	for slot := range g.touched[table+1] {
		moved = append(moved, g.relation(table).ids[slot])
	}
	g.touched[table+1] = make(map[int32]struct{})
	slices.Sort(moved)
	return moved
}

// Note returns what a store has to know of a table's changes if nothing is to be published yet: the
// rows whose Place may have changed, those that have become ghosts, and weights that only the store
// needs. GuardedCoarser.Note then returns the same for coarser releases.
func (g *Guarded) Note(table int) (noted GuardedTable) {
	g.note(table)
	noted.weigh(g.shown.of(table).tally.Note())
	noted.Moved = g.takeTouched(table)
	of := g.changes.of(table)
	noted.Left, of.Left = latest(of.Left), nil
	return noted
}

// byGone orders the rows that vanish, with what they belonged to.
type byGone struct{ *TableChanges }

func (g byGone) Len() int           { return len(g.Gone) }
func (g byGone) Less(i, j int) bool { return g.Gone[i] < g.Gone[j] }
func (g byGone) Swap(i, j int) {
	g.Gone[i], g.Gone[j] = g.Gone[j], g.Gone[i]
	g.GoneOf[i], g.GoneOf[j] = g.GoneOf[j], g.GoneOf[i]
}

// latest has the last entry of each row, by number.
func latest(left []LeftRow) []LeftRow {
	slices.Reverse(left)
	slices.SortStableFunc(left, func(a, b LeftRow) int { return cmp.Compare(a.Row, b.Row) })
	return slices.CompactFunc(left, func(a, b LeftRow) bool { return a.Row == b.Row })
}

// depart makes a row a ghost, and notes it.
func (g *Guarded) depart(table int, at int32, key Key) {
	rows, left := g.shown.of(table).rows, &g.changes.of(table).Left
	if other := g.shown.depart(table, at, key); other != none {
		*left = append(*left, LeftRow{Row: rows[other].id})
	}
	*left = append(*left, LeftRow{Row: rows[at].id, Key: key})
	g.tell(moved{table, rows[at].id, false})
}

// tell informs the coarser releases who leaves and comes back.
func (g *Guarded) tell(m moved) {
	if len(g.coarser) > 0 {
		g.moves = append(g.moves, m)
	}
}

// Place is where a row stands.
type Place struct {
	// Row is the published row that stands for it, by the ID of the record that this was
	// published for; 0 for none.
	Row incremental.RecordID
	// Since is when the row began to wait; zero if it does not wait, as below persons who are not
	// published.
	Since time.Time
	// Pooling says that it waits for others without keys, Withheld that it is not published
	// for good, and Stale that its published row shows it as it was.
	Pooling, Withheld, Stale bool
}

// Place is where a row stands now; nowhere for one that does not exist.
func (g *Guarded) Place(table int, id incremental.RecordID) (p Place) {
	t, shown := g.relation(table), g.shown.of(table)
	slot := t.find(id)
	if slot == none {
		return p
	}
	if at := shown.bySlot[slot]; at != none {
		p.Row, p.Stale = shown.rows[at].id, shown.rows[at].stale
	}
	queue := &g.rows
	if table == Root {
		queue = &g.persons
	}
	p.Since = queue.since[place{table, slot}]
	p.Pooling, p.Withheld = t.state[slot] == pooledUnset, t.state[slot] == refused
	return p
}

// NextCell is the number that the next cell will get; see Restore.
func (g *Guarded) NextCell() int64 { return g.shown.nextCell }

// KeepsVanished reports whether a store has to keep the rows of a class that have vanished, as
// their values count, until the root rows of the class vanish.
func (g *Guarded) KeepsVanished() bool { return !g.sizeDecides() }

// KeepsValues reports whether a store has to give back the values of rows that are published, here or for others.
func (g *Guarded) KeepsValues() bool { return g.shown.valued }

// Classes is the number of published classes of persons.
func (g *Guarded) Classes() int { return len(g.shown.classes) }
