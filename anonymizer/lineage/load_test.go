package lineage_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestLoadingOfMany loads so many records that goroutines share the work, and rows beside
// them, which come in another order and whose values are numbered otherwise.
func TestLoadingOfMany(t *testing.T) {
	t.Parallel()
	const rows, values = 30_000, 5
	random := rand.New(rand.NewPCG(7, 8))
	classOf := func(row lineage.RowID) incremental.ClassID { return incremental.ClassID(1 + row/7) }
	var published []lineage.StoredRow
	var records []lineage.StoredRecord
	holder := make(map[lineage.RowID]incremental.RecordID)
	var want lineage.Freshness
	for id := lineage.RowID(1); id <= rows; id++ {
		code := uint32(random.IntN(values))
		published = append(published, lineage.StoredRow{ID: id, Class: classOf(id), Person: uint32(id % 7), Sensitive: []uint32{values - 1 - code}})
		if random.IntN(11) == 0 {
			want.Ghosts++
			continue
		}
		r := lineage.StoredRecord{Record: ill(incremental.RecordID(random.IntN(1<<40))<<20+incremental.RecordID(id), code), Place: lineage.Place{Class: classOf(id), Row: id}}
		if random.IntN(2) == 0 {
			r.ID = incremental.RecordID(2*rows - id)
		}
		if random.IntN(13) == 0 {
			r.Place.Since = began.Add(time.Duration(random.IntN(1000)) * time.Second)
			want.Stale++
		}
		holder[id] = r.ID
		records = append(records, r)
	}
	for id := range incremental.RecordID(700) {
		r := lineage.StoredRecord{Record: ill(4*rows+id, 1), Place: lineage.Place{Since: began}}
		if r.Place.Withheld = id%3 == 0; r.Place.Withheld {
			want.Withheld++
		} else {
			want.Waiting++
		}
		records = append(records, r)
	}
	random.Shuffle(len(published), func(i, j int) { published[i], published[j] = published[j], published[i] })
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })

	l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
	loading, err := l.BeginLoading(rows / 2)
	must(t, err)
	var reading sync.WaitGroup
	reading.Go(func() {
		for _, r := range published {
			if err := loading.Row(r); err != nil {
				t.Error(err)
			}
		}
	})
	for _, r := range records {
		must(t, loading.Record(r))
	}
	reading.Wait()
	must(t, loading.End(nil, [][]uint32{{4, 3, 2, 1, 0}}))

	got := l.Freshness()
	if got.Ghosts != want.Ghosts || got.Stale != want.Stale || got.Withheld != want.Withheld || got.Waiting != want.Waiting || got.Rows != rows || l.Len() != len(records) {
		t.Errorf("%+v of %d records, want %+v of %d", got, l.Len(), want, len(records))
	}
	for _, r := range published {
		if shown := l.Shown(r.Class)[r.ID]; !slices.Equal(shown, []uint32{values - 1 - r.Sensitive[0]}) {
			t.Fatalf("row %d shows %v, not %d", r.ID, shown, values-1-r.Sensitive[0])
		}
	}
	found := 0
	for class := range l.Classes() {
		listed := l.RowsOf(class)
		if !slices.IsSortedFunc(listed, func(a, b lineage.NewRow) int { return int(a.ID - b.ID) }) {
			t.Fatalf("class %d has its rows in another order than that of their numbers", class)
		}
		for _, r := range listed {
			if r.Class != classOf(r.ID) || r.Record != holder[r.ID] || r.Person != uint32(r.ID%7) {
				t.Fatalf("%+v is a row of class %d and of record %d", r, classOf(r.ID), holder[r.ID])
			}
			found++
		}
	}
	if found != rows-want.Ghosts {
		t.Errorf("%d rows stand for a record, not %d", found, rows-want.Ghosts)
	}
}

// TestLoadingOfClasses of all sizes, which show several values: the largest of them has more
// rows than lie in one piece of memory.
func TestLoadingOfClasses(t *testing.T) {
	t.Parallel()
	for _, shown := range []int{0, 1, 3} {
		l := bare(t, lineage.Options{}, privacy.KAnonymity{K: 2})
		var rows []lineage.StoredRow
		for class, size := range []int{1, 700, 511, 512, 513, 3, 1, 1024, 2, 5} {
			for range size {
				id := lineage.RowID(len(rows) + 1)
				values := []uint32{uint32(id), uint32(class), uint32(id) % 7}
				rows = append(rows, lineage.StoredRow{ID: id, Class: incremental.ClassID(class + 1), Sensitive: values[:shown]})
			}
		}
		given := slices.Clone(rows)
		random := rand.New(rand.NewPCG(3, 3))
		random.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
		must(t, l.Load(given, nil, nil))
		if f := l.Freshness(); f.Rows != len(rows) || f.Ghosts != len(rows) || f.Classes != 10 {
			t.Fatalf("%+v", f)
		}
		found := map[lineage.RowID][]uint32{}
		for class := range l.Classes() {
			maps.Copy(found, l.Shown(class))
		}
		for _, r := range rows {
			if got, is := found[r.ID]; !is || !slices.Equal(got, r.Sensitive) {
				t.Fatalf("row %d of class %d shows %v, %v expected", r.ID, r.Class, got, r.Sensitive)
			}
		}
		c, err := l.Publish(t.Context(), began)
		if must(t, err); len(c.Gone) != len(rows) || l.Freshness() != (lineage.Freshness{}) {
			t.Errorf("%d rows of nobody vanish, %d expected", len(c.Gone), len(rows))
		}
	}
}
