package incremental

import (
	"context"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// line is a partition of records on a line.
func line(t *testing.T, constraints privacy.ConstraintSet, positions ...float64) *Partition {
	t.Helper()
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	if err != nil {
		t.Fatal(err)
	}
	p := New([]anonymizer.Attribute{{Name: "x", Hierarchy: h}}, constraints, partition.RoundedPartition{}, Options{})
	for i, position := range positions {
		insert(t, p, RecordID(i+1), position, uint32(i%2))
	}
	return p
}

func insert(t *testing.T, p *Partition, id RecordID, position float64, value uint32) {
	t.Helper()
	if err := p.Insert(Record{ID: id, Cells: []hierarchy.Cell{position}, Sensitive: []uint32{value}}); err != nil {
		t.Fatal(err)
	}
}

// TestOneClassOfAllIsExaminedAgain: the class that a division's failure leaves is
// divided once it changes.
func TestOneClassOfAllIsExaminedAgain(t *testing.T) {
	t.Parallel()
	p := line(t, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, 1, 2, 3, 4, 5, 6, 7)
	p.Settle()
	p.settling(context.Background()).uniteAll()
	p.members.takeChanges()
	if p.Classes() != 1 || p.Withheld() != 0 {
		t.Fatalf("%d classes, %d withheld", p.Classes(), p.Withheld())
	}
	if err := p.Delete(1); err != nil {
		t.Fatal(err)
	}
	if p.Settle(); p.Classes() != 3 {
		t.Errorf("%d classes of 6 records", p.Classes())
	}
}

// TestDriftBeginsAnew: sums of moves do not grow for a process's life, and classes
// are compared with the constraints when a sum ends.
func TestDriftBeginsAnew(t *testing.T) {
	t.Parallel()
	var positions []float64
	for i := range 40 {
		positions = append(positions, float64(i))
	}
	p := line(t, privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.TCloseness{T: 0.45, Name: "s"}}, positions...)
	p.Settle()
	ended := 0
	for i := range 2 * mostMoves {
		before := p.population.drift.moves
		if i%2 == 0 {
			insert(t, p, 1000, 7, 0)
		} else if err := p.Delete(1000); err != nil {
			t.Fatal(err)
		}
		p.Settle()
		if p.population.drift.moved[0] > mostMoved {
			t.Fatalf("moved %v", p.population.drift.moved)
		}
		if p.population.drift.moves >= before {
			continue
		}
		ended++
		for _, c := range p.members.classes.list {
			if len(c.until) != 1 || c.until[0] > 0.45 {
				t.Fatalf("a class may wait until %v of a sum that began anew", c.until)
			}
		}
	}
	if ended < 2 {
		t.Errorf("the sum began anew %d times", ended)
	}
}
