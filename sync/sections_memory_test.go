package sync

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// packedModel is a packed release as the statements that were sent make it.
type packedModel map[packedKey][]int64

// apply has the model do what a server does, and returns how many rows were written.
func (m packedModel) apply(t *testing.T, of *table, s *sent) (written int) {
	t.Helper()
	for _, one := range s.statements {
		switch {
		case !strings.HasPrefix(one.sql, "DELETE FROM "+of.release.packedTable()):
		case one.sql == deletionFrom(packedOf(of).table(), packedOf(of).part.column):
			classes, sections := one.arguments[0].(*array).ids(t), one.arguments[1].(*array).ids(t)
			for i := range classes {
				key := packedKey{incremental.ClassID(classes[i]), int32(sections[i])}
				if _, there := m[key]; !there {
					t.Fatalf("the row %v is deleted, and is not there", key)
				}
				delete(m, key)
			}
		default:
			for _, class := range one.arguments[0].(*array).ids(t) {
				for key := range m {
					if key.class == incremental.ClassID(class) {
						delete(m, key)
					}
				}
			}
		}
	}
	for _, row := range s.packedRows(t, of) {
		if _, there := m[row.packedKey]; there != row.changed {
			t.Fatalf("the row %v is changed: %t, and is there: %t", row.packedKey, row.changed, there)
		}
		m[row.packedKey] = row.members
		written++
	}
	return written
}

// numbers are those of the classes that have rows.
func (m packedModel) numbers() map[incremental.ClassID]bool {
	classes := map[incremental.ClassID]bool{}
	for key := range m {
		classes[key.class] = true
	}
	return classes
}

// check compares the model with the classes: each of their members lies in one row, and no
// row has more than it may.
func (m packedModel) check(t *testing.T, of *table) {
	t.Helper()
	partition := partsOf(of)[0].partition
	members, rows := map[incremental.ClassID][]int64{}, map[incremental.ClassID]int{}
	for key, in := range m {
		if len(in) == 0 || len(in) > packedMembers {
			t.Fatalf("row %v has %d members", key, len(in))
		}
		members[key.class] = append(members[key.class], in...)
		rows[key.class]++
	}
	if len(members) != partition.Classes() {
		t.Fatalf("there are rows of %d classes, and %d classes", len(members), partition.Classes())
	}
	for class, all := range members {
		var want []int64
		for _, id := range partition.Members(class) {
			want = append(want, int64(id))
		}
		slices.Sort(all)
		if !slices.Equal(all, want) {
			t.Fatalf("the rows of class %d have the members %v, which has %v", class, all, want)
		}
		if rows[class] > 1+len(all)/sectionLeast {
			t.Fatalf("class %d has %d members in %d rows", class, len(all), rows[class])
		}
	}
}

// crowded is a policy for visits whose classes must not look alike, and become as large as there
// are equal quasi-identifiers.
func crowded(k int) catalog.TablePolicy {
	return visitsPolicy("visits", "rounded-partition", "person", privacy.Spec{Model: privacy.K, K: k}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "illness"})
}

// ofCrowd is a row of such a table.
func (t *layout) ofCrowd(id, age int, cost any) []value {
	return t.visitOf(id, age, map[string]string{"illness": fmt.Sprint("i", id%5), "cost": fmt.Sprint(cost)})
}

// crowdedTable has records of these ages.
func crowdedTable(t *testing.T, k int, ages ...int) *table {
	t.Helper()
	of := memoryTable(t, crowded(k))
	for i, age := range ages {
		if err := of.insert(of.layout.ofCrowd(i+1, age, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return of
}

// recost gives a record of a crowd another cost and another age.
func (t *table) recost(id, age int, cost any) error {
	row := t.layout.ofCrowd(id, age, cost)
	return t.update(row, slices.Clone(row))
}

// TestSectionsFollowClasses has records of large classes come, go, change and move between
// classes, which grow and shrink: the rows have what the classes have, and few are written.
func TestSectionsFollowClasses(t *testing.T) {
	t.Parallel()
	of, m := crowdedTable(t, 3), packedModel{}
	var there []int
	age, next, shrinks := map[int]int{}, 1, false
	insert := func() error {
		id := next
		next++
		there, age[id] = append(there, id), 10*rand.IntN(4)
		return of.insert(of.layout.ofCrowd(id, age[id], 1))
	}
	for range 400 {
		if err := insert(); err != nil {
			t.Fatal(err)
		}
	}
	m.apply(t, of, settleAndSend(t, of))
	m.check(t, of)
	for i := range 1500 {
		of.beginTransaction(0)
		changes := 1 + rand.IntN(3)
		for range changes {
			at := rand.IntN(len(there))
			id := there[at]
			if len(there) > 500 || len(there) < 30 {
				shrinks = len(there) > 500
			}
			var err error
			switch what := rand.IntN(6); {
			case what < 2:
				err = of.recost(id, age[id], i)
			case what < 4:
				age[id] = 10 * rand.IntN(4)
				err = of.recost(id, age[id], i)
			case shrinks:
				there = slices.Delete(there, at, at+1)
				err = of.delete(of.layout.ofCrowd(id, age[id], 1))
			default:
				err = insert()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := of.endTransaction(nil); err != nil {
			t.Fatal(err)
		}
		// Each change is of two sections of two classes at most, and as many rows cover them.
		// A class that is divided or merged with another is written as a whole.
		before := m.numbers()
		written := m.apply(t, of, settleAndSend(t, of))
		if written > 16*changes && maps.Equal(before, m.numbers()) {
			t.Fatalf("%d changes have written %d rows of %d", changes, written, len(m))
		}
		m.check(t, of)
	}
}

// TestSectionsTellNothing changes the same record of a large class again and again: its section
// is drawn anew, so that every section has it now and then, and all members come with it.
func TestSectionsTellNothing(t *testing.T) {
	t.Parallel()
	const members = 100
	of, m := crowdedTable(t, 3, make([]int, members)...), packedModel{}
	settleAndSend(t, of)
	class := partsOf(of)[0].partition.ClassOf(1)
	for _, c := range packedOf(of).sections.classes[class].sections {
		of := packedOf(of).sections.list[c]
		m[packedKey{class, of.number}] = make([]int64, len(of.members))
	}
	sections, with := map[int32]bool{}, map[int64]bool{}
	for i := range draws {
		if err := of.recost(1, 0, i+2); err != nil {
			t.Fatal(err)
		}
		sent := settleAndSend(t, of)
		rows := sent.packedRows(t, of)
		if m.apply(t, of, sent); len(rows) != 2 {
			t.Fatalf("%d rows are sent", len(rows))
		}
		for _, row := range rows {
			if slices.Contains(row.members, 1) {
				sections[row.section] = true
				for _, id := range row.members {
					with[id] = true
				}
			}
		}
	}
	if len(sections) != len(m) || len(with) != members {
		t.Errorf("of %d sections, the record lay in %d, with %d others", len(m), len(sections), len(with)-1)
	}
}

// TestLargeConstraintsDealMore has a change deal as many members of its class as k demands.
func TestLargeConstraintsDealMore(t *testing.T) {
	t.Parallel()
	const k = 50
	of := crowdedTable(t, k, make([]int, 10*k)...)
	settleAndSend(t, of)
	for i := range 20 {
		if err := of.recost(1, 0, i+2); err != nil {
			t.Fatal(err)
		}
		dealt := 0
		for _, row := range settleAndSend(t, of).packedRows(t, of) {
			dealt += len(row.members)
		}
		if dealt < k || dealt > k+packedMembers {
			t.Errorf("%d members are dealt", dealt)
		}
	}
}

// TestHiddenChangesOfLargeClasses changes what decides on the class of a record, which stays in
// it and looks as before: no row is written, which would tell that it is one of a few.
func TestHiddenChangesOfLargeClasses(t *testing.T) {
	t.Parallel()
	var ages []int
	for i := range 59 {
		ages = append(ages, 20+i%2)
	}
	of := crowdedTable(t, 30, ages...)
	settleAndSend(t, of)
	if classes := partsOf(of)[0].partition.Classes(); classes != 1 {
		t.Fatalf("there are %d classes", classes)
	}
	s := of.mode.(*immediate)
	before := s.packed.look(s.parts[0].partition.ClassAt(0))
	for id := range 4 { // as many to the one as to the other
		if err := of.recost(id+1, 21-id%2, 1); err != nil {
			t.Fatal(err)
		}
	}
	if after := s.packed.look(s.parts[0].partition.ClassAt(0)); after != before {
		t.Fatalf("the class looks as %s, and did as %s", after, before)
	}
	if rows := settleAndSend(t, of).packedRows(t, of); len(rows) > 0 {
		t.Errorf("%d rows are sent", len(rows))
	}
}
