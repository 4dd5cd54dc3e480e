package people_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// spoiledStore is what a store has of a coarser release, to be spoiled where little else tells.
type spoiledStore struct {
	t      *testing.T
	tables []people.StoredCoarser
	gone   map[incremental.RecordID]bool // visits that the finer release has taken back
}

// sameFrame reports whether rows are in one window of one group.
func sameFrame(a, b *people.StoredRow) bool { return a.Class == b.Class && a.Window == b.Window }

func samePerson(a, b *people.StoredRow) bool { return sameFrame(a, b) && a.Member == b.Member }

// below are the rows below persons that fit.
func (s *spoiledStore) below(fits func(*people.StoredRow) bool) (found []*people.StoredRow) {
	for table := range s.tables[1:] {
		for i := range s.tables[table+1].Rows {
			if r := &s.tables[table+1].Rows[i]; fits(r) {
				found = append(found, r)
			}
		}
	}
	return found
}

// pair is a pair of rows of two tables that fits.
func (s *spoiledStore) pair(one, other int, fits func(a, b *people.StoredRow) bool) (a, b *people.StoredRow) {
	for i := range s.tables[one].Rows {
		for j := range s.tables[other].Rows {
			if a, b = &s.tables[one].Rows[i], &s.tables[other].Rows[j]; a != b && fits(a, b) {
				return a, b
			}
		}
	}
	s.t.Fatal("no rows can be spoiled so")
	return nil, nil
}

// unused reports whether no row of a window carries a pseudonym.
func (s *spoiledStore) unused(of *people.StoredRow, pseudonym uint64) bool {
	return len(s.below(func(r *people.StoredRow) bool { return sameFrame(r, of) && r.Person == pseudonym })) == 0
}

// TestCoarserGuardedRefusesOthersRows: what a store has is refused where rows would pass for those of another person.
func TestCoarserGuardedRefusesOthersRows(t *testing.T) {
	t.Parallel()
	w := newGuardedWorld(t, 1, people.Knows{Crowd: 1}, 5, 1, 0, 6) // so many windows that some persons have nothing in one
	w.happen(16)
	a := w.audiences[0]
	gone := map[incremental.RecordID]bool{}
	for id, r := range a.seen[1] {
		gone[id] = a.finer[r].vanished > 0
	}
	for name, spoil := range map[string]func(*spoiledStore){
		"two persons have one pseudonym in a window": func(s *spoiledStore) {
			one, other := s.pair(1, 1, func(a, b *people.StoredRow) bool { return sameFrame(a, b) && a.Member != b.Member })
			for _, r := range s.below(func(r *people.StoredRow) bool { return samePerson(r, other) }) {
				r.Person = one.Person
			}
		},
		"a person has two pseudonyms in a window": func(s *spoiledStore) {
			root, visit := s.pair(0, 1, func(root, visit *people.StoredRow) bool {
				rows := s.below(func(r *people.StoredRow) bool { return samePerson(r, visit) })
				return root.Class == visit.Class && len(rows) > 1 && s.unused(visit, root.Own)
			})
			visit.Person = root.Own
		},
		"it belongs to another visit of the person": func(s *spoiledStore) {
			visit, below := s.pair(1, 2, func(visit, below *people.StoredRow) bool {
				return samePerson(visit, below) && visit.ID != below.Parent
			})
			below.Parent = visit.ID
		},
		"it was another person's": func(s *spoiledStore) {
			root, visit := s.pair(0, 1, func(root, visit *people.StoredRow) bool {
				rows := s.below(func(r *people.StoredRow) bool { return samePerson(r, visit) })
				others := s.below(func(r *people.StoredRow) bool { return sameFrame(r, visit) && r.Member == root.Member })
				return s.gone[visit.ID] && root.Class == visit.Class && len(rows) == 1 && len(others) == 0
			})
			visit.Member = root.Member
		},
		"a cell waits twice": func(s *spoiledStore) { s.tables[1].Waiting = append(s.tables[1].Waiting, s.tables[1].Waiting[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &spoiledStore{t: t, tables: storedCopy(a.stored()), gone: gone}
			spoil(s)
			next := w.startGuarded(0)
			w.restore(next.Guarded)
			if err := next.audiences[0].Load(s.tables); err == nil {
				t.Error("it is loaded")
			}
		})
	}
}

// TestCoarserGuardedRefusesRowsOfOtherWindows: of a row that the finer release has taken back, nothing else says in which window
// what it belonged to was.
func TestCoarserGuardedRefusesRowsOfOtherWindows(t *testing.T) {
	t.Parallel()
	w := newGuardedWorld(t, 1, people.Knows{Crowd: 1}, 2, 1, 0, 6)
	w.happen(16)
	a := w.audiences[0]
	s := &spoiledStore{t: t, tables: storedCopy(a.stored())}
	visit, below := s.pair(1, 2, func(visit, below *people.StoredRow) bool {
		return a.finer[a.seen[2][below.ID]].vanished > 0 && visit.Class == below.Class && visit.Member == below.Member && visit.Window != below.Window
	})
	below.Parent = visit.ID
	next := w.startGuarded(0)
	w.restore(next.Guarded)
	if err := next.audiences[0].Load(s.tables); err == nil {
		t.Error("it is loaded")
	}
}

// TestCoarserGuardedTakesNewNumbers: after a restart, no number is used again that a coarser release has, whatever the finer one
// was told.
func TestCoarserGuardedTakesNewNumbers(t *testing.T) {
	t.Parallel()
	w := newGuardedWorld(t, 1, people.Knows{Crowd: 1}, 2, 1, 0, 6)
	w.happen(8)
	stored, last := storedCopy(w.audiences[0].stored()), int64(0)
	for table := range stored {
		for i := range stored[table].Rows {
			r := &stored[table].Rows[i]
			r.Class += 1 << 20
			r.Cell += 1 << 20
			last = max(last, r.Cell)
		}
		stored[table].Weights = slices.DeleteFunc(stored[table].Weights, func(w people.Weight) bool { return w.Cells[0] > 0 })
	}
	next := w.startGuarded(0)
	w.restore(next.Guarded)
	if err := next.audiences[0].Load(stored); err != nil {
		t.Fatal(err)
	}
	if number := next.NextCell(); last <= 1<<20 || number <= last {
		t.Errorf("the next number is %d, and %d is in use", number, last)
	}
}

// TestCoarserGuardedForgetsAfterRestart: what the finer release has taken back as a whole vanishes, though it was there when the store
// was read.
func TestCoarserGuardedForgetsAfterRestart(t *testing.T) {
	t.Parallel()
	const group, window, first = 1 << 20, 99, 1 << 40 // that are not there
	w := newGuardedWorld(t, 1, people.Knows{Crowd: 1}, 2, 1, 0, 6)
	w.happen(8)
	stored, gone := storedCopy(w.audiences[0].stored()), [2][]incremental.RecordID{}
	add := func(table int, r people.StoredRow) {
		r.ID = first + incremental.RecordID(len(gone[table]))
		gone[table] = append(gone[table], r.ID)
		stored[table].Rows = append(stored[table].Rows, r)
	}
	for i, of := range stored[0].Rows[:6] {
		own := uint64(1<<60 + i)
		add(0, people.StoredRow{PublishedRow: people.PublishedRow{Own: own, Person: own, Member: int32(i)}, Cell: group, Class: group})
		add(1, people.StoredRow{PublishedRow: people.PublishedRow{Own: own + 100, Person: of.Own, Of: of.Own, Member: of.Member, Parent: of.ID}, Cell: group + 1 + of.Class, Class: of.Class, Window: window})
	}
	next := w.startGuarded(0)
	w.restore(next.Guarded)
	if err := next.audiences[0].Load(stored); err != nil {
		t.Fatal(err)
	}
	_, err := next.Publish(t.Context(), w.now)
	w.must(err)
	for table, c := range next.audiences[0].Changes()[:2] {
		for _, id := range gone[table] {
			if !slices.Contains(c.Gone, id) {
				t.Errorf("row %d of table %d stays", id, table-1)
			}
		}
	}
}

// TestCoarserGuardedKeepsTheFinerK: a release that is told a smaller k than the one that it follows has that one's.
func TestCoarserGuardedKeepsTheFinerK(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		w := newGuardedWorld(t, seed, people.Knows{Crowd: 1}, 2, 1, 0, 13, 6)
		w.audiences[1].k = 13
		w.fill()
		w.crowd(1, 250)
		for range 12 {
			w.publish()
			w.must(w.judge())
			for range 8 { // visits: those of fewer persons than 13 change nothing
				if len(w.source[1]) > 0 {
					id := w.anyRow(1)
					w.must(w.Delete(0, id))
					delete(w.source[1], id)
				}
			}
			w.now = w.now.Add(30 * time.Minute)
		}
		if len(w.audiences[1].ever) == 0 {
			t.Error("nothing was shown")
		}
	}
}

// TestCoarserGuardedDrawsPseudonyms: which pseudonym of the group a person's rows carry in a window is drawn, so that it leads from no
// window to another one, and follows from no order.
func TestCoarserGuardedDrawsPseudonyms(t *testing.T) {
	t.Parallel()
	w := newGuardedWorld(t, 2, people.Knows{Crowd: 1}, 5, 1, 0, 6)
	w.happen(6)
	persons, own, first, frames := map[string]bool{}, 0, 0, map[string]bool{}
	for _, r := range w.audiences[0].ever { // those of a cell in ascending order
		if person := fmt.Sprint(frameOf(r)); r.table == 1 && !persons[person] {
			persons[person] = true
			if r.Person == r.person.Own {
				own++
			}
			if frame := fmt.Sprint(r.unit(), r.vanished); !frames[frame] {
				frames[frame] = true
				if r.Person == w.audiences[0].least(r.class) {
					first++
				}
			}
		}
	}
	if len(frames) < 4 || 2*own > len(persons) || 2*first > len(frames) {
		t.Errorf("of %d persons in %d windows, %d have their own pseudonym; %d windows begin with the first", len(persons), len(frames), own, first)
	}
}

// least is the first pseudonym of a group.
func (a *audienceWorld) least(class int64) (least uint64) {
	for _, r := range a.ever {
		if r.table == 0 && r.class == class && (least == 0 || r.Own < least) {
			least = r.Own
		}
	}
	return least
}
