package incremental_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func constraintSets(k int, shape workload.Shape) privacy.ConstraintSet {
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if shape.Sensitive > 0 {
		set = append(set, privacy.DistinctDiversity{L: min(3, shape.Sensitive), Name: "sensitive"})
	}
	return set
}

func TestRandomOperations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		shape := workload.Shape{
			Attributes: 1 + int(seed%8), Distinct: []int{2, 30, 5000}[seed%3],
			Nulls: []float64{0, 0.05, 0.5}[seed%9/3], Sensitive: []int{0, 3, 8}[seed%4%3],
		}
		k := []int{1, 2, 3, 5, 10}[seed%5]
		t.Run(fmt.Sprintf("seed=%d/k=%d", seed, k), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed, shape, constraintSets(k, shape))
			if seed%4 == 3 {
				incremental.SetScanLimit(m.partition, int(seed)) // take the ways out of large work
			}
			steps := 400
			if testing.Short() {
				steps = 100
			}
			for i := range steps {
				growth := []int{20, 2, 0}[i/80%3]
				for range 1 + m.random.IntN(1+i%7) {
					m.step(growth)
				}
				if i%150 == 149 {
					m.truncate()
				}
				m.settle()
			}
			if again := m.settle(); len(again.Moved)+len(again.Rewrite)+len(again.Retired) > 0 {
				t.Fatalf("nothing happened and %+v changed", again)
			}
		})
	}
}

// TestBulk has single transactions as large as the table.
func TestBulk(t *testing.T) {
	t.Parallel()
	shape := workload.Shape{Attributes: 5, Distinct: 500, Nulls: 0.01, Sensitive: 6}
	m := newModel(t, 1, shape, constraintSets(5, shape))
	add := func(n int) {
		for range n {
			m.next++
			m.insert(m.next, m.newRow())
		}
	}
	drop := func(keep func(incremental.RecordID) bool) {
		for _, id := range slices.Sorted(maps.Keys(m.rows)) {
			if !keep(id) {
				m.remove(id)
			}
		}
	}
	none := func(incremental.RecordID) bool { return false }
	add(4)
	m.settle()
	add(6000)
	m.settle()
	drop(none)
	add(5000)
	m.settle()
	drop(func(id incremental.RecordID) bool { return id%3 == 0 })
	m.settle()
	drop(func(id incremental.RecordID) bool { return id%21 == 0 })
	add(1500)
	m.settle()
	drop(none)
	m.settle()
	if m.partition.Len() != 0 || m.partition.Classes() != 0 {
		t.Fatal("something is left of nothing")
	}
}

// TestLoad carries a partition over to another one, with a greater k.
func TestLoad(t *testing.T) {
	t.Parallel()
	shape := workload.Shape{Attributes: 4, Distinct: 40, Nulls: 0.02}
	m := newModel(t, 5, shape, constraintSets(3, shape))
	for range 500 {
		m.next++
		m.insert(m.next, m.newRow())
	}
	m.settle()
	m.large = true
	old := m.partition
	for _, k := range []int{3, 7, 2, 1000, 3} {
		m.constraints = constraintSets(k, shape)
		m.partition = incremental.New(m.data.Attributes, m.constraints, partition.RoundedPartition{}, incremental.Options{FirstClass: old.NextClass()})
		byClass := map[incremental.ClassID][]incremental.Record{}
		for id, class := range m.mirror {
			r, _, _ := old.Record(id)
			byClass[class] = append(byClass[class], r)
		}
		var last incremental.ClassID
		for class, records := range byClass {
			half := len(records) / 2
			m.must(m.partition.Load(class, records[:half]))
			m.must(m.partition.Load(class, records[half:]))
			last = max(last, class)
		}
		if err := m.partition.Load(last+1, byClass[last]); !errors.Is(err, incremental.ErrDuplicate) {
			t.Fatalf("loading twice: %v", err)
		}
		changes := m.settle()
		if k == 3 && len(byClass) > 1 && len(changes.Moved)+len(changes.Rewrite) > 0 {
			t.Fatalf("a sound state was changed on loading: %d moved", len(changes.Moved))
		}
		old = m.partition
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	shape := workload.Shape{Attributes: 2, Distinct: 5, Sensitive: 2}
	m := newModel(t, 1, shape, constraintSets(2, shape))
	m.insert(1, m.newRow())
	good := m.record(1, m.newRow())
	for name, err := range map[string]error{
		"insert": m.partition.Insert(good),
		"load":   m.partition.Load(4, []incremental.Record{{ID: 2, Cells: good.Cells, Sensitive: good.Sensitive}, good}),
	} {
		if !errors.Is(err, incremental.ErrDuplicate) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.ID = 9
	for name, err := range map[string]error{
		"modify": m.partition.Modify(good), "delete": m.partition.Delete(9), "touch": m.partition.Touch(9),
	} {
		if !errors.Is(err, incremental.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]incremental.Record{
		"cells": {ID: 5, Cells: good.Cells[:1], Sensitive: good.Sensitive}, "sensitive": {ID: 5, Cells: good.Cells},
	} {
		if m.partition.Insert(r) == nil {
			t.Errorf("record without its %s accepted", name)
		}
	}
	if m.partition.Load(-1, nil) == nil {
		t.Error("negative class accepted")
	}
	if m.partition.Members(77) != nil || m.partition.Generalize(77) != nil || m.partition.Generalize(0) != nil {
		t.Error("an unknown class has members")
	}
	m.settle()
}

func TestTouchClass(t *testing.T) {
	t.Parallel()
	p := incremental.New(nil, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{})
	for class := incremental.ClassID(1); class <= 3; class++ {
		if err := p.Load(class, []incremental.Record{{ID: incremental.RecordID(2 * class)}, {ID: incremental.RecordID(2*class + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	p.Settle()
	p.TouchClass(2)
	p.TouchClass(99) // unknown: passed over
	if got := p.Settle(); !slices.Equal(got.Rewrite, []incremental.ClassID{2}) || len(got.Moved)+len(got.Retired) > 0 {
		t.Errorf("touching class 2 gave %+v", got)
	}
	seen := make(map[incremental.ClassID]bool)
	for place := range p.Classes() {
		seen[p.ClassAt(place)] = true
	}
	if len(seen) != 3 || !seen[1] || !seen[2] || !seen[3] {
		t.Errorf("the places hold %v", seen)
	}
}
