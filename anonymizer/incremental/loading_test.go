package incremental_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestLoading has a partition that was given records, and their classes in pieces, stand
// where the settled one stands that these are from.
func TestLoading(t *testing.T) {
	t.Parallel()
	settled, empty, records := settledCase(t)
	p := empty(incremental.Options{})
	var alone incremental.RecordID // withheld in the store
	loading := begun(t, p, len(records)/2)
	var pieces []piece // the classes lie apart in the store
	for place := range settled.Classes() {
		class := settled.ClassAt(place)
		members := settled.Members(class)
		if place == 0 {
			alone, members = members[0], members[1:]
		}
		for members := range slices.Chunk(members, 2) {
			pieces = append(pieces, piece{class, members})
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	var running sync.WaitGroup
	running.Go(func() {
		for _, piece := range pieces {
			if err := loading.Assign(piece.class, piece.ids); err != nil {
				t.Error(err)
			}
		}
	})
	for _, r := range records {
		if err := loading.Record(r); err != nil {
			t.Error(err)
		}
	}
	running.Wait()
	if err := loading.End(); err != nil {
		t.Fatal(err)
	}
	for slot, r := range records {
		if p.SlotOf(r.ID) != int32(slot) || p.InSlot(int32(slot)) != r.ID {
			t.Fatalf("record %d is in slot %d, not %d", r.ID, p.SlotOf(r.ID), slot)
		}
	}
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

// piece are some of the records of a class.
type piece struct {
	class incremental.ClassID
	ids   []incremental.RecordID
}

func begun(t *testing.T, p *incremental.Partition, room int) *incremental.Loading {
	t.Helper()
	loading, err := p.BeginLoading(room)
	if err != nil {
		t.Fatal(err)
	}
	return loading
}

// TestLoadingOfMany has the work divided, and classes of which some lie next to each other
// in memory and have their records far apart.
func TestLoadingOfMany(t *testing.T) {
	t.Parallel()
	const classes, size = 3000, 11
	p := incremental.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 3}}, partition.RoundedPartition{}, incremental.Options{})
	loading := begun(t, p, 0)
	random := rand.New(rand.NewPCG(2, 2))
	all := random.Perm(classes * size)
	for id := range all {
		if err := loading.Record(incremental.Record{ID: incremental.RecordID(id) << 20}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[incremental.ClassID][]incremental.RecordID{}
	for i, id := range all {
		class := incremental.ClassID(1 + i%classes)
		want[class] = append(want[class], incremental.RecordID(id)<<20)
		if err := loading.Assign(class, want[class][len(want[class])-1:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := loading.End(); err != nil {
		t.Fatal(err)
	}
	if p.Len() != len(all) || p.Withheld() != 0 || p.Classes() != classes || p.NextClass() != classes+1 {
		t.Errorf("%d records, %d withheld, %d classes", p.Len(), p.Withheld(), p.Classes())
	}
	for class, ids := range want {
		slices.Sort(ids)
		if got := p.Members(class); !slices.Equal(got, ids) {
			t.Fatalf("class %d has %v, want %v", class, got, ids)
		}
	}
	for id := range all {
		if err := p.Delete(incremental.RecordID(id) << 20); err != nil {
			t.Fatal(err)
		}
	}
	if changes := p.Settle(); len(changes.Retired) != classes || p.Classes() != 0 {
		t.Errorf("%d of %d classes are retired without records", len(changes.Retired), classes)
	}
}

// TestLoadingRefuses lists what a store cannot hold.
func TestLoadingRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		pieces []piece
		twice  incremental.RecordID
		want   error
	}{
		{"nothing", []piece{{1, nil}}, 0, nil},
		{"one record", []piece{{1, []incremental.RecordID{1}}}, 0, nil},
		{"an unknown record", []piece{{1, []incremental.RecordID{3}}}, 0, incremental.ErrUnknown},
		{"two classes", []piece{{1, []incremental.RecordID{1}}, {2, []incremental.RecordID{1}}}, 0, incremental.ErrDuplicate},
		{"twice in a class", []piece{{1, []incremental.RecordID{1}}, {1, []incremental.RecordID{1}}}, 0, incremental.ErrDuplicate},
		{"twice in a piece", []piece{{2, []incremental.RecordID{2, 2}}}, 0, incremental.ErrDuplicate},
		{"a record twice", nil, 2, incremental.ErrDuplicate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := incremental.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 1}}, partition.RoundedPartition{}, incremental.Options{})
			loading := begun(t, p, 2)
			for _, id := range []incremental.RecordID{1, 2, c.twice} {
				if err := loading.Record(incremental.Record{ID: id}); err != nil {
					t.Fatal(err)
				}
			}
			for _, piece := range c.pieces {
				if err := loading.Assign(piece.class, piece.ids); err != nil {
					t.Fatal(err)
				}
			}
			if err := loading.End(); !errors.Is(err, c.want) {
				t.Errorf("it gives %v, want %v", err, c.want)
			}
		})
	}
	p := incremental.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 1}}, partition.RoundedPartition{}, incremental.Options{})
	loading := begun(t, p, 0)
	if loading.Assign(0, []incremental.RecordID{2}) == nil || loading.Assign(-1, nil) == nil {
		t.Error("a class that there cannot be is taken")
	}
	if loading.Record(incremental.Record{ID: 1, Cells: []hierarchy.Cell{1}}) == nil {
		t.Error("a record of another shape is taken")
	}
	if err := p.Load(0, []incremental.Record{{ID: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.BeginLoading(0); err == nil {
		t.Error("a partition that has records is filled")
	}
}
