package incremental_test

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// settledCase is a settled partition, and what makes empty ones of its kind.
func settledCase(t *testing.T) (settled *incremental.Partition, empty func(incremental.Options) *incremental.Partition, records []incremental.Record) {
	t.Helper()
	shape := workload.Shape{Attributes: 3, Distinct: 30, Nulls: 0.05, Sensitive: 5}
	m := newModel(t, 7, shape, constraintSets(3, shape))
	for range 200 {
		m.step(20)
	}
	m.settle()
	settled = m.partition
	for slot := range int32(settled.Len() + 50) {
		if id := incremental.RecordID(slot); settled.SlotOf(id) >= 0 {
			r, _, _ := settled.Record(id)
			records = append(records, r)
		}
	}
	empty = func(o incremental.Options) *incremental.Partition {
		return incremental.New(m.data.Attributes, constraintSets(3, shape), partition.RoundedPartition{}, o)
	}
	return settled, empty, records
}

// TestOmitMoved has a partition that does not list who moved make the same classes.
func TestOmitMoved(t *testing.T) {
	t.Parallel()
	_, empty, records := settledCase(t)
	listed, omitted := empty(incremental.Options{}), empty(incremental.Options{OmitMoved: true})
	for _, p := range []*incremental.Partition{listed, omitted} {
		for _, r := range records {
			if err := p.Insert(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want, got := listed.Settle(), omitted.Settle(); len(got.Moved) > 0 || !slices.Equal(got.Rewrite, want.Rewrite) {
		t.Errorf("%d moved, classes %v, want %v", len(got.Moved), got.Rewrite, want.Rewrite)
	}
	for _, r := range records {
		if omitted.ClassOf(r.ID) != listed.ClassOf(r.ID) {
			t.Errorf("record %d is in class %d, want %d", r.ID, omitted.ClassOf(r.ID), listed.ClassOf(r.ID))
		}
	}
}
