package lineage_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
)

// TestHistoryIsOfItsAtoms plays a history twice: the second time, people who are together
// in everything that was ever published have exchanged their sensitive values from the
// beginning. Readers must see the same: which rows come together, and when they go, is a
// function of what one release of the atoms would tell.
func TestHistoryIsOfItsAtoms(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"distinct", "entropy", "recursive", "alpha", "alpha of one value", "together"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			compared := 0
			for seed := range uint64(40) {
				s := setting{attributes: 3, constraints: sets[what], method: partition.RoundedPartition{}, sensitive: 2}
				s.options = lineage.Options{Crowd: 5}
				one := play(t, seed, s, nil)
				exchanged := exchange(one.journal)
				two := play(t, seed, s, exchanged)
				if !slices.Equal(batches(one.journal), batches(two.journal)) {
					continue // as one release, a batch can be divided by what its values allow
				}
				if compared++; !slices.Equal(courses(one.journal), courses(two.journal)) {
					t.Fatalf("seed %d: the histories differ", seed)
				}
			}
			if compared < 5 {
				t.Errorf("%d histories could be compared", compared)
			}
		})
	}
}

// play has people come, move and leave; codes are the sensitive values of some of them,
// instead of those drawn.
func play(t *testing.T, seed uint64, s setting, codes map[incremental.RecordID][]uint32) *model {
	m := newModel(t, rand.New(rand.NewPCG(seed, 13)), s)
	m.play(codes)
	return m
}

func (m *model) play(codes map[incremental.RecordID][]uint32) {
	for range 60 {
		m.now = m.now.Add(time.Minute)
		for range m.random.IntN(12) {
			id, exists := m.roster.Any(m.random)
			switch choice := m.random.IntN(8); {
			case !exists || choice < 3:
				m.next++
				r := m.source.Row()
				if other, known := codes[m.next]; known {
					r.Sensitive = other
				}
				m.insert(m.next, r)
			case choice < 6:
				m.remove(id)
			default:
				values := m.members[id].values
				values.Raw = m.source.Row().Raw
				m.modify(id, values)
			}
		}
		m.publish()
	}
	m.must(m.reader.checkHistory())
}

// exchange gives the people of each atom each other's values.
func exchange(j *journal) map[incremental.RecordID][]uint32 {
	exchanged := map[incremental.RecordID][]uint32{}
	for _, id := range slices.Sorted(maps.Keys(j.classes)) {
		atoms := map[string][]*shownRow{}
		for _, r := range j.classes[id].ever {
			if _, before := exchanged[r.record]; !before {
				atoms[r.course()] = append(atoms[r.course()], r)
			}
		}
		for _, rows := range atoms {
			for i, r := range rows {
				exchanged[r.record] = rows[(i+1)%len(rows)].values.Sensitive
			}
		}
	}
	return exchanged
}

// batches tells who was published together at first.
func batches(j *journal) []string {
	return describe(j, func(r *shownRow) string { return fmt.Sprintf("%d in version %d", r.record, r.since) })
}

// courses tells what became of them.
func courses(j *journal) []string {
	return describe(j, func(r *shownRow) string { return fmt.Sprintf("%d: %s", r.record, r.course()) })
}

// describe joins what is to be said of the rows of each class that are the first of
// their records.
func describe(j *journal, row func(*shownRow) string) []string {
	var all []string
	seen := map[incremental.RecordID]bool{}
	for _, id := range slices.Sorted(maps.Keys(j.classes)) {
		class := ""
		for _, r := range j.classes[id].ever {
			if !seen[r.record] {
				seen[r.record] = true
				class += row(r) + ", "
			}
		}
		if class != "" {
			all = append(all, class)
		}
	}
	return all
}
