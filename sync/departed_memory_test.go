package sync

import (
	"errors"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// TestPersonsTakeTheirPlaces has rows of persons be replaced by others with other keys within one
// transaction: each takes the place of the oldest record of the same person that has left, and
// who has no place to take, or has left for good, has come or gone.
func TestPersonsTakeTheirPlaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		left []int // records of before, from 1 on, by the order in which their rows are deleted
		come []string
		back int           // which of those who have come leaves again at once, from 1 on; 0 for none
		want map[int64]int // records and the rows that they have at the end
		gone []incremental.RecordID
	}{
		{name: "one for one", left: []int{2}, come: []string{"a"}, want: map[int64]int{2: 101}},
		{name: "of another person", left: []int{2}, come: []string{"z"}, want: map[int64]int{7: 101}, gone: []incremental.RecordID{2}},
		{name: "the oldest first", left: []int{3, 1, 2}, come: []string{"a", "a"}, want: map[int64]int{1: 101, 2: 102}, gone: []incremental.RecordID{3}},
		{name: "more than have left", left: []int{1}, come: []string{"a", "a", "b"}, want: map[int64]int{1: 101, 8: 102, 9: 103}},
		{name: "of two persons", left: []int{4, 1}, come: []string{"b", "a"}, want: map[int64]int{4: 101, 1: 102}},
		{name: "who leaves again at once", left: []int{1, 2}, come: []string{"a", "a"}, back: 1, want: map[int64]int{1: 102}, gone: []incremental.RecordID{2}},
		{name: "only one who leaves again at once", come: []string{"a", "a"}, back: 1, want: map[int64]int{8: 102}},
		{name: "nobody", left: []int{5}, gone: []incremental.RecordID{5}, want: map[int64]int{}},
	} {
		of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "person", ofSize))
		visit := func(id int, person string) []value {
			return of.layout.visitOf(id, 30, map[string]string{"person": person})
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		persons := []string{"a", "a", "a", "b", "b", "b"}
		of.beginTransaction(8)
		for i, person := range persons {
			check(of.insert(visit(i+1, person)))
		}
		check(of.endTransaction(nil))
		of.written()
		of.beginTransaction(16)
		for _, id := range test.left {
			check(of.delete(visit(id, persons[id-1])))
		}
		for i, person := range test.come {
			check(of.insert(visit(101+i, person)))
		}
		if test.back > 0 {
			check(of.delete(visit(100+test.back, test.come[test.back-1])))
		}
		check(of.endTransaction(nil))
		got := map[int64]int{}
		for row := 101; row < 105; row++ {
			if id, known := of.keys.find(of.keyOf(visit(row, ""))); known {
				got[int64(id)] = row
				if pending := of.pending.rows[id]; pending == nil || pending.values[of.layout.columns.index("id")].text != visit(row, "")[of.layout.columns.index("id")].text {
					t.Errorf("%s: record %d is written as %+v", test.name, id, pending)
				}
			}
		}
		if len(got) != len(test.want) || !slices.Equal(of.pending.deleted, test.gone) {
			t.Errorf("%s: the rows are %v, and %v are gone", test.name, got, of.pending.deleted)
		}
		for id, row := range test.want {
			if got[id] != row {
				t.Errorf("%s: record %d has row %d, not %d", test.name, id, got[id], row)
			}
		}
		if records := of.mode.status().Records; records != len(persons)-len(test.left)+len(test.want) {
			t.Errorf("%s: %d records are there", test.name, records)
		}
	}
}

// TestTwiceTheSameKey has a transaction delete a row, give its key to another, and delete that
// one as well: both are gone.
func TestTwiceTheSameKey(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	for id := 1; id <= 3; id++ {
		if err := of.insert(of.layout.visitOf(id, 30, nil)); err != nil {
			t.Fatal(err)
		}
	}
	of.written()
	of.beginTransaction(8)
	one, two := of.layout.visitOf(1, 30, nil), of.layout.visitOf(2, 30, nil)
	err := errors.Join(of.delete(one), of.update(two, of.layout.visitOf(1, 40, nil)), of.delete(one))
	if !slices.Equal(of.pending.deleted, []incremental.RecordID{1}) {
		t.Errorf("of the records of one key, %v are forgotten", of.pending.deleted)
	}
	if id, left := of.deletes.keys.find(of.keyOf(one)); !left || id != 2 {
		t.Errorf("record %d has left, %t", id, left)
	}
	if err = errors.Join(err, of.endTransaction(nil)); err != nil || !slices.Equal(of.pending.deleted, []incremental.RecordID{1, 2}) || of.deletes.keys != nil || of.mode.status().Records != 1 {
		t.Errorf("%v are gone: %v", of.pending.deleted, err)
	}
}

// TestRowsThatComeTwice has the stream insert a row that is there, within a transaction that
// has deleted another one of its key.
func TestRowsThatComeTwice(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	one := func() []value { return of.layout.visitOf(1, 30, nil) }
	if err := of.insert(one()); err != nil {
		t.Fatal(err)
	}
	of.written()
	of.beginTransaction(8)
	if of.pending.dirty = false; of.delete(one()) != nil || !of.pending.dirty {
		t.Error("a deleted row changes nothing")
	}
	if err := of.insert(one()); err != nil || of.nextRecord != 2 {
		t.Errorf("the row is record %d: %v", of.nextRecord-1, err)
	}
	if err := of.insert(one()); err == nil || transient(err) {
		t.Errorf("it is inserted twice: %v", err)
	}
	of.deletes.keys.add(of.keyOf(one()), 5)
	if err := of.insert(one()); err == nil || transient(err) {
		t.Errorf("it comes back to a key that is taken: %v", err)
	}
	if err := of.delete(of.layout.visitOf(7, 30, nil)); err == nil {
		t.Error("a row is deleted that was never there")
	}
}
