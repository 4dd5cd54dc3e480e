package lineage_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestCutsTellNothing: two tables that readers cannot tell apart, because the same
// values stand in each class, only with other people, stay so when people leave and
// move: what vanishes, what appears and what is weighed is the same in both. Whether a
// class is cut must not depend on whose values are whose.
func TestCutsTellNothing(t *testing.T) {
	t.Parallel()
	for what, constraints := range sets {
		for _, persons := range []int{0, 12, 50} {
			t.Run(fmt.Sprintf("%s/persons=%d", what, persons), func(t *testing.T) {
				t.Parallel()
				cuts := 0
				for seed := range uint64(100) {
					if twoWorlds(t, seed, constraints, persons) {
						cuts++
					}
				}
				if persons == 0 && cuts < 20 {
					t.Errorf("%d classes were cut", cuts)
				}
			})
		}
	}
}

// twoWorlds publishes one batch, loads it with values exchanged inside the classes,
// and does the same to both until the first class is cut, after which readers may see
// different values. It reports whether one was.
func twoWorlds(t *testing.T, seed uint64, constraints privacy.ConstraintSet, persons int) bool {
	random := rand.New(rand.NewPCG(seed, 7))
	s := setting{attributes: 3, first: int(seed % 5), constraints: constraints, method: partition.RoundedPartition{}, sensitive: 2, persons: persons}
	s.options = lineage.Options{Crowd: 3}
	m := newModel(t, random, s)
	for range 8 * constraints.K() * s.options.Crowd {
		m.next++
		m.insert(m.next, m.source.Row())
	}
	if m.publish(); len(m.journal.classes) == 0 {
		return false // no batch can be made of such values
	}
	for _, id := range slices.Sorted(maps.Keys(m.journal.classes)) {
		class := m.journal.classes[id]
		codes := make([][]uint32, len(class.ever))
		for i, r := range class.ever {
			codes[i] = r.values.Sensitive
		}
		random.Shuffle(len(codes), func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
		exchange := func() {
			for i, r := range class.ever {
				codes[i], r.values.Sensitive = r.values.Sensitive, codes[i]
				r.member.values.Sensitive = r.values.Sensitive
			}
		}
		if exchange(); m.reader.check(class.ever) != nil {
			exchange() // such a class would not have been published
		}
	}
	other := m.newLineage(m.setting.options)
	m.must(other.Load(m.journal.stored(m.members, m.record)))
	for range 40 {
		for range 1 + random.IntN(3) {
			leaveOrMove(m, other, seed%2 == 0)
		}
		one, err := m.lineage.Publish(t.Context(), m.now)
		m.must(err)
		two, err := other.Publish(t.Context(), m.now)
		m.must(err)
		if !slices.Equal(one.Gone, two.Gone) || !maps.Equal(one.Weights, two.Weights) || !reflect.DeepEqual(recordsOf(one.Rows), recordsOf(two.Rows)) {
			t.Fatalf("seed %d: readers of one table see %+v, of the other %+v", seed, one, two)
		}
		if len(one.Gone) > 0 {
			return true
		}
	}
	return false
}

// leaveOrMove does the same in both tables. Only one of these, or the second cut of a
// class in one version would rightly depend on what the first one shows.
func leaveOrMove(m *model, other *lineage.Lineage, leave bool) {
	id, exists := m.roster.Any(m.random)
	if !exists {
		return
	}
	if leave {
		m.remove(id)
		m.must(other.Delete(id))
		return
	}
	b := m.members[id]
	b.values.Raw = m.source.Row().Raw
	for _, l := range []*lineage.Lineage{m.lineage, other} {
		r, _ := l.Record(id)
		r.Cells = m.source.Cells(b.values)
		m.must(l.Modify(r, m.now))
	}
}

func recordsOf(rows []lineage.NewRow) map[incremental.RecordID]bool {
	records := map[incremental.RecordID]bool{}
	for _, r := range rows {
		records[r.Record] = true
	}
	return records
}

// TestEverythingHappens: the random sequences of the other tests do reach what they are
// to check.
func TestEverythingHappens(t *testing.T) {
	t.Parallel()
	happened := map[string]int{}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 3))
		s := randomSetting(random, sets["distinct"], int(seed%2)*12)
		s.method = partition.RoundedPartition{}
		m := newModel(t, random, s)
		m.operate(60)
		happened["expired"] += m.expired
		happened["weighed"] += m.journal.weights
		for _, class := range m.journal.classes {
			last := 0
			for _, r := range class.ever {
				last = max(last, r.until)
			}
			for _, r := range class.ever {
				switch {
				case r.next != nil:
					happened["renewed"]++
				case r.until != 0 && (r.until < last || class.rows > 0):
					happened["vanished"]++
				case r.until != 0:
					happened["vanished with all of the class"]++
				}
			}
		}
	}
	for _, what := range []string{"expired", "weighed", "renewed", "vanished", "vanished with all of the class"} {
		if happened[what] < 50 {
			t.Errorf("%d rows or records %s", happened[what], what)
		}
	}
	t.Log(fmt.Sprint(happened))
}
