package lineage_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
)

// TestBeginIsTheFirstPublish compares what can be asked for after one with what the other
// lists: where all are published, where some wait too long, and where the batch is refused.
func TestBeginIsTheFirstPublish(t *testing.T) {
	t.Parallel()
	later := 0
	for name, set := range sets {
		for seed := range uint64(12) {
			random := rand.New(rand.NewPCG(seed, 21))
			s := randomSetting(random, set, []int{0, 12}[seed%2])
			s.method = partition.RoundedPartition{}
			m := newModel(t, random, s)
			other := m.newLineage(m.setting.options)
			for range []int{0, 3, 30, 120}[seed%4] {
				m.next++
				m.insert(m.next, m.source.Row())
				must(t, other.Insert(m.record(m.members[m.next]), m.now))
				m.now = m.now.Add(time.Minute)
			}
			listed, err := m.lineage.Publish(t.Context(), m.now)
			must(t, err)
			begun, err := other.Begin(t.Context(), m.now)
			must(t, err)
			if len(begun.Rows)+len(begun.Classes)+len(begun.Touched)+len(begun.Gone)+len(begun.Weights) > 0 {
				t.Fatalf("%s, seed %d: Begin lists %+v", name, seed, begun)
			}
			classes, rows := map[incremental.ClassID][]hierarchy.Generalization{}, []lineage.NewRow(nil)
			for _, id := range slices.Sorted(other.Classes()) {
				classes[id] = other.Generalize(id)
				rows = append(rows, other.RowsOf(id)...)
			}
			if !reflect.DeepEqual(classes, listed.Classes) || !slices.Equal(rows, listed.Rows) {
				t.Fatalf("%s, seed %d: %d classes and %d rows, %d and %d listed", name, seed, len(classes), len(rows), len(listed.Classes), len(listed.Rows))
			}
			for id := range m.members {
				if begun.Place(id) != listed.Place(id) {
					t.Fatalf("%s, seed %d: record %d stands at %+v, and is listed at %+v", name, seed, id, begun.Place(id), listed.Place(id))
				}
			}
			// From then on both list the same.
			for _, l := range []*lineage.Lineage{m.lineage, other} {
				for id := range incremental.RecordID(10) {
					if m.members[id] != nil {
						must(t, l.Delete(id))
					}
				}
			}
			for range 60 {
				m.next++
				m.insert(m.next, m.source.Row())
				must(t, other.Insert(m.record(m.members[m.next]), m.now))
			}
			m.now = m.now.Add(365 * 24 * time.Hour) // nobody waits any longer
			one, err := m.lineage.Publish(t.Context(), m.now)
			must(t, err)
			two, err := other.Publish(t.Context(), m.now)
			must(t, err)
			if !slices.Equal(one.Gone, two.Gone) || !slices.Equal(one.Touched, two.Touched) || !reflect.DeepEqual(one.Weights, two.Weights) ||
				!reflect.DeepEqual(one.Classes, two.Classes) || !slices.Equal(one.Rows, two.Rows) {
				t.Fatalf("%s, seed %d: %+v, and %+v after Publish", name, seed, two, one)
			}
			later += len(two.Rows)
			if _, err := other.Begin(t.Context(), m.now); err == nil {
				t.Fatal("a lineage has begun twice")
			}
		}
	}
	if later == 0 {
		t.Error("nothing is published after Begin")
	}
}
