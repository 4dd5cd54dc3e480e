package incremental_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// seatedCase is a settled partition, and what makes empty ones of its kind.
func seatedCase(t *testing.T) (settled *incremental.Partition, empty func(incremental.Options) *incremental.Partition, records []incremental.Record) {
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

// TestSeating has a partition that was loaded without classes, and then given them in
// pieces, stand where one stands that was loaded class by class.
func TestSeating(t *testing.T) {
	t.Parallel()
	settled, empty, records := seatedCase(t)
	p := empty(incremental.Options{})
	var alone incremental.RecordID // withheld in the store
	for _, r := range records {
		if err := p.Load(0, []incremental.Record{r}); err != nil {
			t.Fatal(err)
		}
		if slot := p.SlotOf(r.ID); p.InSlot(slot) != r.ID || int(slot) != p.Len()-1 {
			t.Fatalf("record %d of %d got slot %d", p.Len(), r.ID, slot)
		}
	}
	seating := p.BeginSeating()
	for place := range settled.Classes() {
		class := settled.ClassAt(place)
		members := settled.Members(class)
		if place == 0 {
			alone, members = members[0], members[1:]
		}
		for piece := range slices.Chunk(members, 2) {
			if err := seating.Seat(class, piece); err != nil {
				t.Fatal(err)
			}
		}
	}
	seating.End()
	if p.Withheld() != 1 || p.ClassOf(alone) != 0 || p.Classes() != settled.Classes() || p.NextClass() != settled.NextClass() {
		t.Errorf("%d withheld, %d of %d classes, next %d of %d", p.Withheld(), p.Classes(), settled.Classes(), p.NextClass(), settled.NextClass())
	}
	for place := range settled.Classes() {
		class := settled.ClassAt(place)
		want := settled.Members(class)
		if got := p.Members(class); !slices.Equal(got, slices.DeleteFunc(want, func(id incremental.RecordID) bool { return id == alone })) {
			t.Errorf("class %d has %v, want %v", class, got, want)
		}
		var ids []incremental.RecordID
		for _, slot := range p.AppendSlots(nil, class) {
			ids = append(ids, p.InSlot(slot))
		}
		if slices.Sort(ids); !slices.Equal(ids, p.Members(class)) {
			t.Errorf("the slots of class %d are those of %v", class, ids)
		}
	}
	changes := p.Settle()
	if class, moved := changes.Moved[alone]; len(changes.Moved) != 1 || !moved || class == 0 {
		t.Errorf("settling moves %v, and not record %d alone", changes.Moved, alone)
	}
}

// TestSeatingRefuses lists what a store cannot hold.
func TestSeatingRefuses(t *testing.T) {
	t.Parallel()
	p := incremental.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 1}}, partition.RoundedPartition{}, incremental.Options{})
	if err := p.Load(0, []incremental.Record{{ID: 1}, {ID: 2}}); err != nil {
		t.Fatal(err)
	}
	seating := p.BeginSeating()
	for _, c := range []struct {
		class incremental.ClassID
		ids   []incremental.RecordID
		want  error
	}{
		{1, nil, nil},
		{1, []incremental.RecordID{1}, nil},
		{1, []incremental.RecordID{3}, incremental.ErrUnknown},
		{2, []incremental.RecordID{1}, incremental.ErrDuplicate},
		{2, []incremental.RecordID{2, 2}, incremental.ErrDuplicate},
	} {
		if err := seating.Seat(c.class, c.ids); !errors.Is(err, c.want) {
			t.Errorf("seating %v in %d gives %v, want %v", c.ids, c.class, err, c.want)
		}
	}
	if seating.Seat(0, []incremental.RecordID{2}) == nil || seating.Seat(-1, nil) == nil {
		t.Error("a class that there cannot be is taken")
	}
}

// TestUntold has a partition that does not tell who moved make the same classes.
func TestUntold(t *testing.T) {
	t.Parallel()
	_, empty, records := seatedCase(t)
	told, untold := empty(incremental.Options{}), empty(incremental.Options{Untold: true})
	for _, p := range []*incremental.Partition{told, untold} {
		for _, r := range records {
			if err := p.Insert(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want, got := told.Settle(), untold.Settle(); len(got.Moved) > 0 || !slices.Equal(got.Rewrite, want.Rewrite) {
		t.Errorf("%d moved, classes %v, want %v", len(got.Moved), got.Rewrite, want.Rewrite)
	}
	for _, r := range records {
		if untold.ClassOf(r.ID) != told.ClassOf(r.ID) {
			t.Errorf("record %d is in class %d, want %d", r.ID, untold.ClassOf(r.ID), told.ClassOf(r.ID))
		}
	}
}
