package lineage_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// unsafe is how many of 2,000 persons a reader who compares versions can tell apart from all but
// fewer than k others, after 3 % of all have left and have come back: the persons in atoms (see
// DESIGN.md) below k.
func unsafe(t *testing.T, comesBack func(l *lineage.Lineage, left lineage.Left, r lineage.Record, now time.Time) error) int {
	t.Helper()
	const persons, k, every = 2000, 5, 33
	data := workload.Generate(1, workload.Shape{Records: persons, Attributes: 3, Distinct: 50})
	l, err := lineage.New(data.Attributes, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, partition.RoundedPartition{}, lineage.Options{Seed: 1})
	must(t, err)
	record := func(id incremental.RecordID) lineage.Record {
		r := lineage.Record{Record: incremental.Record{ID: id}}
		for _, cells := range data.Cells {
			r.Cells = append(r.Cells, cells[id-1])
		}
		return r
	}
	history := map[incremental.RecordID]string{}
	at := began
	publish := func() {
		at = at.Add(time.Hour)
		changes, err := l.Publish(t.Context(), at)
		must(t, err)
		for _, row := range changes.Rows {
			history[row.Record] += fmt.Sprint(row.Class, " ")
		}
	}
	for id := incremental.RecordID(1); id <= persons; id++ {
		must(t, l.Insert(record(id), at))
	}
	publish()
	left := map[incremental.RecordID]lineage.Left{}
	for id := incremental.RecordID(every); id <= persons; id += every {
		as, published, err := l.Leave(id)
		must(t, err)
		if !published {
			t.Fatalf("record %d was not published", id)
		}
		left[id] = as
	}
	publish()
	for id := incremental.RecordID(every); id <= persons; id += every {
		must(t, comesBack(l, left[id], record(id), at))
	}
	publish()
	atoms := map[string]int{}
	for _, classes := range history {
		atoms[classes]++
	}
	found := 0
	for _, n := range atoms {
		if n < k {
			found += n
		}
	}
	return found
}

// TestComingBackIsSafe: who takes the old row back is in one class; who is published anew is in
// two, and so are the others of both told apart from him.
func TestComingBackIsSafe(t *testing.T) {
	t.Parallel()
	anew := unsafe(t, func(l *lineage.Lineage, _ lineage.Left, r lineage.Record, now time.Time) error {
		return l.Insert(r, now)
	})
	back := unsafe(t, func(l *lineage.Lineage, left lineage.Left, r lineage.Record, now time.Time) error {
		return l.Return(left.Ghost, r, now)
	})
	t.Logf("of 2000 persons, %d are in unsafe sets where the 60 are published anew, and %d where they take their rows back", anew, back)
	if anew < 200 || back > 0 {
		t.Errorf("%d persons are in unsafe sets where those who come back are published anew, and %d where they are not", anew, back)
	}
}

// TestWhoCannotComeBack: what is wrong changes nothing.
func TestWhoCannotComeBack(t *testing.T) {
	t.Parallel()
	l := fullLineage(t)
	for id := incremental.RecordID(1); id <= 4; id++ {
		must(t, l.Insert(full(id), began))
	}
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	if _, _, err := l.Leave(9); !errors.Is(err, incremental.ErrUnknown) {
		t.Errorf("record 9 left: %v", err)
	}
	must(t, l.Insert(full(5), began))
	if _, published, err := l.Leave(5); published || err != nil {
		t.Errorf("record 5, which waits, left: published %t, %v", published, err)
	}
	left, _, err := l.Leave(1)
	must(t, err)
	if err := l.Return(left.Ghost, full(2), began); !errors.Is(err, incremental.ErrDuplicate) {
		t.Errorf("record 2 came back: %v", err)
	}
	other := full(1)
	other.Copied = nil
	if err := l.Return(left.Ghost, other, began); err == nil {
		t.Error("a record of another shape came back")
	}
	for _, wrong := range []lineage.Left{
		{Class: left.Class + 9, Row: left.Row},                // no such class
		{Class: left.Class, Row: left.Row + 99},               // no such row
		{Class: left.Class, Row: left.Row},                    // it has a number
		{Class: left.Class, Row: left.Row, Changed: "nohex"},  // not a change
		{Class: left.Class, Row: left.Row%4 + 1, Changed: ""}, // somebody's, or of another class
	} {
		if _, is, _ := l.LoadGhost(wrong, []uint64{1, 1}); is {
			t.Errorf("%+v is the row of a ghost without a number", wrong)
		}
	}
	if f := l.Freshness(); f.Ghosts != 1 || f.Stale != 0 || l.Len() != 3 {
		t.Errorf("%d records and %+v", l.Len(), f)
	}
	must(t, l.Return(left.Ghost, full(1), began))
	if f := l.Freshness(); f.Ghosts != 0 || f.Stale != 1 || l.Len() != 4 {
		t.Errorf("%d records and %+v after coming back", l.Len(), f)
	}
}

// TestNobodyComesBackAfterTruncate: a class of nobody vanishes as a whole. One who came back to
// it would stay there alone, and all others would be published anew.
func TestNobodyComesBackAfterTruncate(t *testing.T) {
	t.Parallel()
	l := fullLineage(t)
	for id := incremental.RecordID(1); id <= 20; id++ {
		must(t, l.Insert(full(id), began))
	}
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	left, _, err := l.Leave(1)
	must(t, err)
	l.Truncate()
	changes, err := l.Publish(t.Context(), began)
	must(t, err)
	if len(changes.Vanished) != 1 || changes.Vanished[0] != left.Ghost || l.Ghosts() != 0 || len(changes.Gone) != 20 {
		t.Errorf("ghosts %d have vanished, %d are left, %d rows are gone", changes.Vanished, l.Ghosts(), len(changes.Gone))
	}
}

// TestOthersVanishBeforeOneComesBack: what is known of a ghost does not go with another ghost.
func TestOthersVanishBeforeOneComesBack(t *testing.T) {
	t.Parallel()
	l := fullLineage(t)
	for id := incremental.RecordID(1); id <= 8; id++ {
		must(t, l.Insert(full(id), began))
	}
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	first, _, err := l.Leave(1)
	must(t, err)
	second, _, err := l.Leave(2)
	must(t, err)
	must(t, l.Return(second.Ghost, full(2), began), l.Return(first.Ghost, full(1), began))
	// Of a record that came back as it was, no copied value has changed.
	for _, l := range []lineage.Left{first, second} {
		if l.Changed != "" {
			t.Fatalf("row %d was stale before", l.Row)
		}
	}
	changes, err := l.Publish(t.Context(), began)
	must(t, err)
	if one, two := changes.Place(1), changes.Place(2); one.Changed != two.Changed {
		t.Errorf("records that came back as they were differ in %q and %q from their rows", one.Changed, two.Changed)
	}
}

// TestLoadedWeightTellsNoPerson: after a restart, the weight of a class does not change for the one
// person who has left since.
func TestLoadedWeightTellsNoPerson(t *testing.T) {
	t.Parallel()
	l := bare(t, lineage.Options{Least: 1, Subjects: true}, privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 2})
	const rows, left, leaving = 30, 12, 15 // two rows of each of 6 persons have left, and three of one person leave
	var published []lineage.StoredRow
	var records []lineage.StoredRecord
	for id := lineage.RowID(1); id <= rows; id++ {
		person, code := uint32(id), uint32(0) // nearly all have one value, so that no part is diverse for sure
		switch {
		case id <= left:
			person = uint32(id+1) / 2
		case id <= leaving:
			person = left
		case id > rows-2:
			code = 1
		}
		published = append(published, lineage.StoredRow{ID: id, Class: 1, Person: person, Sensitive: []uint32{code}})
		if id > left {
			r := ill(incremental.RecordID(id), code)
			r.Subject = person
			records = append(records, lineage.StoredRecord{Record: r, Place: lineage.Place{Class: 1, Row: id}})
		}
	}
	told := lineage.Weight{Share: float64(rows-left) / rows, Ghosts: left, Persons: left / 2}
	groups := lineage.Weight{Share: 1, Ghosts: left, Persons: left / 2}
	must(t, l.Load(published, map[incremental.ClassID]lineage.Weight{1: told, -1: groups, 0: groups}, records))
	for id := incremental.RecordID(left + 1); id <= leaving; id++ {
		must(t, l.Delete(id))
	}
	changes, err := l.Publish(t.Context(), began)
	must(t, err)
	shown := 0
	for _, w := range changes.Weights {
		if w.Share > 0 {
			shown++ // what has no share is for the store
		}
	}
	if shown > 0 || len(changes.Gone) > 0 || l.Freshness().Ghosts != leaving {
		t.Errorf("one person has left, and readers see weights %v and %d rows vanish", changes.Weights, len(changes.Gone))
	}
}

// TestWeightLeavesOutKPersons: when so many have come back that fewer than k persons are missing,
// the weight is that of a class of which nobody is missing. Otherwise it would show that one is.
func TestWeightLeavesOutKPersons(t *testing.T) {
	t.Parallel()
	const rows, k, leaving = 30, 3, 4
	l := bare(t, lineage.Options{Crowd: rows / k}, privacy.KAnonymity{K: k}, privacy.DistinctDiversity{L: 2})
	record := func(id incremental.RecordID) lineage.Record {
		if id > rows-2 {
			return ill(id, 1)
		}
		return ill(id, 0) // nearly all have this value, so that those who leave cannot be told apart
	}
	publish := func() map[incremental.ClassID]lineage.Weight {
		changes, err := l.Publish(t.Context(), began)
		must(t, err)
		return changes.Weights
	}
	for id := incremental.RecordID(1); id <= rows; id++ {
		must(t, l.Insert(record(id), began))
	}
	publish()
	var ghosts []lineage.Ghost
	var class incremental.ClassID
	for id := incremental.RecordID(1); id <= leaving; id++ {
		left, _, err := l.Leave(id)
		must(t, err)
		ghosts, class = append(ghosts, left.Ghost), left.Class
	}
	if weights := publish(); weights[class].Share != float64(rows-leaving)/rows {
		t.Fatalf("%d of %d persons have left, and the weights are %v", leaving, rows, weights)
	}
	for i, g := range ghosts[:k] {
		must(t, l.Return(g, record(incremental.RecordID(i+1)), began))
	}
	if weights := publish(); weights[class].Share != 1 {
		t.Errorf("one person is missing, and the weights are %v", weights)
	}
}
