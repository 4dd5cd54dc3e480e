package people_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// state begins anew with audiences that state constraints: each one more than the one before.
func (w *guardedWorld) state(stated ...privacy.Constraint) {
	for i, a := range w.audiences {
		a.stated = append(privacy.ConstraintSet{}, stated[:min(len(stated), i+1)]...)
	}
	w.live, w.pins = w.startGuarded(0), nil
	w.pin()
}

// close notes that a group shows nothing more, which is said by a cell with its number: it is one, all is known, and something below its persons
// has vanished.
func (a *audienceWorld) close(table int, cell int64) {
	if table > 0 || !slices.ContainsFunc(a.ever, func(r *shownRow) bool { return r.table == 0 && r.class == cell }) {
		return
	}
	if !a.w.knows.All || !slices.ContainsFunc(a.ever, func(r *shownRow) bool { return r.table > 0 && r.class == cell && r.vanished > 0 }) {
		a.w.t.Fatalf("for k = %d, group %d shows nothing more", a.k, cell)
	}
	a.closed++
}

// statedHold: after this version, as after each, the persons of a group, and those of each cell of which an outsider may know a row, satisfy what is
// stated with all values that were ever shown of them in a window, until everything in it vanished; where all is known, with all that were ever shown. It
// counts rows, and shares nothing with what it judges.
func (a *audienceWorld) statedHold() error {
	if len(a.stated) == 0 {
		return nil
	}
	frames, roots := map[string][]*shownRow{}, map[int64]int{}
	frameOf := func(r *shownRow) string {
		if a.w.knows.All {
			return fmt.Sprint(r.class)
		}
		return fmt.Sprint(r.unit(), " ", r.vanished)
	}
	cells := map[int64][]*shownRow{}
	for _, r := range a.ever {
		if r.table == 0 {
			roots[r.class]++
			continue
		}
		frames[frameOf(r)] = append(frames[frameOf(r)], r)
		if !a.w.knows.All && !a.w.unknown[r.table] {
			cells[r.cell] = append(cells[r.cell], r)
		}
	}
	for frame, rows := range frames {
		if err := a.holds(rows, roots[rows[0].class]); err != nil {
			return fmt.Errorf("window %s: %w", frame, err)
		}
	}
	for id, cell := range cells {
		persons := map[*shownRow]bool{}
		for _, r := range cell {
			persons[r.person] = true
		}
		of := slices.DeleteFunc(slices.Clone(frames[frameOf(cell[0])]), func(r *shownRow) bool { return !persons[r.person] })
		if err := a.holds(of, len(persons)); err != nil {
			return fmt.Errorf("cell %d: %w", id, err)
		}
	}
	return nil
}

// holds judges what is stated by the values that rows of some persons show.
func (a *audienceWorld) holds(rows []*shownRow, persons int) error {
	for _, constraint := range a.stated {
		switch c := constraint.(type) {
		case privacy.AlphaBound:
			for code, by := range holdersOf(rows, 2+c.Attribute) {
				if float64(len(by)) > c.Alpha*float64(persons)+1e-9 {
					return fmt.Errorf("%v: %d of %d persons have value %d", c, len(by), persons, code)
				}
			}
		case privacy.DistinctDiversity:
			holders := holdersOf(rows, 2+c.Attribute)
			if len(holders) == 0 {
				continue // nothing of it is shown
			}
			if len(holders) < c.L || c.L == 2 && slices.ContainsFunc(valuesOfHolders(holders), func(code uint32) bool { return len(holders[code]) == persons }) {
				return fmt.Errorf("%v: %d persons have %d values, or one that all have", c, persons, len(holders))
			}
		}
	}
	return nil
}

// holdersOf are who has each value of a table, of which each row has one.
func holdersOf(rows []*shownRow, table int) map[uint32]map[*shownRow]bool {
	holders := map[uint32]map[*shownRow]bool{}
	for _, r := range rows {
		if r.table != table {
			continue
		}
		if holders[r.sensitive[0]] == nil {
			holders[r.sensitive[0]] = map[*shownRow]bool{}
		}
		holders[r.sensitive[0]][r.person] = true
	}
	return holders
}

func valuesOfHolders(holders map[uint32]map[*shownRow]bool) (codes []uint32) {
	for code := range holders {
		codes = append(codes, code)
	}
	return codes
}

// TestCoarserGuardedHoldsWhatIsStated: whatever happens to the tables, what audiences state holds in all that they see, besides all that holds without it
// (TestCoarserGuardedHolds): the tables' own readers are promised k alone, or less of values.
func TestCoarserGuardedHoldsWhatIsStated(t *testing.T) {
	t.Parallel()
	bound, diverse := privacy.AlphaBound{Alpha: 0.45, Attribute: 1}, privacy.DistinctDiversity{L: 3, Attribute: 1}
	below := privacy.AlphaBound{Alpha: 0.5}
	for name, s := range map[string]struct {
		knows  people.Knows
		alpha  float64
		deep   bool
		stated privacy.ConstraintSet
		shown  [2]int // rows with values, of all seeds, that each audience is to see at least
	}{
		"one row":          {people.Knows{Crowd: 2}, 1, false, privacy.ConstraintSet{bound, diverse}, [2]int{100, 20}},
		"one row, deep":    {people.Knows{Crowd: 3}, 1, true, privacy.ConstraintSet{below, privacy.DistinctDiversity{L: 2}}, [2]int{100, 20}},
		"one row, besides": {people.Knows{Crowd: 3}, 0.8, false, privacy.ConstraintSet{privacy.DistinctDiversity{L: 2, Attribute: 1}, bound}, [2]int{100, 0}},
		"all":              {people.Knows{All: true}, 1, false, privacy.ConstraintSet{bound, diverse}, [2]int{100, 20}},
		"all, deep":        {people.Knows{All: true}, 1, true, privacy.ConstraintSet{below, bound}, [2]int{100, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown, withheld [2]int
			closed := 0
			for seed := range uint64(*guardedSeeds) {
				w := newGuardedWorld(t, seed, s.knows, 1+int32(seed%2), s.alpha, 0, 6, 13)
				if w.state(s.stated...); seed%4 >= 2 {
					w.limit()
				}
				w.deep = s.deep
				w.happenWithValues(8)
				w.beginAgain()
				for i, a := range w.audiences {
					shown[i], withheld[i] = shown[i]+a.valued(), withheld[i]+a.withheld()
					closed += a.closed
				}
			}
			t.Log("shown", shown, "withheld", withheld, "closed", closed)
			if shown[0] < s.shown[0] || shown[1] < s.shown[1] {
				t.Errorf("the audiences see %d rows with values", shown)
			}
			if s.knows.All != (closed > 0) {
				t.Errorf("%d groups show nothing more", closed)
			}
		})
	}
}

// beginAgain has all rows below persons vanish, and others come.
func (w *guardedWorld) beginAgain() {
	for table := 1; table < len(w.source); table++ {
		w.truncate(table)
	}
	for range 2 {
		w.publish()
		if err := w.judge(); err != nil {
			w.t.Fatalf("when all has vanished: %v", err)
		}
		w.restart()
		w.crowd(1, 200)
		w.crowd(3, 200)
		w.now = w.now.Add(time.Hour)
	}
}

// happenWithValues lets a history happen in which many rows with values come, and windows vanish.
func (w *guardedWorld) happenWithValues(rounds int) {
	w.fill()
	w.crowd(0, 40)
	w.crowd(1, 300)
	w.crowd(3, 300)
	for round := range rounds {
		w.publishAndJudge(round)
		if round%5 == 3 {
			w.restart()
		}
		w.changeSome(4)
		w.crowd(1, w.random.IntN(60))
		w.crowd(3, w.random.IntN(100))
		for range 50 {
			if w.deep {
				w.deepen()
			}
		}
		w.now = w.now.Add(time.Duration(w.random.IntN(80)) * time.Minute)
	}
}

// valued counts the rows with values that were shown.
func (a *audienceWorld) valued() (n int) {
	for _, r := range a.ever {
		n += len(r.sensitive)
	}
	return n
}

// disguise is told in another way who is who of the persons of a class in each window but one of a table's own readers, who do not see it.
type disguise struct {
	random *rand.Rand
	sizes  map[int64]int
	as     map[string][]int
}

func (d *disguise) disguised(c *people.GuardedChanges) *people.GuardedChanges {
	told := &people.GuardedChanges{Root: c.Root}
	for _, cell := range c.Root.Cells {
		d.sizes[cell.Class] = len(cell.Rows)
	}
	for _, of := range c.Tables {
		of.Cells = slices.Clone(of.Cells)
		for i, cell := range of.Cells {
			if cell.Pooled {
				continue
			}
			frame := fmt.Sprint(cell.Class, " ", cell.Window)
			if d.as[frame] == nil {
				d.as[frame] = d.random.Perm(d.sizes[cell.Class])
			}
			rows := slices.Clone(cell.Rows)
			for j := range rows {
				rows[j].Member = int32(d.as[frame][rows[j].Member])
			}
			of.Cells[i].Rows = rows
		}
		told.Tables = append(told.Tables, of)
	}
	return told
}

// withoutNames are changes without members and pseudonyms, which are drawn at random.
func withoutNames(changes []people.FollowedTable) []people.FollowedTable {
	changes = slices.Clone(changes)
	for i := range changes {
		of := &changes[i]
		of.Cells, of.GoneOf, of.Weights, of.Origin = slices.Clone(of.Cells), nil, nil, nil
		for j := range of.Cells {
			cell := &of.Cells[j]
			var rows []people.PublishedRow
			for _, r := range cell.Rows {
				rows = append(rows, people.PublishedRow{ID: r.ID})
			}
			slices.SortFunc(rows, func(a, b people.PublishedRow) int { return int(a.ID - b.ID) })
			if cell.Rows = rows; i == 0 {
				cell.Sensitive = nil
			}
		}
	}
	return changes
}

// TestWhoIsWhoDoesNotMatterToCoarserGuarded: which cells are united, and withheld, is the same when the persons of a class exchange all their rows in
// a window, and others in another one, by what is stated of values, too: so it tells nothing of who is who in two windows, which the finer release does
// not publish either.
func TestWhoIsWhoDoesNotMatterToCoarserGuarded(t *testing.T) {
	t.Parallel()
	shown, withheld := 0, 0
	for seed := range uint64(4) {
		w := newGuardedWorld(t, seed, people.Knows{Crowd: 2}, 3, 1, 0, 6)
		w.state(privacy.AlphaBound{Alpha: 0.4, Attribute: 1}, privacy.DistinctDiversity{L: 3, Attribute: 1})
		w.audiences[0].stated = append(w.audiences[0].stated, privacy.AlphaBound{Alpha: 0.5})
		w.live, w.pins = w.startGuarded(0), nil
		w.pin()
		w.beside = w.startGuarded(0).audiences[0].GuardedCoarser
		d := &disguise{random: rand.New(rand.NewPCG(seed, 77)), sizes: map[int64]int{}, as: map[string][]int{}}
		w.disguised = d.disguised
		w.fill()
		w.crowd(0, 40)
		w.crowd(1, 300)
		w.crowd(3, 300)
		for range 12 {
			w.publish()
			for range w.random.IntN(20) {
				w.change()
			}
			w.crowd(1, 30)
			w.crowd(3, 60)
			w.now = w.now.Add(30 * time.Minute)
		}
		shown, withheld = shown+w.audiences[0].valued(), withheld+w.audiences[0].withheld()
	}
	if shown < 100 || withheld < 10 {
		t.Errorf("%d rows with values are shown, %d cells withheld", shown, withheld)
	}
}

// TestCoarserGuardedBoundsRootValues: where all is known, groups satisfy what is stated of values of root records, and classes wait that do not together.
func TestCoarserGuardedBoundsRootValues(t *testing.T) {
	t.Parallel()
	shape := people.Shape{Root: []anonymizer.Attribute{attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})}, RootSensitive: 1}
	for name, c := range map[string]struct {
		share  int // of ten persons in front, how many have value 0
		groups bool
	}{"in front": {8, true}, "of all": {10, false}} {
		t.Run(name, func(t *testing.T) {
			number := uint64(0)
			o := people.MaintainedOptions{Method: method, Random: rand.New(rand.NewPCG(1, 1)), Pseudonym: func(int) uint64 { number++; return number }}
			g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, people.Knows{All: true}, people.GuardedOptions{Batch: 20, MaintainedOptions: o})
			if err != nil {
				t.Fatal(err)
			}
			bound := privacy.AlphaBound{Alpha: 0.5}
			audience, err := g.AddCoarser(people.CoarserOptions{K: 6, Constraints: privacy.ConstraintSet{bound}, Random: o.Random, Pseudonym: o.Pseudonym})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 120 {
				r := people.Row{ID: incremental.RecordID(1 + i), Key: personKey(1 + i), Cells: []hierarchy.Cell{float64(i)}, Sensitive: []uint32{uint32(i)}}
				if (i < 40 || !c.groups) && i%10 < c.share {
					r.Sensitive[0] = 0
				}
				if err := g.Insert(people.Root, r, guardedStart); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := g.Publish(t.Context(), guardedStart); err != nil {
				t.Fatal(err)
			}
			cells := audience.Changes()[0].Cells
			for _, cell := range cells {
				holders := map[uint32]int{}
				for _, values := range cell.Sensitive {
					holders[values[0]]++
				}
				for value, n := range holders {
					if 2*n > len(cell.Rows) {
						t.Errorf("%d of %d persons of a group have value %d", n, len(cell.Rows), value)
					}
				}
			}
			if f := audience.Freshness(people.Root); (len(cells) > 1) != c.groups || (f.Classes >= f.Least) == c.groups {
				t.Errorf("there are %d groups, and %+v", len(cells), f)
			}
		})
	}
}

// TestCoarserGuardedRefusesWhatIsStated: of values of root records, nothing is stated where one row is known; other constraints nowhere.
func TestCoarserGuardedRefusesWhatIsStated(t *testing.T) {
	t.Parallel()
	shape := people.Shape{RootSensitive: 1, Tables: []people.TableShape{{Name: "visits", Parent: people.Root, Order: -1, Sensitive: 1}}}
	for _, c := range []struct {
		constraint privacy.Constraint
		one, all   bool
	}{
		{privacy.DistinctDiversity{L: 2}, false, true},
		{privacy.AlphaBound{Alpha: 0.5}, false, true},
		{privacy.DistinctDiversity{L: 2, Attribute: 1}, true, true},
		{privacy.AlphaBound{Alpha: 0.5, Attribute: 1}, true, true},
		{privacy.EntropyDiversity{L: 2, Attribute: 1}, false, false},
	} {
		for knows, may := range map[people.Knows]bool{{Crowd: 2}: c.one, {All: true}: c.all} {
			g, err := people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, knows, people.GuardedOptions{MaintainedOptions: people.MaintainedOptions{Method: method}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.AddCoarser(people.CoarserOptions{K: 9, Constraints: privacy.ConstraintSet{c.constraint}}); (err == nil) != may {
				t.Errorf("%v, %+v: %v", c.constraint, knows, err)
			}
		}
	}
}
