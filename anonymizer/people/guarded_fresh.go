package people

import (
	"math"
	"time"
)

// Freshness reports how far the publication of a table is behind its rows. It is for the operator:
// that one more row waits would reveal the row to a reader.
type Freshness struct {
	Waiting  int // rows that were never published; without those below persons who are not
	Pooling  int // those of them that wait for others without keys
	Withheld int // rows that are not published for good
	Stale    int // rows that are published as they were
	Ghosts   int // published rows that stand for nobody
	Untold   int // how many more rows weights count than stand for somebody; below 0 fewer
	Rows     int // published rows
}

// Freshness counts. It takes time for each row that has changed since the last Publish.
func (g *Guarded) Freshness(table int) Freshness {
	g.recount(table)
	f := g.counts[table+1].sum
	f.Ghosts = g.shown.of(table).departed
	f.Untold = f.Ghosts - int(math.Round(g.shown.of(table).tally.LeftOut()))
	f.Rows += f.Ghosts
	return f
}

// OldestWaiting is since when a person has waited or, for a table other than the root, since when a
// row of any of these persons has. It is zero if none does.
func (g *Guarded) OldestWaiting(table int) time.Time {
	if table == Root {
		return g.persons.oldest()
	}
	return g.rows.oldest()
}

// Least is the least number of persons that are tried as a batch.
func (g *Guarded) Least() int { return g.options.Least }

// counted are the rows of a table, by what they are.
type counted struct {
	sum Freshness
	as  []standing // by slot: what a row was counted as
}

// standing is what a row is, as far as it counts.
type standing uint8

const (
	countsNot standing = iota
	countsWaiting
	countsPooling
	countsWithheld
	countsShown
	countsStale
)

// count counts a row anew, as what it is now.
func (g *Guarded) count(at place, as standing) {
	t := &g.counts[at.table+1]
	for int(at.slot) >= len(t.as) {
		t.as = append(t.as, countsNot)
	}
	t.sum.add(t.as[at.slot], -1)
	t.as[at.slot] = as
	t.sum.add(as, 1)
}

func (f *Freshness) add(as standing, n int) {
	switch as {
	case countsNot:
	case countsPooling:
		f.Pooling += n
		f.Waiting += n
	case countsWaiting:
		f.Waiting += n
	case countsWithheld:
		f.Withheld += n
	case countsStale:
		f.Stale += n
		f.Rows += n
	case countsShown:
		f.Rows += n
	}
}

// standing is what a row is now.
func (g *Guarded) standing(at place) standing {
	t, shown := g.relation(at.table), g.shown.of(at.table)
	switch state := t.state[at.slot]; {
	case t.ids[at.slot] == 0:
		return countsNot
	case state == waits:
		return countsWaiting
	case state == pooledUnset:
		return countsPooling
	case state == refused:
		return countsWithheld
	case state.published() && shown.rows[shown.bySlot[at.slot]].stale:
		return countsStale
	case state.published():
		return countsShown
	}
	return countsNot
}

// recount counts the rows of a table that may have changed.
func (g *Guarded) recount(table int) {
	for slot := range g.touched[table+1] {
		at := place{table, slot}
		g.count(at, g.standing(at))
	}
}

// countAll counts all rows.
func (g *Guarded) countAll() {
	for table := Root; table < len(g.tables); table++ {
		for slot := range g.relation(table).ids {
			at := place{table, int32(slot)}
			g.count(at, g.standing(at))
		}
	}
}
