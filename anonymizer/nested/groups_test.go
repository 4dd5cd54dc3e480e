package nested_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// maintained is a partition with two chained audiences, and a model of what a store would have of them.
type maintained struct {
	t         *testing.T
	random    *rand.Rand
	partition *incremental.Partition
	audiences []*nested.Groups
	sets      []privacy.ConstraintSet
	store     []map[incremental.ClassID][]incremental.RecordID // of each audience
	used      []map[incremental.ClassID]bool                   // numbers that groups have had
	values    *privacy.Dictionary
	next      incremental.RecordID
	alive     []incremental.RecordID
}

func newMaintained(t *testing.T, seed uint64) *maintained {
	t.Helper()
	m := &maintained{t: t, random: rand.New(rand.NewPCG(seed, 7)), values: privacy.NewDictionary(), next: 1}
	var attributes []anonymizer.Attribute
	for name, spec := range map[string]hierarchy.Spec{
		"age":  {Kind: hierarchy.Numeric},
		"ward": {Kind: hierarchy.Categorical, Domain: hierarchy.DomainText},
	} {
		h, err := hierarchy.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		attributes = append(attributes, anonymizer.Attribute{Name: name, Hierarchy: h})
	}
	slices.SortFunc(attributes, func(a, b anonymizer.Attribute) int { return len(a.Name) - len(b.Name) })
	schema := privacy.Schema{Attributes: []string{"age", "ward"}, Sensitive: []privacy.Sensitive{{Name: "illness", Values: m.values}}}
	set := func(specs ...privacy.Spec) privacy.ConstraintSet {
		s, err := privacy.NewSet(specs, schema)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fine := set(privacy.Spec{Model: privacy.K, K: 3})
	m.sets = []privacy.ConstraintSet{
		set(privacy.Spec{Model: privacy.K, K: 7}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "illness"}),
		set(privacy.Spec{Model: privacy.K, K: 20}, privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "illness"}),
	}
	method, err := methods.Trying("rounded-partition", anonymizer.Fast)
	if err != nil {
		t.Fatal(err)
	}
	m.partition = incremental.New(attributes, fine, method, incremental.Options{Seed: seed})
	finer := nested.Finer(m.partition)
	for _, s := range m.sets {
		g, err := nested.NewGroups(finer, attributes, s, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		m.audiences = append(m.audiences, g)
		m.store, m.used = append(m.store, map[incremental.ClassID][]incremental.RecordID{}), append(m.used, map[incremental.ClassID]bool{})
		finer = g
	}
	return m
}

func (m *maintained) record(id incremental.RecordID) incremental.Record {
	attributes := []hierarchy.Cell{float64(m.random.IntN(90)), float64(m.random.IntN(4))}
	return incremental.Record{ID: id, Cells: attributes, Sensitive: []uint32{m.values.Code(fmt.Sprint("illness ", m.random.IntN(6)))}}
}

// change makes some random changes and settles.
func (m *maintained) change(changes int) {
	for range changes {
		switch n := m.random.IntN(10); {
		case n < 5 || len(m.alive) == 0:
			if err := m.partition.Insert(m.record(m.next)); err != nil {
				m.t.Fatal(err)
			}
			m.alive, m.next = append(m.alive, m.next), m.next+1
		case n < 7:
			if err := m.partition.Modify(m.record(m.alive[m.random.IntN(len(m.alive))])); err != nil {
				m.t.Fatal(err)
			}
		default:
			place := m.random.IntN(len(m.alive))
			if err := m.partition.Delete(m.alive[place]); err != nil {
				m.t.Fatal(err)
			}
			m.alive = slices.Delete(m.alive, place, place+1)
		}
	}
	m.settle(m.partition.Settle())
}

// settle has the audiences follow, and the model of the store do what it is told.
func (m *maintained) settle(changes incremental.Changes) {
	for i, g := range m.audiences {
		var err error
		if changes, err = g.Settle(m.t.Context(), changes); err != nil {
			m.t.Fatal(err)
		}
		for _, id := range changes.Retired {
			if _, there := m.store[i][id]; !there {
				m.t.Errorf("group %d of audience %d is retired, and was not there", id, i)
			}
			delete(m.store[i], id)
		}
		for _, id := range changes.Rewrite {
			if _, there := m.store[i][id]; !there && m.used[i][id] {
				m.t.Errorf("group %d of audience %d is used again", id, i)
			}
			m.used[i][id] = true
			m.store[i][id] = m.members(g, id)
		}
	}
}

func (m *maintained) members(g *nested.Groups, id incremental.ClassID) (ids []incremental.RecordID) {
	for _, slot := range g.AppendSlots(nil, id) {
		ids = append(ids, g.InSlot(slot))
	}
	slices.Sort(ids)
	return ids
}

// check holds groups against what they promise.
func (m *maintained) check() {
	m.t.Helper()
	finerOf := m.partition.ClassOf
	for i, g := range m.audiences {
		inGroups, records := map[incremental.ClassID]incremental.ClassID{}, 0
		for place := range g.Classes() {
			id := g.ClassAt(place)
			members := m.members(g, id)
			if !slices.Equal(m.store[i][id], members) {
				m.t.Errorf("the store has %v of group %d of audience %d, and it has %v", m.store[i][id], id, i, members)
			}
			if slots := g.AppendSlots(nil, id); !m.sets[i].Satisfied(m.partition.Summarize(slots), nil) {
				m.t.Errorf("group %d of audience %d violates %v", id, i, m.sets[i])
			}
			for _, record := range members {
				records++
				if g.ClassOf(record) != id {
					m.t.Errorf("record %d is in group %d of audience %d, and ClassOf says %d", record, id, i, g.ClassOf(record))
				}
				if other, seen := inGroups[finerOf(record)]; seen && other != id {
					m.t.Errorf("class %d is in the groups %d and %d of audience %d", finerOf(record), other, id, i)
				}
				inGroups[finerOf(record)] = id
			}
		}
		if len(m.store[i]) != g.Classes() {
			m.t.Errorf("the store has %d groups of audience %d, and there are %d", len(m.store[i]), i, g.Classes())
		}
		if placed := len(m.alive) - m.partition.Withheld(); g.Feasible() == nil && records != placed {
			m.t.Errorf("%d of %d records are in groups of audience %d", records, placed, i)
		} else if g.Feasible() != nil && records > 0 {
			m.t.Errorf("audience %d is infeasible and has %d records", i, records)
		}
		finerOf = g.ClassOf
	}
}

// TestGroupsFollow: whatever happens to the records, groups are unions of the finer classes, satisfy their
// constraints, and tell a store all that changes.
func TestGroupsFollow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		m := newMaintained(t, seed)
		most := 0
		for range 60 {
			m.change(1 + m.random.IntN(12))
			m.check()
			most = max(most, m.audiences[0].Classes())
			if t.Failed() {
				t.Fatalf("with seed %d, %d records", seed, len(m.alive))
			}
		}
		if most < 3 {
			t.Errorf("seed %d: there were at most %d groups", seed, most)
		}
		m.partition.Truncate()
		m.alive = nil
		m.settle(m.partition.Settle())
		m.check()
	}
}

// TestGroupsBegin: groups that begin with all classes follow them afterwards, and those that are loaded are the
// same.
func TestGroupsBegin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		m, other := newMaintained(t, seed), newMaintained(t, seed)
		for id := range incremental.RecordID(400) {
			r := m.record(id + 1)
			for _, p := range []*incremental.Partition{m.partition, other.partition} {
				if err := p.Insert(r); err != nil {
					t.Fatal(err)
				}
			}
			m.alive = append(m.alive, id+1)
		}
		m.next = 401
		m.partition.Settle()
		other.partition.Settle()
		finerOf := m.partition.ClassOf
		for i, g := range m.audiences {
			if err := g.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			groups := map[incremental.ClassID]incremental.ClassID{}
			for place := range g.Classes() {
				id := g.ClassAt(place)
				m.store[i][id] = m.members(g, id)
				for _, record := range m.store[i][id] {
					groups[finerOf(record)] = id
				}
			}
			if err := other.audiences[i].Load(groups); err != nil {
				t.Fatal(err)
			}
			for id := range m.store[i] {
				if a, b := g.Generalize(id), other.audiences[i].Generalize(id); !slices.Equal(a, b) || len(a) != 2 {
					t.Errorf("group %d shows %v, and %v when loaded", id, a, b)
				}
			}
			finerOf = g.ClassOf
		}
		if n := m.audiences[0].Classes(); n < 20 {
			t.Errorf("%d groups are made of 400 records", n)
		}
		m.check()
		for range 20 {
			m.change(10)
			m.check()
		}
	}
}
