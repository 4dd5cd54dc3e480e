package people_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// guardedWorld is a world that a guarded release follows. It notes everything that readers
// ever saw, and keeps what a store keeps.
type guardedWorld struct {
	*world
	seed    uint64
	now     time.Time
	version int // publications so far
	live    *guardedRun
	twin    *guardedRun // the release from before a restart, which has to behave alike
	options people.GuardedOptions
	pins    []pinnedRow
	deep    bool // many rows come below published ones
	l       int  // distinct values of the first sensitive attribute, 0 for any number

	seen    []map[incremental.RecordID]*shownRow // that is published, by table and number
	ever    []*shownRow
	records []map[incremental.RecordID]*shownRow // which has shown each row
	ghosts  []map[people.Key]*shownRow
	left    [][]people.Row // deleted rows, which may come back
	fresh   []map[incremental.RecordID]bool
	came    int
	places  []map[incremental.RecordID]people.Place
	keys    []map[incremental.RecordID]people.Key // of ghosts, as a store has them
	weights []map[int64]people.Weight             // by table and first cell

	audiences []*audienceWorld                                    // the finest first
	beside    *people.GuardedCoarser                              // of no rows, which has to be as that of the first audience
	disguised func(*people.GuardedChanges) *people.GuardedChanges // what it is told of what is published; nil for all
}

// guardedRun is a release with the random numbers that it draws.
type guardedRun struct {
	*people.Guarded
	pcg        *rand.PCG
	pseudonyms uint64
	audiences  []*audienceRun
}

type pinnedRow struct {
	table int
	row   people.Row
}

// shownRow is a row that was published once.
type shownRow struct {
	people.PublishedRow
	table              int
	cell               int64
	class              int64
	window             int32
	pooled             bool
	values             []hierarchy.Generalization
	known              []hierarchy.Cell // what the row was
	sensitive          []uint32
	appeared, vanished int
	parent             *shownRow
	person             *shownRow // its root row, or where it was pooled the person's
	somebody           incremental.RecordID
	exists             bool // it stands for a row
}

var guardedStart = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func newGuardedWorld(t *testing.T, seed uint64, knows people.Knows, windows int32, alpha float64, l int, audiences ...int) *guardedWorld {
	t.Helper()
	w := &guardedWorld{world: newWorld(t, seed, 3, knows, windows, alpha), now: guardedStart, l: l}
	if l > 0 {
		w.constraints = append(w.constraints, privacy.DistinctDiversity{L: l})
	}
	w.options = people.GuardedOptions{Batch: 8 + int(seed), Within: time.Hour, RowsWithin: 3 * time.Hour, Rows: int(seed % 5)}
	if seed%2 == 0 {
		w.options.Least = 7
	}
	w.follows = w
	w.seed = seed
	for _, k := range audiences {
		w.audiences = append(w.audiences, newAudienceWorld(w, k))
	}
	w.live = w.startGuarded(0)
	for range w.attributes {
		w.seen = append(w.seen, map[incremental.RecordID]*shownRow{})
		w.records = append(w.records, map[incremental.RecordID]*shownRow{})
		w.ghosts = append(w.ghosts, map[people.Key]*shownRow{})
		w.fresh = append(w.fresh, map[incremental.RecordID]bool{})
		w.places = append(w.places, map[incremental.RecordID]people.Place{})
		w.keys = append(w.keys, map[incremental.RecordID]people.Key{})
		w.weights = append(w.weights, map[int64]people.Weight{})
	}
	w.left = make([][]people.Row, len(w.attributes))
	w.pin()
	return w
}

func (w *guardedWorld) startGuarded(pseudonyms uint64) *guardedRun {
	r := &guardedRun{pcg: rand.NewPCG(w.seed, 9), pseudonyms: pseudonyms}
	o := w.options
	o.MaintainedOptions = people.MaintainedOptions{Method: method, Seed: w.seed, Random: rand.New(r.pcg), Pseudonym: func(int) uint64 { r.pseudonyms++; return r.pseudonyms }}
	g, err := people.NewGuarded(w.shape, w.constraints, w.knows, o)
	w.must(err)
	r.Guarded = g
	for _, a := range w.audiences {
		r.audiences = append(r.audiences, a.start(g))
	}
	return r
}

// pin inserts rows of nobody with the least and greatest values, so that losses are measured
// alike after a restart.
func (w *guardedWorld) pin() {
	for table := 1; table < len(w.attributes); table++ {
		for i, value := range []float64{0, 99} {
			r := people.Row{ID: incremental.RecordID(1<<50 + i), Sensitive: make([]uint32, sensitiveOf[table])}
			for range w.attributes[table] {
				r.Cells = append(r.Cells, value)
			}
			w.pins = append(w.pins, pinnedRow{table, r})
			w.must(w.live.Insert(table-1, r, w.now))
		}
	}
}

// both has a release, and the one from before a restart, do the same.
func (w *guardedWorld) both(do func(*people.Guarded) error) error {
	err := do(w.live.Guarded)
	if w.twin != nil {
		if other := do(w.twin.Guarded); (other == nil) != (err == nil) {
			w.t.Fatalf("%v after a restart, %v without", err, other)
		}
	}
	return err
}

func (w *guardedWorld) Insert(table int, r people.Row) error {
	w.fresh[table+1][r.ID] = true
	return w.both(func(g *people.Guarded) error { return g.Insert(table, r, w.now) })
}

func (w *guardedWorld) Modify(table int, r people.Row) error {
	if w.source[table+1][r.ID].Key != r.Key {
		w.fresh[table+1][r.ID] = true
	}
	return w.both(func(g *people.Guarded) error { return g.Modify(table, r, w.now) })
}

func (w *guardedWorld) Delete(table int, id incremental.RecordID) error {
	w.gone(table+1, id)
	return w.both(func(g *people.Guarded) error { return g.Delete(table, id, w.now) })
}

func (w *guardedWorld) Truncate(table int) error {
	for _, id := range slices.Sorted(maps.Keys(w.source[table+1])) {
		w.gone(table+1, id)
	}
	err := w.both(func(g *people.Guarded) error { return g.Truncate(table, w.now) })
	for _, pin := range w.pins {
		if pin.table == table+1 {
			w.must(w.both(func(g *people.Guarded) error { return g.Insert(table, pin.row, w.now) }))
		}
	}
	return err
}

// gone notes that a row is deleted.
func (w *guardedWorld) gone(table int, id incremental.RecordID) {
	r := w.source[table][id]
	w.left[table] = append(w.left[table], r)
	delete(w.places[table], id)
	delete(w.fresh[table], id)
	if shown := w.records[table][id]; shown != nil && shown.vanished == 0 {
		shown.exists = false
		if r.Key != (people.Key{}) {
			w.ghosts[table][r.Key] = shown
		}
	}
	delete(w.records[table], id)
}

// change makes a random change of the kinds that operate does not make.
func (w *guardedWorld) change() {
	table := w.random.IntN(len(w.source))
	switch op := w.random.IntN(12); {
	case op < 2 && len(w.left[table]) > 0: // somebody, or something, comes back
		r := w.left[table][max(0, len(w.left[table])-1-w.random.IntN(12))]
		if w.taken(table, r.Key) {
			return
		}
		w.nextID++
		r.ID = w.nextID
		if w.random.IntN(3) == 0 {
			key := r.Key
			w.draw(table, &r)
			r.Key = key
		}
		w.must(w.Insert(table-1, r))
		w.source[table][r.ID] = r
		w.came++
	case op == 2 && len(w.source[table]) > 0: // a row is named otherwise
		r := w.source[table][w.anyRow(table)]
		w.nextID++
		r.Key = people.Key{byte(w.nextID), byte(w.nextID >> 8), byte(w.nextID >> 16), 2}
		if w.random.IntN(3) == 0 && len(w.left[table]) > 0 {
			r.Key = w.left[table][w.random.IntN(len(w.left[table]))].Key
			if w.taken(table, r.Key) {
				return
			}
		}
		w.must(w.Modify(table-1, r))
		w.source[table][r.ID] = r
	case w.deep && op < 6: // a row comes below one that is published, or that one moves
		w.deepen()
	case op < 7: // more come than leave
		if table == 0 && w.random.IntN(2) == 0 {
			table = 1
		}
		r := w.newRow(table)
		w.must(w.Insert(table-1, r))
		w.source[table][r.ID] = r
	default:
		w.operate()
	}
}

// deepen has a row come below a published one of a large cell, or moves this one.
func (w *guardedWorld) deepen() {
	table := []int{1, 1, 2}[w.random.IntN(3)]
	cells := map[int64][]incremental.RecordID{}
	var largest int64
	for _, id := range slices.Sorted(maps.Keys(w.source[table])) {
		shown := w.records[table][id]
		if shown == nil || shown.pooled || shown.vanished > 0 {
			continue
		}
		if cells[shown.cell] = append(cells[shown.cell], id); len(cells[shown.cell]) > len(cells[largest]) {
			largest = shown.cell
		}
	}
	if largest == 0 {
		return
	}
	above := w.source[table][cells[largest][w.random.IntN(len(cells[largest]))]]
	if w.random.IntN(12) == 0 {
		if w.random.IntN(2) == 0 {
			above.Of = w.anyKey(1 + w.parents[table])
		} else if table == 1 {
			above.Window = int32(w.random.IntN(int(w.windows)))
		}
		w.must(w.Modify(table-1, above))
		w.source[table][above.ID] = above
		return
	}
	below := map[int]int{1: 2, 2: 4}[table]
	if w.parents[below] != table-1 {
		return
	}
	r := w.newRow(below)
	r.Of = above.Key
	w.must(w.Insert(below-1, r))
	w.source[below][r.ID] = r
}

func (w *guardedWorld) taken(table int, key people.Key) bool {
	for _, r := range w.source[table] {
		if r.Key == key {
			return true
		}
	}
	return key == people.Key{}
}

// publish has readers see what is due, as a store would.
func (w *guardedWorld) publish() {
	w.version++
	w.expectReturns()
	publish := func() (*people.GuardedChanges, error) { return w.live.Publish(w.t.Context(), w.now) }
	if w.beside != nil {
		publish = func() (*people.GuardedChanges, error) {
			return w.live.PublishBeside(w.t.Context(), w.now, w.beside, w.disguised)
		}
	}
	changes, err := publish()
	w.must(err)
	if w.twin != nil {
		same, err := w.twin.Publish(w.t.Context(), w.now)
		w.must(err)
		if a, b := unmoved(changes), unmoved(same); !reflect.DeepEqual(a, b) {
			w.t.Fatalf("after a restart:\n%+v\nwithout:\n%+v", a, b)
		}
		if !w.live.Due().Equal(w.twin.Due()) {
			w.t.Fatalf("due at %v after a restart, at %v without", w.live.Due(), w.twin.Due())
		}
	}
	if due := w.live.Due(); !due.IsZero() && !due.After(w.now) {
		w.t.Fatalf("at %v, something is due at %v", w.now, due)
	}
	all := append([]people.GuardedTable{changes.Root}, changes.Tables...)
	w.followGone(all)
	for table, c := range all {
		for _, cell := range c.Cells {
			w.followCell(table, cell)
		}
	}
	for table, c := range all {
		w.keep(table, c)
		w.checkSum(table, true)
	}
	for i, a := range w.audiences {
		a.follow(i)
	}
}

// unmoved are changes without the rows that may have moved: not all of those have.
func unmoved(c *people.GuardedChanges) (tables []people.GuardedTable) {
	for _, of := range append([]people.GuardedTable{c.Root}, c.Tables...) {
		of.Moved = nil
		tables = append(tables, of)
	}
	return tables
}

// expectReturns finds the rows that take over ghosts.
func (w *guardedWorld) expectReturns() {
	for table := range w.fresh {
		for _, id := range slices.Sorted(maps.Keys(w.fresh[table])) {
			r := w.source[table][id]
			ghost := w.ghosts[table][r.Key]
			if ghost == nil || ghost.vanished > 0 || ghost.exists || w.records[table][id] != nil || w.places[table][id].Withheld {
				continue
			}
			ghost.exists = true
			w.records[table][id] = ghost
			delete(w.ghosts[table], r.Key)
		}
		clear(w.fresh[table])
	}
}

// followGone has what is gone vanish, which has to be units all of whose rows are ghosts.
func (w *guardedWorld) followGone(all []people.GuardedTable) {
	gone := map[*shownRow]bool{}
	for table, c := range all {
		for i, id := range c.Gone {
			r := w.seen[table][id]
			if r == nil || c.GoneOf[i] != r.Of {
				w.t.Fatalf("table %d: row %d vanishes below %d, which is published as %+v", table, id, c.GoneOf[i], r)
			}
			gone[r] = true
			r.vanished = w.version
			delete(w.seen[table], id)
		}
	}
	stays := map[string]bool{} // units of which a row stays
	for _, rows := range w.seen {
		for _, r := range rows {
			stays[r.unit()] = true
		}
	}
	classes := map[int64]bool{}
	for r := range gone {
		if r.table == 0 {
			classes[r.class] = true
		}
	}
	for r := range gone {
		if stays[r.unit()] || r.class != 0 && classes[r.class] && stays[fmt.Sprint("class ", r.class)] {
			w.t.Fatalf("row %d of table %d vanishes, and others of its unit stay", r.ID, r.table)
		}
		if r.exists && !classes[r.class] {
			w.t.Fatalf("row %d of table %d vanishes, which stands for somebody", r.ID, r.table)
		}
	}
	for r := range gone {
		for id, shown := range w.records[r.table] {
			if shown == r && r.table == 0 {
				w.t.Fatalf("person %d exists and has vanished", id)
			}
		}
	}
}

// unit is what a row vanishes with.
func (r *shownRow) unit() string {
	switch {
	case r.pooled:
		return fmt.Sprint("cell ", r.cell)
	case r.table == 0:
		return fmt.Sprint("class ", r.class)
	}
	return fmt.Sprint("class ", r.class, ", window ", r.window)
}

// followCell has a cell appear, whose rows were never published before.
func (w *guardedWorld) followCell(table int, cell people.PublishedCell) {
	for _, r := range cell.Rows {
		source, exists := w.source[table][r.ID]
		switch {
		case !exists:
			w.t.Fatalf("table %d: row %d is published and does not exist", table, r.ID)
		case w.records[table][r.ID] != nil:
			w.t.Fatalf("table %d: row %d is published twice", table, r.ID)
		}
		shown := &shownRow{
			PublishedRow: r, table: table, cell: cell.ID, class: cell.Class, window: cell.Window, pooled: cell.Pooled, values: cell.Values,
			known: source.Cells, sensitive: source.Sensitive, appeared: w.version, exists: true,
		}
		for a, c := range source.Cells {
			if !covers(w.attributes[table][a].Hierarchy, cell.Values[a], c) {
				w.t.Fatalf("table %d: row %d has %v and shows %v", table, r.ID, c, cell.Values[a])
			}
		}
		shown.somebody, _ = w.person(table, r.ID)
		if shown.person = shown; table > 0 {
			shown.person = w.records[0][shown.somebody]
			shown.parent = w.parentShown(table, source)
		}
		if shown.person == nil {
			w.t.Fatalf("table %d: row %d of nobody who is published is", table, r.ID)
		}
		w.records[table][r.ID], w.seen[table][r.ID] = shown, shown
		w.ever = append(w.ever, shown)
		w.checkKeys(shown, source)
	}
}

// parentShown is the published row that stands for a row's parent.
func (w *guardedWorld) parentShown(table int, r people.Row) *shownRow {
	for id, above := range w.source[1+w.parents[table]] {
		if above.Key == r.Of && r.Of != (people.Key{}) {
			return w.records[1+w.parents[table]][id]
		}
	}
	return nil
}

// checkKeys: a row in a cell belongs to its parent's row, and to a person of its class.
func (w *guardedWorld) checkKeys(r *shownRow, source people.Row) {
	fail := func(format string, args ...any) {
		w.t.Helper()
		w.t.Fatalf("table %d, row %d: %s", r.table, r.ID, fmt.Sprintf(format, args...))
	}
	if r.pooled {
		if r.Own != 0 || r.Of != 0 || r.Person != 0 || r.Parent != 0 || r.class != 0 {
			fail("it is pooled and has keys: %+v", r.PublishedRow)
		}
		return
	}
	if r.Own == 0 || r.class != r.person.class {
		fail("it has no key, or is of class %d, and its person of %d", r.class, r.person.class)
	}
	if r.table == 0 {
		return
	}
	alias := slices.ContainsFunc(w.ever, func(p *shownRow) bool {
		return p.table == 0 && p.class == r.class && p.Own == r.Person && (p == r.person || !w.knows.All)
	})
	switch _, window := w.person(r.table, r.ID); {
	case !alias:
		fail("it has a pseudonym that is of no member of its class")
	case !w.knows.All && window != r.window:
		fail("it lies in window %d, not %d", window, r.window)
	case r.parent == nil || r.parent.vanished > 0 || r.parent.pooled || r.Parent != r.parent.ID:
		fail("it belongs to a row that is not published with keys")
	case w.parents[r.table] == people.Root && (r.Of != r.Person || r.parent != r.person):
		fail("it belongs to another than its person")
	case w.parents[r.table] != people.Root && (r.Of != r.parent.Own || r.class != r.parent.class || r.window != r.parent.window || r.Person != r.parent.Person || r.Member != r.parent.Member):
		fail("it belongs to another row than its own: %+v, not %+v", r, r.parent)
	}
}

// keep stores what changes say, as a store would.
func (w *guardedWorld) keep(table int, c people.GuardedTable) {
	for _, l := range c.Left {
		w.keys[table][l.Row] = l.Key
	}
	for _, id := range c.Moved {
		w.places[table][id] = w.live.Place(table-1, id)
	}
	for _, weight := range c.Weights {
		if weight.Cells[0] > 0 {
			w.checkWeight(table, weight)
		}
		if w.weights[table][weight.Cells[0]] = weight; weight.Cells[0] < 0 && weight.Ghosts == 0 {
			delete(w.weights[table], weight.Cells[0])
		}
	}
	for id, r := range w.source[table] {
		place := w.live.Place(table-1, id)
		if place != w.places[table][id] {
			w.t.Fatalf("table %d: row %d is at %+v, and the store has %+v", table, id, place, w.places[table][id])
		}
		var row incremental.RecordID
		if shown := w.records[table][id]; shown != nil && shown.vanished == 0 {
			row = shown.ID
		}
		if place.Row != row {
			w.t.Fatalf("table %d: row %d %v is published as %d, not as %d", table, id, r.Key, place.Row, row)
		}
	}
}

// note stores what has changed, without publishing.
func (w *guardedWorld) note() {
	for table := range w.source {
		noted := w.live.Note(table - 1)
		if w.twin != nil {
			if same := w.twin.Note(table - 1); !reflect.DeepEqual(noted.Left, same.Left) {
				w.t.Fatalf("after a restart, %+v is noted, without %+v", noted, same)
			}
		}
		w.keep(table, noted)
		for i, a := range w.audiences {
			if w.twin != nil {
				w.twin.audiences[i].Note(table - 1)
			}
			a.keep(table, w.live.audiences[i].Note(table-1))
		}
	}
}

// checkWeight: a weight follows the ghosts only where k persons' have come or gone, or none is
// left.
func (w *guardedWorld) checkWeight(table int, now people.Weight) {
	rows, ghosts, persons := 0, 0, map[*shownRow]bool{}
	for _, r := range w.seen[table] {
		if slices.Contains(now.Cells, r.cell) {
			if rows++; !r.exists {
				ghosts++
				persons[r.person] = true
			}
		}
	}
	before := w.weights[table][now.Cells[0]]
	switch {
	case now.Share != float64(rows-now.Ghosts)/float64(rows):
		w.t.Fatalf("table %d: %+v is said of %d rows", table, now, rows)
	case now.Ghosts == before.Ghosts: // more rows have come
	case now.Ghosts != 0 && (now.Ghosts != ghosts || now.Persons != len(persons)) || now.Ghosts > 0 && now.Persons < w.k:
		w.t.Fatalf("table %d: %+v is said of %d ghosts of %d persons", table, now, ghosts, len(persons))
	case max(now.Persons, before.Persons)-min(now.Persons, before.Persons) < w.k && ghosts > 0:
		w.t.Fatalf("table %d: %+v follows %+v", table, now, before)
	}
}

// checkSum compares the sum of a table's weights with the rows that stand for somebody, and with how wrong
// it is said to be. Once what has changed is published, it is wrong by the rows of less than k persons, but
// in the pool.
func (w *guardedWorld) checkSum(table int, published bool) {
	share := make(map[int64]float64)
	for _, weight := range w.weights[table] {
		for _, cell := range weight.Cells {
			share[cell] = weight.Share
		}
	}
	whole, known := share[0]
	if !known {
		whole = 1
	}
	weighed, pooled, of, there := 0.0, 0, make(map[*shownRow]int), 0
	for _, r := range w.seen[table] {
		own, known := share[r.cell]
		if !known {
			own = 1
		}
		weighed += lineage.Rated(own, whole)
		of[r.person]++
		switch {
		case r.exists:
			there++
		case r.pooled:
			pooled++
		}
	}
	most := 0
	for _, rows := range of {
		most = max(most, rows)
	}
	if off := math.Abs(weighed - float64(there)); published && off > float64((w.k-1)*most+pooled)+0.01 {
		w.t.Fatalf("table %d: weights add up to %.2f, and %d rows stand for somebody", table, weighed, there)
	}
	if f := w.live.Freshness(table - 1); math.Abs(float64(f.Untold)-(weighed-float64(there))) > 0.51 {
		w.t.Fatalf("table %d: %+v, but weights add up to %.2f for %d rows", table, f, weighed, there)
	}
}

// restart begins anew with what a store has, in any order, beside the release as it is.
func (w *guardedWorld) restart() {
	next := w.startGuarded(w.live.pseudonyms)
	w.restore(next.Guarded)
	state, err := w.live.pcg.MarshalBinary()
	w.must(err)
	w.must(next.pcg.UnmarshalBinary(state))
	for i, a := range w.audiences {
		a.restart(next.audiences[i], w.live.audiences[i])
	}
	w.twin, w.live = w.live, next
	for table := range w.source {
		if a, b := w.live.Freshness(table-1), w.twin.Freshness(table-1); a != b {
			w.t.Fatalf("table %d: %+v after a restart, %+v without", table, a, b)
		}
		w.checkSum(table, false)
	}
}

func (w *guardedWorld) restore(g *people.Guarded) {
	restoring, err := g.Restore(w.live.NextCell())
	w.must(err)
	for _, i := range w.random.Perm(len(w.ever)) {
		r := w.ever[i]
		classGone := r.class != 0 && !slices.ContainsFunc(w.ever, func(p *shownRow) bool { return p.table == 0 && p.class == r.class && p.vanished == 0 })
		if r.vanished > 0 && (!g.KeepsVanished() || r.pooled || classGone) {
			continue
		}
		restoring.Row(r.table-1, people.StoredRow{
			PublishedRow: r.PublishedRow, Cell: r.cell, Class: r.class, Window: r.window, Pooled: r.pooled, Sensitive: r.sensitive,
			Key: w.keys[r.table][r.ID], Vanished: r.vanished > 0,
		})
	}
	for _, table := range w.random.Perm(len(w.source)) {
		for _, id := range slices.Sorted(maps.Keys(w.source[table])) {
			w.must(restoring.Record(table-1, w.source[table][id], w.places[table][id]))
		}
	}
	for _, pin := range w.pins {
		w.must(restoring.Record(pin.table-1, pin.row, people.Place{}))
	}
	for table, weights := range w.weights {
		for _, weight := range weights {
			restoring.Weight(table-1, weight)
		}
	}
	w.must(restoring.End(w.now))
}
