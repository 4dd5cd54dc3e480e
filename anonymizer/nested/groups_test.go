package nested_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// model drives a partition and groups over it, and knows on its own what must hold.
type model struct {
	t         *testing.T
	random    *rand.Rand
	shape     workload.Shape
	data      *workload.Data // attributes only
	persons   int
	coarse    privacy.ConstraintSet
	partition *incremental.Partition
	groups    *nested.Groups
	// attributes and specs are those of the groups: of the data, or limited; see limited.
	attributes []anonymizer.Attribute
	specs      []hierarchy.Spec

	rows  map[incremental.RecordID]row
	next  incremental.RecordID
	gone  map[incremental.ClassID]bool
	shown map[incremental.ClassID]string               // what a store that follows the changes has of each group
	of    map[incremental.RecordID]incremental.ClassID // likewise of each record
}

// row is a record as the source holds it.
type row struct {
	raw       []string
	sensitive uint32
	subject   uint32
}

func newModel(t *testing.T, seed uint64, shape workload.Shape, persons int, chain [2]privacy.ConstraintSet) *model {
	empty := shape
	empty.Records = 0
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 4)), shape: shape, data: workload.Generate(seed, empty), persons: persons,
		coarse: append(slices.Clone(chain[1]), chain[0]...), rows: map[incremental.RecordID]row{},
		gone: map[incremental.ClassID]bool{}, shown: map[incremental.ClassID]string{}, of: map[incremental.RecordID]incremental.ClassID{},
	}
	m.partition = incremental.New(m.data.Attributes, chain[0], partition.RoundedPartition{}, incremental.Options{Seed: seed, Subjects: persons > 0})
	m.attributes, m.specs = m.data.Attributes, m.data.Specs
	m.groups = nested.NewGroups(m.partition, m.attributes, m.coarse, nested.Options{Seed: seed, Subjects: persons > 0})
	return m
}

// limit has new groups with limits follow the partition.
func (m *model) limit(seed uint64) {
	m.attributes, m.specs = anonymizertest.Limited(m.t, m.data.Attributes, m.data.Specs)
	m.groups = nested.NewGroups(m.partition, m.attributes, m.coarse, nested.Options{Seed: seed, Subjects: m.persons > 0})
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) record(id incremental.RecordID) incremental.Record {
	r := m.rows[id]
	cells := make([]hierarchy.Cell, len(r.raw))
	for a, text := range r.raw {
		cells[a] = workload.Encode(m.data.Attributes[a].Hierarchy, text)
	}
	return incremental.Record{ID: id, Cells: cells, Sensitive: []uint32{r.sensitive}, Subject: r.subject}
}

func (m *model) draw() row {
	var r row
	for _, spec := range m.data.Specs {
		r.raw = append(r.raw, workload.Value(m.random, spec, m.shape))
	}
	r.sensitive = workload.SensitiveValue(m.random, m.shape)
	if m.persons > 0 {
		r.subject = uint32(m.random.IntN(m.persons))
	}
	return r
}

// step does one random operation.
func (m *model) step(growth int) {
	ids := slices.Sorted(maps.Keys(m.rows))
	choice := m.random.IntN(10 + growth)
	if len(ids) == 0 || choice >= 10 {
		m.next++
		m.rows[m.next] = m.draw()
		m.must(m.partition.Insert(m.record(m.next)))
		return
	}
	id := ids[m.random.IntN(len(ids))]
	switch {
	case choice < 5:
		delete(m.rows, id)
		delete(m.of, id)
		m.must(m.partition.Delete(id))
	case choice < 7:
		r := m.rows[id]
		r.sensitive = workload.SensitiveValue(m.random, m.shape)
		m.rows[id] = r
		m.must(m.partition.Modify(m.record(id)))
	default:
		m.rows[id] = m.draw()
		m.must(m.partition.Modify(m.record(id)))
	}
}

// settle settles both and checks everything anew.
func (m *model) settle() {
	m.t.Helper()
	changes, err := m.groups.Settle(context.Background(), m.partition.Settle())
	m.must(err)
	m.follow(changes)
	m.check()
}

// follow keeps a store by the changes alone.
func (m *model) follow(changes incremental.Changes) {
	m.t.Helper()
	for _, id := range changes.Retired {
		if m.gone[id] || m.shown[id] == "" {
			m.t.Fatalf("group %d is retired and was not there", id)
		}
		m.gone[id] = true
		delete(m.shown, id)
	}
	for _, id := range changes.Rewrite {
		if m.gone[id] {
			m.t.Fatalf("id %d of a retired group is used again", id)
		}
		m.shown[id] = m.show(id)
	}
	for id, group := range changes.Moved {
		if _, there := m.rows[id]; !there {
			m.t.Fatalf("record %d moved and is not there", id)
		}
		m.of[id] = group
	}
}

// show is what readers see of a group.
func (m *model) show(group incremental.ClassID) string {
	var codes []uint32
	for _, id := range m.members(group) {
		codes = append(codes, m.rows[id].sensitive)
	}
	slices.Sort(codes)
	return fmt.Sprintf("%#v %v", m.groups.Generalize(group), codes)
}

func (m *model) members(group incremental.ClassID) []incremental.RecordID {
	var ids []incremental.RecordID
	for _, slot := range m.groups.AppendSlots(nil, group) {
		ids = append(ids, m.groups.InSlot(slot))
	}
	slices.Sort(ids)
	return ids
}

func (m *model) check() {
	m.t.Helper()
	whole := m.group(slices.Sorted(maps.Keys(m.rows))).Counted()
	groupOf := map[incremental.RecordID]incremental.ClassID{}
	for place := range m.groups.Classes() {
		id := m.groups.ClassAt(place)
		members := m.members(id)
		for _, r := range members {
			if groupOf[r] != 0 {
				m.t.Fatalf("record %d is in groups %d and %d", r, groupOf[r], id)
			}
			groupOf[r] = id
		}
		if err := anonymizertest.CheckConstraints(m.group(members), whole, m.coarse); err != nil {
			m.t.Fatalf("group %d: %v", id, err)
		}
		if m.shown[id] != m.show(id) {
			m.t.Fatalf("group %d shows %s, and a store that follows the changes %s", id, m.show(id), m.shown[id])
		}
		for a, label := range m.groups.Generalize(id) {
			var texts []string
			for _, r := range members {
				texts = append(texts, m.rows[r].raw[a])
			}
			if m.specs[a].Kind != hierarchy.Categorical || label.Value != hierarchy.Root { // values that no taxonomy names
				m.must(anonymizertest.CheckGeneralization(m.specs[a], texts, label))
			}
			m.checkShown(id, a, label)
		}
		for _, class := range m.groups.Members(id) {
			if m.groups.GroupOf(class) != id || m.partition.Generalize(class) == nil {
				m.t.Fatalf("class %d of group %d is in group %d", class, id, m.groups.GroupOf(class))
			}
		}
		if id >= m.groups.NextClass() {
			m.t.Fatalf("group %d is there and %d is next", id, m.groups.NextClass())
		}
	}
	if len(m.shown) != m.groups.Classes() {
		m.t.Fatalf("%d groups, %d in a store that follows the changes", m.groups.Classes(), len(m.shown))
	}
	feasible := len(m.rows) > 0 && m.partition.Classes() > 0 && anonymizertest.CheckConstraints(whole, whole, m.coarse) == nil
	if feasible != (m.groups.Classes() > 0) || feasible && len(groupOf) != len(m.rows) {
		m.t.Fatalf("feasible %v: %d groups of %d of %d records", feasible, m.groups.Classes(), len(groupOf), len(m.rows))
	}
	for id := range m.rows {
		if m.of[id] != groupOf[id] {
			m.t.Fatalf("record %d is in group %d, and by the changes in %d", id, groupOf[id], m.of[id])
		}
	}
}

// checkShown makes the label of what is shown of the group's classes.
func (m *model) checkShown(group incremental.ClassID, a int, label hierarchy.Generalization) {
	m.t.Helper()
	var shown []hierarchy.Generalization
	for _, class := range m.groups.Members(group) {
		shown = append(shown, hierarchy.Show(m.attributes[a].Hierarchy, m.partition.Generalize(class)[a]))
	}
	if want := hierarchy.Union(m.attributes[a].Hierarchy, shown); label != want {
		m.t.Fatalf("group %d shows %v, and of %v it would be %v", group, label, shown, want)
	}
}

func (m *model) group(ids []incremental.RecordID) anonymizertest.Group {
	g := anonymizertest.Group{Records: len(ids), Sensitive: make([][]uint32, 1)}
	for _, id := range ids {
		g.Sensitive[0] = append(g.Sensitive[0], m.rows[id].sensitive)
		if m.persons > 0 {
			g.Subjects = append(g.Subjects, m.rows[id].subject)
		}
	}
	return g
}

// restart restores both from what a store has.
func (m *model) restart(seed uint64, fine privacy.ConstraintSet) {
	m.t.Helper()
	o := incremental.Options{Seed: seed, FirstClass: m.partition.NextClass(), Subjects: m.persons > 0}
	p := incremental.New(m.data.Attributes, fine, partition.RoundedPartition{}, o)
	groups := nested.NewGroups(p, m.attributes, m.coarse, nested.Options{Seed: seed, FirstGroup: m.groups.NextClass(), Subjects: m.persons > 0})
	var withheld []incremental.Record
	for _, id := range m.partition.Members(0) {
		withheld = append(withheld, m.record(id))
	}
	m.must(p.Load(0, withheld))
	for place := range m.partition.Classes() {
		class := m.partition.ClassAt(place)
		var records []incremental.Record
		for _, id := range m.partition.Members(class) {
			records = append(records, m.record(id))
		}
		m.must(p.Load(class, records))
		if group := m.groups.GroupOf(class); group != 0 {
			m.must(groups.Load(class, group))
		}
	}
	m.partition, m.groups = p, groups
}

func TestGroupsFollowRandomHistories(t *testing.T) {
	t.Parallel()
	for name, chain := range chains() {
		for seed := range uint64(6) {
			for _, persons := range []int{0, 40} {
				t.Run(fmt.Sprintf("%s/seed=%d/persons=%d", name, seed, persons), func(t *testing.T) {
					t.Parallel()
					shape := workload.Shape{Attributes: 1 + int(seed), Distinct: []int{3, 20, 500}[seed%3], Nulls: 0.03, Sensitive: 5}
					m := newModel(t, seed, shape, persons, chain)
					for round := range 25 {
						for range []int{1, 3, 10, 60}[m.random.IntN(4)] {
							m.step([]int{25, 6, 1}[round*3/25])
						}
						m.settle()
						if m.random.IntN(6) == 0 {
							m.restart(seed, chain[0])
							m.settle()
						}
					}
				})
			}
		}
	}
}

// TestGroupsAreKeptSmall has a history end with groups near to what Unite makes at once.
func TestGroupsAreKeptSmall(t *testing.T) {
	t.Parallel()
	chain := chains()["k"]
	m := newModel(t, 1, workload.Shape{Attributes: 3, Distinct: 50, Sensitive: 5}, 0, chain)
	for range 40 {
		for range 50 {
			m.step(12)
		}
		m.settle()
	}
	if mean := len(m.rows) / m.groups.Classes(); mean >= 2*11 {
		t.Errorf("%d groups of %d records", m.groups.Classes(), len(m.rows))
	}
}
