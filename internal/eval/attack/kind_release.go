package attack

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// kindShown is a row with the values that it had at one time. Attackers are told in which cells of which releases it is, and
// not its values.
type kindShown struct {
	table, row, state int
	person            int
	kindValues
}

// kindView is a cell as a reader sees it in the versions from..until-1. Its rows, places in kindShows.all, ascend.
type kindView struct {
	table       int
	pooled      bool
	from, until int
	rows        []int
}

// kindShows are all rows that were ever shown in releases of one stream.
type kindShows struct {
	world *kindWorld
	each  bool // a row that is shown again in the same state is another one
	all   []kindShown
	place map[kindShown]int
}

func newKindShows(w *kindWorld, each bool) *kindShows {
	return &kindShows{world: w, each: each, place: make(map[kindShown]int)}
}

// placeOf is the place of a row that is to be shown in a state.
func (k *kindShows) placeOf(table, row, state int) int {
	s := kindShown{table: table, row: row, state: state, person: k.world.personOf(table, row)}
	if table != people.Root {
		s.kindValues = k.world.rows[table][row].states[state]
	}
	at, known := k.place[s]
	if !known || k.each {
		at = len(k.all)
		k.place[s] = at
		k.all = append(k.all, s)
	}
	return at
}

// kindRelease is all that readers of one release ever saw.
type kindRelease struct {
	k     int
	shows *kindShows
	views []*kindView
	now   []map[incremental.RecordID]placed // by table, the root's first
	cells []map[int64]*kindView
}

// placed is where a row is shown now.
type placed struct {
	at   int
	cell int64
}

func newKindRelease(shows *kindShows, k int) *kindRelease {
	r := &kindRelease{k: k, shows: shows}
	for range 1 + kindTables {
		r.now, r.cells = append(r.now, make(map[incremental.RecordID]placed)), append(r.cells, make(map[int64]*kindView))
	}
	return r
}

// change takes over what a version has changed of a table. The place of each row that appears is what placeOf tells.
func (r *kindRelease) change(table, version int, c *people.TableChanges, placeOf func(id incremental.RecordID) int) {
	now, cells := r.now[table+1], r.cells[table+1]
	shrunk := make(map[int64]bool)
	for _, id := range c.Gone {
		shrunk[now[id].cell] = true
		delete(now, id)
	}
	for id := range shrunk {
		r.shrink(table, version, id)
	}
	for _, cell := range c.Cells {
		v := &kindView{table: table, pooled: cell.Pooled, from: version, until: never}
		for _, row := range cell.Rows {
			at := placeOf(row.ID)
			now[row.ID] = placed{at, cell.ID}
			v.rows = append(v.rows, at)
		}
		slices.Sort(v.rows)
		cells[cell.ID] = v
		r.views = append(r.views, v)
	}
}

// shrink ends a cell, of which rows are gone, and shows the others on.
func (r *kindRelease) shrink(table, version int, id int64) {
	former := r.cells[table+1][id]
	delete(r.cells[table+1], id)
	v := &kindView{table: table, pooled: former.pooled, from: version, until: never}
	for _, at := range former.rows {
		s := r.shows.all[at]
		if p, stays := r.now[table+1][incremental.RecordID(s.row+1)]; stays && p.cell == id && p.at == at {
			v.rows = append(v.rows, at)
		}
	}
	if former.until = version; former.from == version { // nobody has seen it
		r.views = slices.DeleteFunc(r.views, func(of *kindView) bool { return of == former })
	}
	if len(v.rows) > 0 {
		r.cells[table+1][id] = v
		r.views = append(r.views, v)
	}
}

// last is what readers see who come in the end.
func (r *kindRelease) last() *kindRelease {
	of := &kindRelease{k: r.k, shows: r.shows}
	for _, v := range r.views {
		if v.until == never {
			now := *v
			now.from = 0
			of.views = append(of.views, &now)
		}
	}
	return of
}
