package lineage_test

import (
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// full is a record of which no value is zero.
func full(id incremental.RecordID) lineage.Record {
	n := uint32(id)
	return lineage.Record{
		Record: incremental.Record{ID: id, Cells: []float64{float64(id)}, Sensitive: []uint32{n}, Subject: n},
		Copied: []uint64{uint64(id), 1},
	}
}

func fullLineage(t *testing.T) *lineage.Lineage {
	t.Helper()
	attributes := workload.Generate(1, workload.Shape{Attributes: 1, Distinct: 9}).Attributes
	l, err := lineage.New(attributes, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, lineage.Options{Least: 1})
	must(t, err)
	return l
}

// TestNothingStays of a record that is gone: no value of it, and no slot for nobody.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	const records, rounds = 100, 50
	l := fullLineage(t)
	publish := func(at time.Time) {
		_, err := l.Publish(t.Context(), at)
		must(t, err)
	}
	for id := incremental.RecordID(1); id <= records; id++ {
		must(t, l.Insert(full(id), began))
	}
	publish(began)
	for id := incremental.RecordID(records + 1); id <= rounds*records; id++ {
		now := began.Add(time.Duration(id) * time.Second)
		must(t, l.Delete(id-records), l.Insert(full(id), now))
		changed := full(id - records/2)
		changed.Copied[0]++
		must(t, l.Modify(changed, now))
		if id%7 == 0 {
			publish(now)
		}
	}
	slots, valued, differences := l.Kept()
	if slots != records || valued != records || differences > 2*records {
		t.Errorf("%d slots and %d differences for %d records, %d with values", slots, differences, records, valued)
	}
	for id := incremental.RecordID((rounds-1)*records + 1); id <= rounds*records; id++ {
		must(t, l.Delete(id))
	}
	slots, valued, differences = l.Kept()
	if slots != records || valued != 0 || differences != 0 {
		t.Errorf("%d slots and %d differences of nobody, %d with values", slots, differences, valued)
	}
}

// TestTruncateFrees what was kept for the records, and lets others come.
func TestTruncateFrees(t *testing.T) {
	t.Parallel()
	l := fullLineage(t)
	for round := range 3 {
		for id := incremental.RecordID(1); id <= 100; id++ {
			must(t, l.Insert(full(id), began))
		}
		_, err := l.Publish(t.Context(), began)
		must(t, err)
		if slots, _, _ := l.Kept(); slots != 100 || l.Len() != 100 || l.Freshness().Rows != 100 {
			t.Fatalf("round %d: %d slots, %+v", round, slots, l.Freshness())
		}
		changed := full(1)
		changed.Subject = 0
		must(t, l.Modify(changed, began))
		l.Truncate()
		if slots, _, differences := l.Kept(); slots+differences+l.Len() != 0 {
			t.Errorf("round %d: %d slots, %d differences, %d records", round, slots, differences, l.Len())
		}
	}
}

// TestSlotOfAnother: what waits in the slot of a record that has waited there before waits
// since it came.
func TestSlotOfAnother(t *testing.T) {
	t.Parallel()
	l := fullLineage(t)
	must(t, l.Insert(full(1), began), l.Insert(full(2), began))
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	changed := full(1)
	changed.Copied[0]++
	must(t, l.Modify(changed, began.Add(1)), l.Delete(1), l.Insert(full(3), began.Add(2)))
	f := l.Freshness()
	if f.Stale != 0 || !f.OldestStale.IsZero() || f.Waiting != 1 || !f.OldestWaiting.Equal(began.Add(2)) {
		t.Errorf("%+v", f)
	}
	c, err := l.Publish(t.Context(), began.Add(3))
	if must(t, err); len(c.Touched) != 1 || c.Touched[0] != 3 {
		t.Errorf("touched %v", c.Touched)
	}
}

// TestPartingsOfMany are given back while one record is still parted, which keeps its own.
func TestPartingsOfMany(t *testing.T) {
	t.Parallel()
	const many = 5000
	l := fullLineage(t)
	must(t, l.Insert(full(1), began), l.Insert(full(2), began))
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	for id := incremental.RecordID(3); id < many; id++ {
		must(t, l.Insert(full(id), began.Add(time.Duration(id))))
	}
	changed := full(1)
	changed.Copied[0]++
	must(t, l.Modify(changed, began.Add(many)))
	before, err := l.Publish(t.Context(), began.Add(many))
	must(t, err)
	if _, _, differences := l.Kept(); differences != 1 {
		t.Errorf("%d differences for one record", differences)
	}
	if place := before.Place(1); !place.Since.Equal(began.Add(many)) || place.Changed == "" || !l.Freshness().OldestStale.Equal(place.Since) {
		t.Errorf("the parted record stands at %+v, %+v", place, l.Freshness())
	}
	for _, id := range []incremental.RecordID{2, 3, many - 1} {
		if place := before.Place(id); !place.Since.IsZero() {
			t.Errorf("record %d stands at %+v", id, place)
		}
	}
}

// TestTruncatedDoNotCount: the persons who waited when the table was truncated are no part of the
// next batch. With them it would be tried too early, and all of it would be withheld for good.
func TestTruncatedDoNotCount(t *testing.T) {
	t.Parallel()
	const k = 5
	l := bare(t, lineage.Options{Subjects: true}, privacy.KAnonymity{K: k})
	insert := func(from, to incremental.RecordID) {
		for id := from; id <= to; id++ {
			r := ill(id, 0)
			r.Subject = uint32(id)
			must(t, l.Insert(r, began))
		}
	}
	insert(1, k-1)
	l.Truncate()
	insert(k, 2*k-2)
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	insert(2*k-1, 2*k-1)
	changes, err := l.Publish(t.Context(), began)
	must(t, err)
	if len(changes.Rows) != k {
		t.Errorf("%d of %d records are published", len(changes.Rows), k)
	}
}
