package incremental_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestWithheldArePlaced: what a method left out of a feasible table is placed at
// the first Settle.
func TestWithheldArePlaced(t *testing.T) {
	t.Parallel()
	m := newModel(t, 1, workload.Shape{Attributes: 2, Distinct: 30}, constraintSets(3, workload.Shape{}))
	for class := range incremental.ClassID(3) {
		for range 4 {
			m.load(class)
		}
	}
	if got := m.settle(); len(got.Moved) < 4 || m.partition.Withheld() != 0 {
		t.Errorf("%d records moved, %d withheld", len(got.Moved), m.partition.Withheld())
	}
}

// load makes one more record of a class as a store or a method has it.
func (m *model) load(class incremental.ClassID) {
	m.t.Helper()
	m.next++
	r := m.newRow()
	m.must(m.partition.Load(class, []incremental.Record{m.record(m.next, r)}))
	m.rows[m.next], m.mirror[m.next] = r, class
	if class == 0 {
		return
	}
	if m.published[class] == nil {
		m.published[class] = map[incremental.RecordID]row{}
	}
	m.published[class][m.next] = r
}

// TestLargeClassStaysUntilItChanges: being written anew is no change.
func TestLargeClassStaysUntilItChanges(t *testing.T) {
	t.Parallel()
	m := newModel(t, 2, workload.Shape{Attributes: 2, Distinct: 30}, constraintSets(3, workload.Shape{}))
	m.large = true
	for range 40 {
		m.load(1)
	}
	if got := m.settle(); len(got.Moved)+len(got.Rewrite) > 0 {
		t.Errorf("loading changed %+v", got)
	}
	m.partition.TouchClass(1)
	if got := m.settle(); !slices.Equal(got.Rewrite, []incremental.ClassID{1}) || len(got.Moved) > 0 {
		t.Errorf("writing anew changed %+v", got)
	}
	m.large = false
	m.next++
	m.insert(m.next, m.newRow())
	if got := m.settle(); !slices.Equal(got.Retired, []incremental.ClassID{1}) {
		t.Errorf("an insert left the class whole: %+v", got)
	}
}

// TestWithhold hides everything for a reason from outside, and Settle undoes it.
func TestWithhold(t *testing.T) {
	t.Parallel()
	m := newModel(t, 3, workload.Shape{Attributes: 2, Distinct: 30}, constraintSets(3, workload.Shape{}))
	for range 50 {
		m.next++
		m.insert(m.next, m.newRow())
	}
	before := m.settle()
	hidden := m.partition.Withhold()
	if len(hidden.Moved) != 50 || len(hidden.Retired) != len(before.Rewrite) || m.partition.Classes() != 0 || m.partition.Withheld() != 50 {
		t.Fatalf("withholding gave %+v", hidden)
	}
	if again := m.partition.Withhold(); len(again.Moved)+len(again.Retired) > 0 {
		t.Errorf("withholding twice gave %+v", again)
	}
	for id, class := range hidden.Moved {
		m.mirror[id] = class
	}
	for _, class := range hidden.Retired {
		delete(m.published, class)
		m.gone[class] = true
	}
	if got := m.settle(); len(got.Moved) != 50 {
		t.Errorf("settling moved %d records", len(got.Moved))
	}
}

// TestPopulationAlone: a class that nothing touches comes to violate t-closeness by
// what happens to the others, and is repaired.
func TestPopulationAlone(t *testing.T) {
	t.Parallel()
	shape := workload.Shape{Attributes: 1, Distinct: 4, Sensitive: 2}
	m := newModel(t, 4, shape, privacy.ConstraintSet{privacy.KAnonymity{K: 4}, privacy.TCloseness{T: 0.3}})
	add := func(value string, code uint32, n int) {
		for range n {
			m.next++
			m.insert(m.next, row{raw: []string{value}, sensitive: []uint32{code}})
		}
	}
	add("1", 0, 6)
	add("1", 1, 2)
	add("900", 0, 6)
	add("900", 1, 2)
	m.settle()
	add("900", 1, 40)
	got := m.settle()
	moved := 0
	for id := range got.Moved {
		if id <= 8 {
			moved++
		}
	}
	if moved == 0 && len(got.Retired) == 0 {
		t.Errorf("the first class was left: %+v", got)
	}
}

// TestSettleIsCancelled ends with the context's error.
func TestSettleIsCancelled(t *testing.T) {
	t.Parallel()
	m := newModel(t, 6, workload.Shape{Attributes: 2, Distinct: 30}, constraintSets(3, workload.Shape{}))
	for range 50 {
		m.next++
		m.insert(m.next, m.newRow())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.partition.SettleContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("settled with %v", err)
	}
}
