package people_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// ward is a guarded release of patients who are all in one class, and whose visits have a
// date and a diagnosis, and prescriptions a substance.
type ward struct {
	*people.Guarded
	t    *testing.T
	now  time.Time
	next incremental.RecordID
	seen [2]map[incremental.RecordID]people.PublishedRow // visits and prescriptions
	root map[uint64]int                                  // patients by their pseudonyms
}

func newWard(t *testing.T, k, patients int, alpha float64, knows people.Knows) *ward {
	t.Helper()
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	shape := people.Shape{Root: []anonymizer.Attribute{number}, Tables: []people.TableShape{
		{Name: "visits", Attributes: []anonymizer.Attribute{number}, Sensitive: 1, Parent: people.Root, Order: 0},
		{Name: "prescriptions", Sensitive: 1, Parent: 0, Order: -1},
	}}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if alpha < 1 {
		constraints = append(constraints, privacy.AlphaBound{Alpha: alpha}, privacy.AlphaBound{Alpha: alpha, Attribute: 1})
	}
	w := &ward{t: t, now: guardedStart, root: map[uint64]int{}}
	for i := range w.seen {
		w.seen[i] = map[incremental.RecordID]people.PublishedRow{}
	}
	random, next := rand.New(rand.NewPCG(1, 2)), uint64(0)
	var err error
	w.Guarded, err = people.NewGuarded(shape, constraints, knows, people.GuardedOptions{
		MaintainedOptions: people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { next++; return next }},
		Least:             patients, RowsWithin: 24 * time.Hour,
	})
	w.must(err)
	for p := range patients {
		w.must(w.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: []hierarchy.Cell{float64(p)}}, w.now))
	}
	w.publish()
	if w.Classes() != 1 {
		t.Fatalf("%d classes", w.Classes())
	}
	return w
}

func (w *ward) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// visit inserts a visit, whose number is returned.
func (w *ward) visit(patient int, window int32, diagnosis uint32) incremental.RecordID {
	w.t.Helper()
	w.next++
	r := people.Row{ID: w.next, Key: rowKey(0, int(w.next)), Of: rowKey(people.Root, patient), Window: window, Cells: []hierarchy.Cell{1}, Sensitive: []uint32{diagnosis}}
	w.must(w.Insert(0, r, w.now))
	return r.ID
}

func (w *ward) prescribe(visit incremental.RecordID, substance uint32) incremental.RecordID {
	w.t.Helper()
	w.next++
	w.must(w.Insert(1, people.Row{ID: w.next, Of: rowKey(0, int(visit)), Sensitive: []uint32{substance}}, w.now))
	return w.next
}

// publish publishes a day later.
func (w *ward) publish() *people.GuardedChanges {
	w.t.Helper()
	w.now = w.now.Add(24 * time.Hour)
	changes, err := w.Publish(w.t.Context(), w.now)
	w.must(err)
	for _, cell := range changes.Root.Cells {
		for _, r := range cell.Rows {
			w.root[r.Own] = int(r.ID - 1)
		}
	}
	for table, c := range changes.Tables {
		for _, id := range c.Gone {
			delete(w.seen[table], id)
		}
		for _, cell := range c.Cells {
			for _, r := range cell.Rows {
				w.seen[table][r.ID] = r
			}
		}
	}
	return changes
}

// TestPseudonymsAreExchanged in each window, and once more after everything in it has vanished.
func TestPseudonymsAreExchanged(t *testing.T) {
	t.Parallel()
	const patients = 40
	w := newWard(t, 5, patients, 1, people.Knows{})
	aliases := func(window int32) (of [patients]int) {
		var ids [patients]incremental.RecordID
		for p := range patients {
			ids[p] = w.visit(p, window, 0)
		}
		w.publish()
		for p, id := range ids {
			r, shown := w.seen[0][id]
			if !shown || r.Person == 0 {
				t.Fatalf("visit %d is published as %+v", id, r)
			}
			of[p] = w.root[r.Person]
			w.must(w.Delete(0, id, w.now))
		}
		w.publish()
		if len(w.seen[0]) > 0 {
			t.Fatalf("%d rows have not vanished", len(w.seen[0]))
		}
		return of
	}
	first, again, other := aliases(0), aliases(0), aliases(1)
	for name, pair := range map[string][2][patients]int{"a window and the same": {first, again}, "two windows": {first, other}} {
		same := 0
		for p := range patients {
			if pair[0][p] == pair[1][p] {
				same++
			}
		}
		if same > patients/4 {
			t.Errorf("%s: %d of %d persons have the same pseudonym", name, same, patients)
		}
	}
	own := 0
	for p, alias := range first {
		if p == alias {
			own++
		}
	}
	if own > patients/4 {
		t.Errorf("%d of %d persons have their own pseudonym", own, patients)
	}
}

// TestBatchesThatViolateConstraints are withheld for good, whatever was published before and
// has vanished meanwhile.
func TestBatchesThatViolateConstraints(t *testing.T) {
	t.Parallel()
	const often = 1000
	// batch has patients visit, of whom some have the frequent diagnosis.
	batch := func(w *ward, window int32, from, to, oftenFrom, oftenTo int) (ids []incremental.RecordID) {
		for p := from; p < to; p++ {
			diagnosis := uint32(p)
			if p >= oftenFrom && p < oftenTo {
				diagnosis = often
			}
			ids = append(ids, w.visit(p, window, diagnosis))
		}
		w.publish()
		return ids
	}
	for name, test := range map[string]struct {
		patients int
		knows    people.Knows
		before   func(w *ward)
		batch    func(w *ward) []incremental.RecordID
	}{
		"in the class": {
			patients: 20, knows: people.Knows{Crowd: 4},
			before: func(w *ward) { batch(w, 0, 0, 20, 0, 10) },
			batch:  func(w *ward) []incremental.RecordID { return batch(w, 1, 0, 20, 10, 20) },
		},
		"in the class, with what has vanished": {
			patients: 20, knows: people.Knows{Crowd: 4},
			before: func(w *ward) {
				for _, id := range batch(w, 0, 0, 20, 0, 10) {
					w.must(w.Delete(0, id, w.now))
				}
				w.publish()
			},
			batch: func(w *ward) []incremental.RecordID { return batch(w, 1, 0, 20, 10, 20) },
		},
		"in its cell": {
			patients: 40, knows: people.Knows{Crowd: 8},
			before: func(w *ward) { batch(w, 0, 0, 20, 0, 10) },
			batch:  func(w *ward) []incremental.RecordID { return batch(w, 0, 0, 20, 10, 20) },
		},
		"in an older cell": {
			patients: 40, knows: people.Knows{Crowd: 8},
			before: func(w *ward) { batch(w, 0, 0, 20, 0, 10) },
			batch:  func(w *ward) []incremental.RecordID { return batch(w, 0, 0, 40, 10, 20) },
		},
		"by themselves": {
			patients: 40, knows: people.Knows{Crowd: 8},
			before: func(w *ward) {},
			batch:  func(w *ward) []incremental.RecordID { return batch(w, 0, 0, 20, 0, 11) },
		},
		"where all is known": {
			patients: 5, knows: people.Knows{All: true},
			before: func(w *ward) { batch(w, 0, 0, 5, 0, 2) },
			batch:  func(w *ward) []incremental.RecordID { return batch(w, 0, 0, 5, 2, 4) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t, 5, test.patients, 0.5, test.knows)
			test.before(w)
			before := len(w.seen[0])
			ids := test.batch(w)
			for _, id := range ids {
				if place := w.Place(0, id); !place.Withheld {
					t.Fatalf("visit %d is at %+v", id, place)
				}
			}
			batch(w, 2, 0, test.patients, 0, 0)
			for range 5 {
				w.publish()
			}
			if got := len(w.seen[0]); got != before+test.patients {
				t.Errorf("%d visits are published, %d were, and %d others came", got, before, test.patients)
			}
		})
	}
}

// TestRowsBelowThatViolateConstraints are withheld, and those that they belong to are not.
func TestRowsBelowThatViolateConstraints(t *testing.T) {
	t.Parallel()
	w := newWard(t, 5, 20, 0.5, people.Knows{Crowd: 4})
	var visits, prescriptions []incremental.RecordID
	for p := range 20 {
		visits = append(visits, w.visit(p, 0, uint32(p)))
		if p < 9 { // too few for the pool, and for the visits to violate them
			prescriptions = append(prescriptions, w.prescribe(visits[p], 7))
		}
	}
	w.publish()
	for i := range prescriptions {
		if visit, prescription := w.Place(0, visits[i]), w.Place(1, prescriptions[i]); visit.Row == 0 || !prescription.Withheld {
			t.Fatalf("a visit is at %+v, its prescription at %+v", visit, prescription)
		}
	}
}

// TestWrongRowsChangeNothingGuarded: what is refused leaves the release as it is.
func TestWrongRowsChangeNothingGuarded(t *testing.T) {
	t.Parallel()
	w := newWard(t, 2, 8, 1, people.Knows{Crowd: 4})
	var visits []incremental.RecordID
	for p := range 8 {
		visits = append(visits, w.visit(p, 0, 0))
	}
	w.publish()
	w.must(w.Delete(0, visits[3], w.now))
	row := people.Row{ID: visits[3], Cells: []hierarchy.Cell{1}, Sensitive: []uint32{1}}
	known, few := row, row
	known.ID, few.ID, few.Cells = visits[4], 1000, nil
	for name, test := range map[string]struct{ err, want error }{
		"a row's ID":        {w.Insert(0, known, w.now), incremental.ErrDuplicate},
		"a ghost's ID":      {w.Insert(0, row, w.now), incremental.ErrDuplicate},
		"an unknown row":    {w.Modify(0, row, w.now), incremental.ErrUnknown},
		"nothing to delete": {w.Delete(0, visits[3], w.now), incremental.ErrUnknown},
		"too few cells":     {w.Insert(0, few, w.now), nil},
	} {
		if test.err == nil || test.want != nil && !errors.Is(test.err, test.want) {
			t.Errorf("%s: error %v, want %v", name, test.err, test.want)
		}
	}
	if f, want := w.Freshness(0), (people.Freshness{Ghosts: 1, Untold: 1, Rows: 8}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	w.must(w.Insert(people.Root, people.Row{ID: 100, Key: rowKey(people.Root, 0), Cells: []hierarchy.Cell{0}}, w.now))
	if _, err := w.Publish(t.Context(), w.now); !errors.As(err, new(*people.DuplicateKeyError)) {
		t.Errorf("two rows of one key: %v", err)
	}
}

// TestNewClasses: with a new class k rows suffice, and what violates the constraints at the first Publish is
// left to the pool. Later, twice as many are needed, and what violates them is withheld for good.
func TestNewClasses(t *testing.T) {
	t.Parallel()
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	shape := people.Shape{Root: []anonymizer.Attribute{number}, Tables: []people.TableShape{
		{Name: "visits", Attributes: []anonymizer.Attribute{number}, Sensitive: 1, Parent: people.Root, Order: 0},
	}}
	for _, c := range []struct {
		name        string
		constraints privacy.ConstraintSet
		rows        [2]int // of as many persons, in each window
		diagnosis   func(row int) uint32
		first       people.Place // of each row that the first Publish finds, but for Row
		keyed       bool         // they are published at once
		later       people.Place
	}{
		{"as many as k", privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, [2]int{3, 5}, func(int) uint32 { return 1 }, people.Place{}, true, people.Place{Since: guardedStart}},
		{"fewer than k", privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, [2]int{2, 2}, func(int) uint32 { return 1 }, people.Place{Since: guardedStart}, false, people.Place{Since: guardedStart}},
		{"alike", privacy.ConstraintSet{privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.9}}, [2]int{15, 20}, func(int) uint32 { return 1 }, people.Place{Withheld: true}, false, people.Place{Withheld: true}},
		{"different", privacy.ConstraintSet{privacy.KAnonymity{K: 3}, privacy.AlphaBound{Alpha: 0.9}}, [2]int{10, 19}, func(row int) uint32 { return uint32(row) }, people.Place{}, true, people.Place{Since: guardedStart}},
	} {
		const persons = 80
		random, next := rand.New(rand.NewPCG(1, 2)), uint64(0)
		g, err := people.NewGuarded(shape, c.constraints, people.Knows{Crowd: persons / 3}, people.GuardedOptions{
			MaintainedOptions: people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { next++; return next }}, RowsWithin: 24 * time.Hour,
		})
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		must(err)
		for p := range persons {
			must(g.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: []hierarchy.Cell{float64(p)}}, guardedStart))
		}
		for window := range int32(2) {
			first := incremental.RecordID(int(window)*persons + 1)
			for row := range c.rows[window] {
				must(g.Insert(0, people.Row{ID: first + incremental.RecordID(row), Of: rowKey(people.Root, row), Window: window, Cells: []hierarchy.Cell{1}, Sensitive: []uint32{c.diagnosis(row)}}, guardedStart))
			}
			_, err := g.Publish(t.Context(), guardedStart)
			must(err)
			want := c.later
			if window == 0 {
				want = c.first
			}
			for row := range c.rows[window] {
				id := first + incremental.RecordID(row)
				if window == 0 && c.keyed {
					want.Row = id
				}
				if p := g.Place(0, id); p != want {
					t.Errorf("%s: row %d of window %d is at %+v, want %+v", c.name, row, window, p, want)
				}
			}
		}
	}
}

// tried is a guarded release of 80 persons in one class, whose visits have a diagnosis and notes below them.
type tried struct {
	*people.Guarded
	t    *testing.T
	next int
}

func newTried(t *testing.T, rows int, constraints ...privacy.Constraint) *tried {
	t.Helper()
	const persons = 80
	number := attribute("number", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	shape := people.Shape{Root: []anonymizer.Attribute{number}, Tables: []people.TableShape{
		{Name: "visits", Attributes: []anonymizer.Attribute{number}, Sensitive: 1, Parent: people.Root, Order: 0},
		{Name: "notes", Parent: 0, Order: -1},
	}}
	random, next := rand.New(rand.NewPCG(1, 2)), uint64(0)
	g, err := people.NewGuarded(shape, append(privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, constraints...), people.Knows{Crowd: persons / 3}, people.GuardedOptions{
		MaintainedOptions: people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { next++; return next }},
		Rows:              rows, RowsWithin: 24 * time.Hour,
	})
	w := &tried{Guarded: g, t: t}
	w.must(err)
	for p := range persons {
		w.must(g.Insert(people.Root, people.Row{ID: incremental.RecordID(p + 1), Key: rowKey(people.Root, p), Cells: []hierarchy.Cell{float64(p)}}, guardedStart))
	}
	return w
}

func (w *tried) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// visits inserts visits of as many persons, the first two with a note, and returns the first one's number.
func (w *tried) visits(persons int, window int32, diagnosis func(person int) uint32) (first int) {
	w.t.Helper()
	for p := range persons {
		w.next++
		visit := people.Row{ID: incremental.RecordID(w.next), Key: rowKey(0, w.next), Of: rowKey(people.Root, p), Window: window, Cells: []hierarchy.Cell{1}, Sensitive: []uint32{diagnosis(p)}}
		w.must(w.Insert(0, visit, guardedStart))
		if p < 2 {
			w.must(w.Insert(1, people.Row{ID: visit.ID, Of: visit.Key}, guardedStart))
		}
	}
	return w.next - persons + 1
}

func (w *tried) publish(after time.Duration) {
	w.t.Helper()
	_, err := w.Publish(w.t.Context(), guardedStart.Add(after))
	w.must(err)
}

func alike(int) uint32 { return 1 }

// TestHalfOfTheRowsSufficeWithANewClass, however many are asked for.
func TestHalfOfTheRowsSufficeWithANewClass(t *testing.T) {
	t.Parallel()
	w := newTried(t, 13)
	six, seven := w.visits(6, 0, alike), w.visits(7, 1, alike)
	w.publish(0)
	if p := w.Place(0, incremental.RecordID(six)); p != (people.Place{Since: guardedStart}) {
		t.Errorf("one of 6 rows is at %+v", p)
	}
	if p := w.Place(0, incremental.RecordID(seven)); p.Row == 0 {
		t.Errorf("one of 7 rows is at %+v", p)
	}
}

// TestRejectedRowsTakeTheirsAlong: what is below a rejected row, and not in the first pool either, is withheld
// with it.
func TestRejectedRowsTakeTheirsAlong(t *testing.T) {
	t.Parallel()
	w := newTried(t, 0, privacy.AlphaBound{Alpha: 0.9})
	first := w.visits(15, 0, alike)
	w.publish(0)
	for table := range 2 {
		if p := w.Place(table, incremental.RecordID(first)); p != (people.Place{Withheld: true}) {
			t.Errorf("a row of table %d is at %+v", table, p)
		}
	}
}

// TestLaterRejectionsAreNotPooled, although the rows that are satisfy the constraints with them.
func TestLaterRejectionsAreNotPooled(t *testing.T) {
	t.Parallel()
	w := newTried(t, 0, privacy.AlphaBound{Alpha: 0.9})
	w.publish(0)
	for window := range int32(8) {
		w.visits(2, window, func(p int) uint32 { return uint32(10*int(window) + p) })
	}
	rejected := w.visits(20, 8, alike)
	w.publish(24 * time.Hour)
	if p := w.Place(0, 1); !p.Pooling {
		t.Errorf("a row of too few persons is at %+v", p)
	}
	if p := w.Place(0, incremental.RecordID(rejected)); p != (people.Place{Withheld: true}) {
		t.Errorf("a row of a group that violates the constraints is at %+v", p)
	}
}
