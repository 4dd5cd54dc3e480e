package people_test

import (
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

// twoClasses are persons 1 to 20 and 101 to 120 in a guarded release of two classes, who have visits and tests, none of which
// have attributes; an audience is to be left with both classes.
type twoClasses struct {
	t        *testing.T
	release  *people.Guarded
	audience *people.GuardedCoarser
	now      time.Time
	next     incremental.RecordID
	cells    [2][]int64 // that have come, of visits and tests
	shown    [2]int     // rows that the audience sees
	withheld [2][]int64

	start   func() // with an empty release and audience
	records [3][]people.Row
	rows    [3][]people.StoredRow // of the release, the root's first
	stored  []people.StoredCoarser
}

const (
	visits = iota
	tests
)

func personKey(number int) people.Key { return people.Key{byte(number), 1} }

func newTwoClasses(t *testing.T, constraint privacy.Constraint) *twoClasses {
	t.Helper()
	w := &twoClasses{t: t, now: guardedStart, next: 1000}
	shape := people.Shape{Root: []anonymizer.Attribute{attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})}}
	for table, name := range []string{"visits", "tests"} {
		shape.Tables = append(shape.Tables, people.TableShape{Name: name, Parent: people.Root, Order: -1, Sensitive: table})
	}
	number := uint64(1 << 40)
	pseudonym := func(int) uint64 { number++; return number }
	options := people.GuardedOptions{Batch: 40, Rows: 10, MaintainedOptions: people.MaintainedOptions{Method: method, Random: rand.New(rand.NewPCG(1, 1)), Pseudonym: pseudonym}}
	w.start = func() {
		var err error
		w.release, err = people.NewGuarded(shape, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, constraint}, people.Knows{Crowd: 4}, options)
		w.must(err)
		w.audience, err = w.release.AddCoarser(people.CoarserOptions{K: 10, Random: rand.New(rand.NewPCG(2, 1)), Pseudonym: pseudonym})
		w.must(err)
		w.stored = make([]people.StoredCoarser, 3)
	}
	w.start()
	for i := range 20 {
		for _, person := range []int{1 + i, 101 + i} {
			w.insert(people.Root, people.Row{ID: incremental.RecordID(person), Key: personKey(person), Cells: []hierarchy.Cell{float64(person)}})
		}
	}
	w.publish()
	if n := w.release.Classes(); n != 2 || w.audience.Classes() != 1 {
		t.Fatalf("there are %d classes, and %d for the audience", n, w.audience.Classes())
	}
	return w
}

func (w *twoClasses) insert(table int, r people.Row) {
	w.t.Helper()
	w.records[1+table] = append(w.records[1+table], r)
	w.must(w.release.Insert(table, r, w.now))
}

func (w *twoClasses) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *twoClasses) publish() {
	w.t.Helper()
	changes, err := w.release.Publish(w.t.Context(), w.now)
	w.must(err)
	w.now = w.now.Add(time.Minute)
	followed := w.audience.Changes()
	w.store(changes, followed)
	for table := range w.cells {
		for _, cell := range changes.Tables[table].Cells {
			w.cells[table] = append(w.cells[table], cell.ID)
		}
		for _, cell := range followed[1+table].Cells {
			w.shown[table] += len(cell.Rows)
		}
		w.withheld[table] = append(w.withheld[table], followed[1+table].Withheld...)
	}
}

// come has rows of persons be published, each with a value of its own but for those of some, who have value 0.
func (w *twoClasses) come(table, first, last int, common ...int) {
	w.t.Helper()
	cells := len(w.cells[table])
	for person := first; person <= last; person++ {
		w.next++
		r := people.Row{ID: w.next, Of: personKey(person), Key: people.Key{byte(w.next), byte(w.next >> 8), 2}}
		if table == tests {
			r.Sensitive = []uint32{uint32(person)}
			if slices.Contains(common, person) {
				r.Sensitive[0] = 0
			}
		}
		w.insert(table, r)
	}
	w.publish()
	if n := len(w.cells[table]) - cells; n != 1 {
		w.t.Fatalf("rows of %d to %d come in %d cells", first, last, n)
	}
}

// expect wants the audience to see so many rows, and so many cells to be withheld from it.
func (w *twoClasses) expect(when string, table, rows, cells int) {
	w.t.Helper()
	if w.shown[table] != rows || len(w.withheld[table]) != cells {
		w.t.Errorf("%s, the audience sees %d rows of table %d, not %d; %d cells are withheld, not %d", when, w.shown[table], table, rows, len(w.withheld[table]), cells)
	}
}

// TestCoarserGuardedBoundsFrequencies: cells each of which satisfies a bound, of one class and with persons in common, are not united where
// the persons of all violate it.
func TestCoarserGuardedBoundsFrequencies(t *testing.T) {
	t.Parallel()
	bound := privacy.AlphaBound{Alpha: 0.5}
	w := newTwoClasses(t, bound)
	w.come(tests, 1, 10, 1, 2, 3, 4, 5)
	w.come(tests, 6, 15, 11, 12, 13, 14, 15)
	w.come(tests, 101, 110, 101, 102, 103, 104, 105) // of 25 persons, 15 have the value
	w.expect("where one value is frequent", tests, 0, 3)
	w.come(tests, 101, 110)
	w.come(tests, 1, 10)
	w.expect("where values differ", tests, 20, 3)
	w = newTwoClasses(t, bound)
	w.come(tests, 1, 10, 1, 2, 3, 4, 5)
	w.come(tests, 6, 15, 11, 12, 13)
	w.come(tests, 101, 110, 101, 102, 103)
	w.expect("where it is not", tests, 30, 0)
}

// TestCoarserGuardedKeepsDiversity: persons of whom a single value is shown, as cells with others wait, are not united.
func TestCoarserGuardedKeepsDiversity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waits bool // tests of most of those with visits wait
		rows  int
	}{"others wait": {true, 0}, "others are shown": {false, 20}} {
		t.Run(name, func(t *testing.T) {
			w := newTwoClasses(t, privacy.DistinctDiversity{L: 2})
			w.come(tests, 1, 10)
			w.come(tests, 101, 110)
			w.expect("tests", tests, 20, 0)
			w.come(tests, 11, 20)
			if !c.waits {
				w.come(tests, 101, 110)
			}
			w.come(visits, 10, 19)
			w.come(visits, 111, 120) // who have no tests
			w.expect(name, visits, c.rows, 2*(20-c.rows)/20)
		})
	}
}

// store keeps what a store does.
func (w *twoClasses) store(changes *people.GuardedChanges, followed []people.FollowedTable) {
	rowsOf := func(table int, cells []people.PublishedCell) (rows []people.StoredRow) {
		for _, cell := range cells {
			for _, r := range cell.Rows {
				row := people.StoredRow{PublishedRow: r, Cell: cell.ID, Class: cell.Class, Window: cell.Window}
				if table == 1+tests {
					row.Sensitive = w.records[table][slices.IndexFunc(w.records[table], func(of people.Row) bool { return of.ID == r.ID })].Sensitive
				}
				rows = append(rows, row)
			}
		}
		return rows
	}
	for table := range w.rows {
		cells := changes.Root.Cells
		if table > 0 {
			cells = changes.Tables[table-1].Cells
		}
		w.rows[table] = append(w.rows[table], rowsOf(table, cells)...)
		of, c := &w.stored[table], followed[table]
		of.Rows = append(of.Rows, rowsOf(table, c.Cells)...)
		of.Waiting = slices.DeleteFunc(append(of.Waiting, c.Waiting...), func(cell people.WaitingCell) bool { return slices.Contains(c.Settled, cell.Cell) })
		for i := range of.Waiting {
			if slices.Contains(c.Withheld, of.Waiting[i].Cell) {
				of.Waiting[i] = people.WaitingCell{Cell: of.Waiting[i].Cell, Withheld: true}
			}
		}
	}
}

// restart goes on with what the store has.
func (w *twoClasses) restart() {
	w.t.Helper()
	w.must(w.load(func([]people.StoredCoarser) {}))
}

// load is restart with what a store has of the audience spoiled.
func (w *twoClasses) load(spoil func([]people.StoredCoarser)) error {
	w.t.Helper()
	next, stored := w.release.NextCell(), w.stored
	w.start()
	w.stored = stored
	restoring, err := w.release.Restore(next)
	w.must(err)
	for table := range w.rows {
		for _, r := range w.rows[table] {
			restoring.Row(table-1, r)
		}
		for _, r := range w.records[table] {
			w.must(restoring.Record(table-1, r, people.Place{Row: r.ID}))
		}
	}
	w.must(restoring.End(w.now))
	stored = storedCopy(stored)
	spoil(stored)
	return w.audience.Load(stored)
}

// TestCoarserGuardedRemembersWhatIsWithheld: after a restart, what violates the constraints is not tried again, and what is shown counts.
func TestCoarserGuardedRemembersWhatIsWithheld(t *testing.T) {
	t.Parallel()
	w := newTwoClasses(t, privacy.AlphaBound{Alpha: 0.5})
	w.come(tests, 1, 10, 1, 2, 3, 4, 5)
	w.restart()
	w.come(tests, 6, 15, 11, 12, 13, 14, 15)
	w.restart()
	w.come(tests, 101, 110, 101, 102, 103, 104, 105)
	w.expect("where one value is frequent", tests, 0, 3)
	w.restart()
	w.come(tests, 111, 120)
	w.expect("where one class waits", tests, 0, 3)
	w.come(tests, 11, 20)
	w.expect("where both classes wait", tests, 20, 3)
	if err := w.load(func(stored []people.StoredCoarser) { stored[1+tests].Rows[0].Sensitive = nil }); err == nil {
		t.Error("a row without values is loaded")
	}
	w.restart()
}
