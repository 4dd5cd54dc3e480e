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

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// audienceWorld notes everything that the readers of a coarser release ever saw, and keeps what a store keeps.
type audienceWorld struct {
	w       *guardedWorld
	k       int
	limits  map[string]hierarchy.Coarseness // of what it shows of attributes, by name; nil for none
	stated  privacy.ConstraintSet           // for it, and for those before it
	closed  int                             // groups that show nothing more
	shows   [][]anonymizer.Attribute        // with these; the root's first
	seen    []map[incremental.RecordID]*shownRow
	ever    []*shownRow
	finer   map[*shownRow]*shownRow // what each row shows of the finer release
	waiting []map[int64]people.WaitingCell
	weights []map[int64]people.Weight
}

// audienceRun is a coarser release with the random numbers that it draws.
type audienceRun struct {
	*people.GuardedCoarser
	pcg        *rand.PCG
	pseudonyms uint64
}

func newAudienceWorld(w *guardedWorld, k int) *audienceWorld {
	a := &audienceWorld{w: w, k: k, shows: w.attributes, finer: map[*shownRow]*shownRow{}}
	for range w.attributes {
		a.seen = append(a.seen, map[incremental.RecordID]*shownRow{})
		a.waiting = append(a.waiting, map[int64]people.WaitingCell{})
		a.weights = append(a.weights, map[int64]people.Weight{})
	}
	return a
}

func (a *audienceWorld) start(g *people.Guarded) *audienceRun {
	r := &audienceRun{pcg: rand.NewPCG(a.w.seed, uint64(a.k)), pseudonyms: uint64(a.k) << 40}
	var err error
	r.GuardedCoarser, err = g.AddCoarser(people.CoarserOptions{K: a.k, Constraints: a.stated, Root: a.shows[0], Tables: a.shows[1:], Seed: a.w.seed, Random: rand.New(r.pcg), Pseudonym: func(int) uint64 { r.pseudonyms++; return r.pseudonyms }})
	a.w.must(err)
	return r
}

// limit begins anew with audiences who see less of attributes.
func (w *guardedWorld) limit() {
	finer := w.attributes
	for i, a := range w.audiences {
		a.limits, a.shows = limitsOf[i], w.limitedOf(finer, uint64(1+i))
		finer = a.shows
	}
	w.live, w.pins = w.startGuarded(0), nil
	w.pin()
}

// finerRows are what the release before shows.
func (a *audienceWorld) finerRows(place int) []map[incremental.RecordID]*shownRow {
	if place == 0 {
		return a.w.seen
	}
	return a.w.audiences[place-1].seen
}

// follow has the readers see what has changed, as a store would.
func (a *audienceWorld) follow(place int) {
	w := a.w
	changes := w.live.audiences[place].Changes()
	if w.twin != nil {
		if same := w.twin.audiences[place].Changes(); !reflect.DeepEqual(changes, same) {
			w.t.Fatalf("for k = %d, after a restart:\n%+v\nwithout:\n%+v", a.k, changes, same)
		}
	}
	if w.beside != nil {
		of, same := changes, w.beside.Changes()
		if w.disguised != nil {
			of, same = withoutNames(of), withoutNames(same)
		}
		if !reflect.DeepEqual(of, same) {
			w.t.Fatalf("what follows is\n%+v\nand without the rows\n%+v", of, same)
		}
	}
	a.followGone(changes)
	for table, c := range changes {
		for _, cell := range c.Cells {
			a.followCell(place, table, cell, c.Origin)
		}
		for _, cell := range c.Settled {
			if _, waits := a.waiting[table][cell]; !waits {
				w.t.Fatalf("cell %d of table %d waits no more, and has not waited", cell, table)
			}
			delete(a.waiting[table], cell)
		}
		for _, cell := range c.Waiting {
			a.waiting[table][cell.Cell] = cell
		}
		for _, cell := range c.Withheld {
			if _, waits := a.waiting[table][cell]; !waits {
				w.t.Fatalf("cell %d of table %d is withheld, and has not waited", cell, table)
			}
			a.waiting[table][cell] = people.WaitingCell{Cell: cell, Withheld: true}
			a.close(table, cell)
		}
		a.keep(table, c)
	}
}

// keep stores weights.
func (a *audienceWorld) keep(table int, c people.FollowedTable) {
	for _, weight := range c.Weights {
		if weight.Cells[0] > 0 {
			a.checkWeight(table, weight)
		}
		if a.weights[table][weight.Cells[0]] = weight; weight.Cells[0] < 0 && weight.Ghosts == 0 {
			delete(a.weights[table], weight.Cells[0])
		}
	}
}

// followGone has what is gone vanish, which has to be units of which the finer release shows nothing.
func (a *audienceWorld) followGone(changes []people.FollowedTable) {
	gone := map[*shownRow]bool{}
	for table, c := range changes {
		for i, id := range c.Gone {
			r := a.seen[table][id]
			if r == nil || c.GoneOf[i] != r.Of {
				a.w.t.Fatalf("for k = %d, table %d: row %d vanishes below %d, which is published as %+v", a.k, table, id, c.GoneOf[i], r)
			}
			gone[r] = true
			r.vanished = a.w.version
			delete(a.seen[table], id)
		}
	}
	stays := map[string]bool{}
	for _, rows := range a.seen {
		for _, r := range rows {
			stays[r.unit()] = true
			if r.table > 0 {
				stays[fmt.Sprint("below ", r.class)] = true
			}
		}
	}
	for r := range gone {
		if stays[r.unit()] || r.table == 0 && stays[fmt.Sprint("below ", r.class)] {
			a.w.t.Fatalf("for k = %d, row %d of table %d vanishes, and others of its unit stay", a.k, r.ID, r.table)
		}
		if a.finer[r].vanished == 0 {
			a.w.t.Fatalf("for k = %d, row %d of table %d vanishes before it does in the finer release", a.k, r.ID, r.table)
		}
	}
}

// followCell has a cell appear, which shows rows of the finer release as that shows them, or more coarsely.
func (a *audienceWorld) followCell(place, table int, cell people.PublishedCell, origin map[incremental.RecordID]uint64) {
	fail := func(r people.PublishedRow, what string) {
		a.w.t.Helper()
		a.w.t.Fatalf("for k = %d, table %d, row %+v: %s", a.k, table, r, what)
	}
	finer := a.finerRows(place)
	for _, r := range cell.Rows {
		of := finer[table][r.ID]
		switch {
		case of == nil || of.pooled:
			fail(r, "the finer release does not show it with keys")
		case a.seen[table][r.ID] != nil:
			fail(r, "it is shown twice")
		case r.Own == 0 || r.Own == of.Own || origin[r.ID] != of.Of:
			fail(r, "it has no pseudonym of its own, or another origin")
		}
		for i, attribute := range a.w.attributes[table] {
			if !within(attribute.Hierarchy, of.values[i], cell.Values[i]) {
				fail(r, "it shows more than the finer release")
			}
			if !allows(a.limits[attribute.Name], attribute.Hierarchy, cell.Values[i]) {
				fail(r, fmt.Sprintf("it shows more of the %s than it may: %+v", attribute.Name, cell.Values[i]))
			}
		}
		shown := &shownRow{
			PublishedRow: r, table: table, cell: cell.ID, class: cell.Class, window: cell.Window, values: cell.Values,
			known: of.known, sensitive: of.sensitive, appeared: a.w.version,
		}
		if shown.person = shown; table > 0 {
			parent := a.seen[1+a.w.parents[table]][r.Parent]
			if parent == nil || parent != a.seen[1+a.w.parents[table]][of.parent.ID] {
				fail(r, "it belongs to a row that is not shown")
			}
			shown.parent, shown.person = parent, a.seen[0][of.person.ID]
			switch {
			case shown.person == nil || shown.class != shown.person.class || shown.Member != shown.person.Member || shown.window != of.window:
				fail(r, "it is of another person, or in another window")
			case a.w.parents[table] == people.Root && r.Of != r.Person, a.w.parents[table] != people.Root && (r.Of != parent.Own || r.Person != parent.Person):
				fail(r, "it belongs to another row than its own")
			case a.w.knows.All && r.Person != shown.person.Own:
				fail(r, "it has the pseudonym of another person, though all is known")
			case !slices.ContainsFunc(a.ever, func(p *shownRow) bool { return p.table == 0 && p.class == cell.Class && p.Own == r.Person }):
				fail(r, "its pseudonym is of no member of its group")
			}
		}
		a.finer[shown] = of
		a.seen[table][r.ID] = shown
		a.ever = append(a.ever, shown)
	}
}

// exists reports whether a row stands for somebody in what finer releases show.
func (a *audienceWorld) exists(r *shownRow) bool {
	for place := slices.Index(a.w.audiences, a); place >= 0; place-- {
		r = a.w.audiences[place].finer[r]
		if r.vanished > 0 {
			return false
		}
	}
	return r.exists
}

// checkWeight: a weight follows the ghosts only where k persons' have come or gone, or none is left.
func (a *audienceWorld) checkWeight(table int, now people.Weight) {
	rows, ghosts, persons := 0, 0, map[*shownRow]bool{}
	for _, r := range a.seen[table] {
		if slices.Contains(now.Cells, r.cell) {
			if rows++; !a.exists(r) {
				ghosts++
				persons[r.person] = true
			}
		}
	}
	before := a.weights[table][now.Cells[0]]
	switch {
	case math.Abs(now.Share-float64(rows-now.Ghosts)/float64(rows)) > 1e-9:
		a.w.t.Fatalf("for k = %d, table %d: %+v is said of %d rows", a.k, table, now, rows)
	case now.Ghosts == before.Ghosts:
	case now.Ghosts != 0 && (now.Ghosts != ghosts || now.Persons != len(persons)) || now.Ghosts > 0 && now.Persons < a.k:
		a.w.t.Fatalf("for k = %d, table %d: %+v is said of %d ghosts of %d persons", a.k, table, now, ghosts, len(persons))
	case max(now.Persons, before.Persons)-min(now.Persons, before.Persons) < a.k && ghosts > 0:
		a.w.t.Fatalf("for k = %d, table %d: %+v follows %+v", a.k, table, now, before)
	}
}

// asWorld is a world of those who see the coarser release alone, for the checks of its own readers' release.
func (a *audienceWorld) asWorld() *guardedWorld {
	of := *a.w.world
	of.k, of.attributes = a.k, a.shows
	return &guardedWorld{world: &of, ever: a.ever, seen: a.seen}
}

// judge checks all that was ever shown, alone and with what finer readers saw.
func (a *audienceWorld) judge(place int) error {
	alone := a.asWorld()
	for _, check := range []func() error{alone.crowds, alone.pseudonymsHold, alone.attack, alone.frequenciesHold, a.sumsHold, func() error { return a.wholes(place) }, func() error { return a.pooled(place) }, a.statedHold, func() error { return a.nothingWaitsInVain(place) }} {
		if err := check(); err != nil {
			return fmt.Errorf("for k = %d: %w", a.k, err)
		}
	}
	return nil
}

// sumsHold: weights add up to the rows that stand for somebody, but for fewer than k persons'.
func (a *audienceWorld) sumsHold() error {
	for table, rows := range a.seen {
		share := map[int64]float64{}
		for _, weight := range a.weights[table] {
			for _, cell := range weight.Cells {
				share[cell] = weight.Share
			}
		}
		whole, known := share[0]
		if !known {
			whole = 1
		}
		weighed, there, of := 0.0, 0, map[*shownRow]int{}
		for _, r := range rows {
			own, known := share[r.cell]
			if !known {
				own = 1
			}
			weighed += lineage.Rated(own, whole)
			of[r.person]++
			if a.exists(r) {
				there++
			}
		}
		if live := a.w.live.audiences[slices.Index(a.w.audiences, a)].Live(table - 1); live != there {
			return fmt.Errorf("table %d: %d rows stand for somebody, and %d are said to", table, there, live)
		}
		most := 0
		for _, n := range of {
			most = max(most, n)
		}
		if off := math.Abs(weighed - float64(there)); off > float64((a.k-1)*most)+0.01 {
			return fmt.Errorf("table %d: weights add up to %.2f, and %d rows stand for somebody", table, weighed, there)
		}
	}
	return nil
}

// wholes: what the finer release shows alike is shown alike, or not at all, whatever has happened since.
func (a *audienceWorld) wholes(place int) error {
	finer := a.w.ever
	if place > 0 {
		finer = a.w.audiences[place-1].ever
	}
	shownAs := map[*shownRow]*shownRow{}
	for _, r := range a.ever {
		if a.finer[r].appeared > r.appeared {
			return fmt.Errorf("row %d of table %d appears before it does in the finer release", r.ID, r.table)
		}
		shownAs[a.finer[r]] = r
	}
	cells := map[int64][]*shownRow{}
	for _, r := range finer {
		cells[r.cell] = append(cells[r.cell], r)
	}
	for id, rows := range cells {
		first := shownAs[rows[0]]
		for _, r := range rows {
			of := shownAs[r]
			if (of == nil) != (first == nil) || of != nil && (of.cell != first.cell || of.appeared != first.appeared || of.vanished != first.vanished) {
				return fmt.Errorf("cell %d of the finer release is shown as %+v and %+v", id, first, of)
			}
		}
	}
	return nil
}

// frameOf names what a pseudonym holds in: a class, a window and how often it has vanished before.
func frameOf(r *shownRow) string {
	return fmt.Sprint(r.class, " ", r.window, " ", r.vanished, " ", r.Person)
}

// pooled plays who has all versions of both releases, and is even told which row is which: a pseudonym of the coarser
// one leads to one of the finer one, so that windows, and what comes after a window has vanished, stay as far from each
// other as they are in the finer release. Of a known row, as many pseudonyms remain as there.
func (a *audienceWorld) pooled(place int) error {
	k, leads, cells := a.w.k, map[string]string{}, map[int64][]*shownRow{}
	if place > 0 {
		k = a.w.audiences[place-1].k
	}
	for _, r := range a.ever {
		if r.table == 0 {
			continue
		}
		of := a.finer[r]
		cells[of.cell] = append(cells[of.cell], r)
		if !a.w.knows.All {
			// What has vanished together in the finer release was together; what has not is the frame that is there.
			before, known := leads[frameOf(r)]
			if known && before != frameOf(of) {
				return fmt.Errorf("row %d of table %d: pseudonym %d leads to two of the finer release, %s and %s", r.ID, r.table, r.Person, before, frameOf(of))
			}
			leads[frameOf(r)] = frameOf(of)
		}
	}
	for id, rows := range cells {
		candidates := map[uint64]bool{}
		for _, r := range rows {
			if rows[0].appeared == r.appeared && rows[0].vanished == r.vanished && rows[0].cell == r.cell {
				candidates[a.finer[r].Person] = true
			}
		}
		if len(candidates) < k && !a.w.unknown[rows[0].table] {
			return fmt.Errorf("cell %d of the finer release leaves %d pseudonyms", id, len(candidates))
		}
	}
	return nil
}

// nothingWaitsInVain: classes that are enough are a group, and cells of enough classes are a cell.
func (a *audienceWorld) nothingWaitsInVain(place int) error {
	finer, before := a.finerRows(place), a.w.k
	if place > 0 {
		before = a.w.audiences[place-1].k
	}
	least := (a.k + before - 1) / before
	waiting, below := map[int64]bool{}, map[string]map[int64]bool{}
	over := map[string]bool{}
	for _, rows := range a.seen {
		for _, r := range rows {
			if of := a.finer[r]; of.vanished > 0 {
				over[fmt.Sprint(of.class, " ", of.window)] = true
			}
		}
	}
	for table, rows := range finer {
		for id, r := range rows {
			switch {
			case r.pooled || a.seen[table][id] != nil || a.waiting[table][r.cell].Withheld:
			case table == 0:
				waiting[r.class] = true
			default:
				parent := a.seen[1+a.w.parents[table]][r.parent.ID]
				if parent == nil || over[fmt.Sprint(r.class, " ", r.window)] || a.w.knows.All {
					continue
				}
				of := fmt.Sprint(table, " ", parent.cell, " ", r.window)
				if below[of] == nil {
					below[of] = map[int64]bool{}
				}
				below[of][r.class] = true
			}
		}
	}
	if len(waiting) >= least {
		return fmt.Errorf("%d classes wait", len(waiting))
	}
	for of, classes := range below {
		if len(classes) >= least {
			return fmt.Errorf("cells of %d classes wait: %s", len(classes), of)
		}
	}
	return nil
}

// stored is what a store has.
func (a *audienceWorld) stored() (stored []people.StoredCoarser) {
	for table := range a.seen {
		var of people.StoredCoarser
		for _, r := range a.seen[table] {
			of.Rows = append(of.Rows, people.StoredRow{PublishedRow: r.PublishedRow, Cell: r.cell, Class: r.class, Window: r.window, Sensitive: r.sensitive})
		}
		for _, weight := range a.weights[table] {
			of.Weights = append(of.Weights, weight)
		}
		for _, cell := range a.waiting[table] {
			of.Waiting = append(of.Waiting, cell)
		}
		stored = append(stored, of)
	}
	return stored
}

func (a *audienceWorld) restart(next, live *audienceRun) {
	a.w.must(next.Load(a.stored()))
	state, err := live.pcg.MarshalBinary()
	a.w.must(err)
	a.w.must(next.pcg.UnmarshalBinary(state))
	next.pseudonyms = live.pseudonyms
	for table := range a.seen {
		if x, y := next.Freshness(table-1), live.Freshness(table-1); x != y {
			a.w.t.Fatalf("for k = %d, table %d: %+v after a restart, %+v without", a.k, table, x, y)
		}
	}
}

// crowd has many rows come, so that most classes have some in each window.
func (w *guardedWorld) crowd(table, rows int) {
	for range rows {
		r := w.newRow(table)
		w.must(w.Insert(table-1, r))
		w.source[table][r.ID] = r
	}
}

// empty deletes all that is published of a class in a window, so that this vanishes, though persons stay.
func (w *guardedWorld) empty() {
	var rows []*shownRow
	for _, of := range w.seen[1:] {
		for _, id := range slices.Sorted(maps.Keys(of)) {
			if !of[id].pooled {
				rows = append(rows, of[id])
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	unit := rows[w.random.IntN(len(rows))].unit()
	for table := len(w.source) - 1; table > 0; table-- {
		for _, id := range slices.Sorted(maps.Keys(w.source[table])) {
			if r := w.records[table][id]; r != nil && r.vanished == 0 && r.unit() == unit {
				w.must(w.Delete(table-1, id))
				delete(w.source[table], id)
			}
		}
	}
}

// changeSome has up to nine rows change, and in one of so many rounds what is published of a class in a window vanish.
func (w *guardedWorld) changeSome(rounds int) {
	for range w.random.IntN(10) {
		w.change()
	}
	if w.random.IntN(rounds) == 0 {
		w.empty()
	}
}

// happen lets a history happen in which classes stay, and windows come and go.
func (w *guardedWorld) happen(rounds int) {
	w.fill()
	w.crowd(1, 250)
	many, more := 250, 15
	if w.alpha < 1 || w.l > 0 { // a person has not all values
		many, more = 20, 4
		w.crowd(0, 60)
	}
	w.crowd(2, many)
	for round := range rounds {
		w.publishAndJudge(round)
		if w.random.IntN(8) == 0 {
			w.restart()
		}
		w.changeSome(3)
		w.crowd(1, w.random.IntN(30))
		w.crowd(2, w.random.IntN(more))
		if more == 4 {
			w.crowd(3, w.random.IntN(25))
		}
		if w.random.IntN(12) == 0 {
			w.note()
			w.restart()
		}
		w.now = w.now.Add(time.Duration(w.random.IntN(80)) * time.Minute)
	}
}

// allows reports whether limits allow to show a generalization: of numbers that are whole, and dates.
func allows(limits hierarchy.Coarseness, h hierarchy.Hierarchy, g hierarchy.Generalization) bool {
	if g.Hidden || limits.IsZero() {
		return true
	}
	first, last := h.Encode(g.Lower), h.Encode(g.Upper)
	for _, step := range limits.Steps {
		if last-first == step-1 && math.Mod(first, step) == 0 {
			return true
		}
	}
	day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(first))
	for _, unit := range limits.Units {
		months := map[hierarchy.Unit]int{hierarchy.Month: 1, hierarchy.Quarter: 3, hierarchy.Year: 12}[unit]
		if day.Day() == 1 && (int(day.Month())-1)%months == 0 && day.AddDate(0, months, -1).Equal(day.AddDate(0, 0, int(last-first))) {
			return true
		}
	}
	return false
}

// TestCoarserGuardedHolds: whatever happens to the tables, what an audience has ever seen satisfies the guarantee for its
// own k, and together with what finer readers have seen it tells what these know alone. Half of the audiences see less of
// attributes.
func TestCoarserGuardedHolds(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]guardedSetting{
		"one row":             {people.Knows{Crowd: 2}, 2, 1, 0, false},
		"one row, crowd of 1": {people.Knows{Crowd: 1}, 3, 1, 0, false},
		"one row, deep":       {people.Knows{Crowd: 1}, 2, 1, 0, true},
		"all":                 {people.Knows{All: true}, 2, 1, 0, false},
		"all, deep":           {people.Knows{All: true}, 1, 1, 0, true},
		"one row, alpha":      {people.Knows{Crowd: 3}, 2, 0.6, 0, false},
		"one row, deep, l":    {people.Knows{Crowd: 2}, 1, 0.8, 2, true},
		"all, alpha and l":    {people.Knows{All: true}, 1, 0.7, 2, false},
	} {
		seeds := uint64(*guardedSeeds) * 2
		if s.alpha < 1 {
			seeds /= 2
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				w := newGuardedWorld(t, seed, s.knows, s.windows, s.alpha, s.l, 6, 13)
				if seed%4 >= 2 {
					w.limit()
				}
				if w.deep = s.deep; seed%2 == 0 {
					w.happen(40)
				} else {
					w.liveThrough(40, 30)
				}
				for _, a := range w.audiences {
					of := a.asWorld()
					of.places = w.places
					t.Log(a.k, of.figures(), a.withheld())
				}
			})
		}
	}
}

// storedCopy is a copy that can be spoiled.
func storedCopy(of []people.StoredCoarser) []people.StoredCoarser {
	of = slices.Clone(of)
	for i := range of {
		of[i].Rows, of[i].Weights, of[i].Waiting = slices.Clone(of[i].Rows), slices.Clone(of[i].Weights), slices.Clone(of[i].Waiting)
		slices.SortFunc(of[i].Rows, func(a, b people.StoredRow) int { return int(a.ID - b.ID) })
	}
	return of
}

// TestCoarserGuardedRefusesWhatDoesNotFit spoils what a store has of a coarser release.
func TestCoarserGuardedRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newGuardedWorld(t, 1, people.Knows{Crowd: 1}, 2, 1, 0, 6)
	w.happen(8)
	a := w.audiences[0]
	visits := len(a.seen[1])
	if visits < 10 || len(a.waiting[1]) == 0 {
		t.Fatalf("%d visits are shown, and %d cells wait", visits, len(a.waiting[1]))
	}
	for name, spoil := range map[string]func(root, visits *people.StoredCoarser){
		"a person is missing":     func(root, _ *people.StoredCoarser) { root.Rows = root.Rows[1:] },
		"a visit is missing":      func(_, visits *people.StoredCoarser) { visits.Rows = visits.Rows[1:] },
		"a visit is there twice":  func(_, visits *people.StoredCoarser) { visits.Rows = append(visits.Rows, visits.Rows[0]) },
		"another person's visit":  func(_, visits *people.StoredCoarser) { visits.Rows[0].Member++ },
		"another window":          func(_, visits *people.StoredCoarser) { visits.Rows[0].Window = 1 - visits.Rows[0].Window },
		"another pseudonym":       func(_, visits *people.StoredCoarser) { visits.Rows[0].Person++ },
		"another cell":            func(_, visits *people.StoredCoarser) { visits.Rows[0].Cell += 1000 },
		"another group":           func(_, visits *people.StoredCoarser) { visits.Rows[0].Class += 1000 },
		"belongs to another":      func(_, visits *people.StoredCoarser) { visits.Rows[0].Parent++ },
		"what waits is missing":   func(_, visits *people.StoredCoarser) { visits.Waiting = visits.Waiting[1:] },
		"what waits is not there": func(_, visits *people.StoredCoarser) { visits.Waiting[0].Cell += 1000 },
		"it shows too little":     func(_, visits *people.StoredCoarser) { visits.Waiting[0].Values = nil },
		"pooled rows":             func(_, visits *people.StoredCoarser) { visits.Rows[0].Pooled = true },
	} {
		t.Run(name, func(t *testing.T) {
			stored := storedCopy(a.stored())
			spoil(&stored[0], &stored[1])
			next := w.startGuarded(0)
			w.restore(next.Guarded)
			if err := next.audiences[0].Load(stored); err == nil {
				t.Error("it is loaded")
			}
		})
	}
	next := w.startGuarded(0)
	w.restore(next.Guarded)
	if err := next.audiences[0].Load(storedCopy(a.stored())); err != nil {
		t.Error(err)
	}
	if err := next.audiences[0].Load(a.stored()); err == nil {
		t.Error("it is loaded twice")
	}
}

// TestCoarserGuardedRefusesValues: constraints that need not hold for what is shown first have no release for others follow, nor have bounds on
// values of root records.
func TestCoarserGuardedRefusesValues(t *testing.T) {
	t.Parallel()
	shape := people.Shape{RootSensitive: 1, Tables: []people.TableShape{{Name: "visits", Parent: people.Root, Order: -1, Sensitive: 1}}}
	for _, c := range []struct {
		constraint privacy.Constraint
		follows    bool
	}{
		{privacy.DistinctDiversity{L: 2}, true},
		{privacy.DistinctDiversity{L: 2, Attribute: 1}, true},
		{privacy.AlphaBound{Alpha: 0.5, Attribute: 1}, true},
		{privacy.AlphaBound{Alpha: 0.5}, false},
		{privacy.EntropyDiversity{L: 2, Attribute: 1}, false},
		{privacy.RecursiveDiversity{C: 2, L: 2, Attribute: 1}, false},
	} {
		g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 3}, c.constraint}, people.Knows{Crowd: 2}, people.GuardedOptions{MaintainedOptions: people.MaintainedOptions{Method: method}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.AddCoarser(people.CoarserOptions{K: 9}); (err == nil) != c.follows {
			t.Errorf("%v: %v", c.constraint, err)
		}
	}
}

// withheld counts the cells of the release before that are never shown.
func (a *audienceWorld) withheld() (n int) {
	for _, cells := range a.waiting {
		for _, cell := range cells {
			if cell.Withheld {
				n++
			}
		}
	}
	return n
}

// within reports whether a generalization says no less than another one.
func within(h hierarchy.Hierarchy, finer, coarser hierarchy.Generalization) bool {
	if coarser.Hidden || finer.Hidden {
		return coarser.Hidden
	}
	return h.Encode(coarser.Lower) <= h.Encode(finer.Lower) && h.Encode(finer.Upper) <= h.Encode(coarser.Upper)
}

// TestCoarserGuardedIsOfTheFiner: a release that is told what the finer one publishes, and who leaves and comes back, and
// has none of the rows, is the same to the last pseudonym. So nothing else decides what an audience sees.
func TestCoarserGuardedIsOfTheFiner(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		knows, alpha := people.Knows{Crowd: 1, All: seed%3 == 2}, 1.0
		if seed >= 3 {
			knows.Crowd, alpha = 3, 0.7
		}
		w := newGuardedWorld(t, seed, knows, 2, alpha, 0, 6)
		if w.deep = true; seed%2 == 1 {
			w.limit()
		}
		blind := w.startGuarded(0)
		w.beside = blind.audiences[0].GuardedCoarser
		w.fill()
		w.crowd(1, 250)
		for range 30 {
			w.publish()
			for range w.random.IntN(40) {
				w.change()
			}
			w.now = w.now.Add(30 * time.Minute)
		}
		if shown := len(w.audiences[0].ever); shown < 100 {
			t.Errorf("%d rows were shown", shown)
		}
	}
}
