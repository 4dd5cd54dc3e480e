package incremental_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// patience is a context that ends when it has been asked some number of times: a
// clock that runs with the work.
type patience struct {
	context.Context
	left atomic.Int64 // methods ask from several goroutines
}

func newPatience(ctx context.Context, left int64) *patience {
	p := &patience{Context: ctx}
	p.left.Store(left)
	return p
}

var errImpatient = errors.New("settling does not come to an end")

func (p *patience) Err() error {
	if p.left.Add(-1) < 0 {
		return errImpatient
	}
	return p.Context.Err()
}

// TestSettleEnds takes the ways out of large work with few records of few persons,
// of which classes often violate the constraints together.
func TestSettleEnds(t *testing.T) {
	t.Parallel()
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for _, limit := range []int{0, 1, 20, 200} {
		for what, constraints := range models {
			for i, name := range methods.Names() {
				random := rand.New(rand.NewPCG(uint64(limit), uint64(i)))
				t.Run(fmt.Sprintf("limit=%d/%s/%s", limit, what, name), func(t *testing.T) {
					t.Parallel()
					shape := workload.Shape{Attributes: 1 + random.IntN(3), Distinct: []int{2, 6, 40, 200}[random.IntN(4)], Nulls: 0.06, Sensitive: 2 + random.IntN(3)}
					method, _ := methods.Named(name)
					m := newModelOf(t, uint64(i), shape, constraints, method, []int{4, 12, 40}[random.IntN(3)])
					if method.Accepts(m.data.Attributes, constraints) != nil {
						return // such a table is refused before it is published
					}
					incremental.SetScanLimit(m.partition, limit)
					for range rounds {
						growth := []int{20, 4, 0}[m.random.IntN(3)]
						for range []int{1, 1, 3, 30}[m.random.IntN(4)] {
							m.step(growth)
						}
						m.settle()
					}
				})
			}
		}
	}
}

// TestManyBrokenGroups has two persons appear twice each at many places of a line, with
// both of their values, so that readers find everybody at such a place to have both:
// too many places to look for a neighbor of each, one by one. Classes must stay
// as small as they can all the same.
func TestManyBrokenGroups(t *testing.T) {
	t.Parallel()
	const places, every, k = 3000, 10, 2
	for _, limit := range []int{1 << 10, 1 << 15, 1 << 20} {
		h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
		if err != nil {
			t.Fatal(err)
		}
		constraints := privacy.ConstraintSet{privacy.KAnonymity{K: k}, privacy.AlphaBound{Alpha: 0.5, Name: "s"}}
		p := incremental.New([]anonymizer.Attribute{{Name: "x", Hierarchy: h}}, constraints, partition.RoundedPartition{}, incremental.Options{Subjects: true})
		incremental.SetScanLimit(p, limit)
		add := func(place int, value uint32, person int) {
			err := p.Insert(incremental.Record{
				ID: incremental.RecordID(p.Len() + 1), Cells: []hierarchy.Cell{float64(place)}, Sensitive: []uint32{value}, Subject: uint32(person),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for place := range places {
			first, second := 2*place, 2*place+1
			if place%every == 0 {
				add(place, 0, first)
				add(place, 1, second)
				add(place, 1, first)
				add(place, 0, second)
			} else {
				add(place, uint32(2+place%5), first)
				add(place, uint32(2+(place+1)%5), second)
			}
		}
		if _, err := p.SettleContext(newPatience(t.Context(), 100_000)); err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if p.Withheld() > 0 || p.Classes() < places*2/3 {
			t.Errorf("limit %d: %d classes, %d records withheld", limit, p.Classes(), p.Withheld())
		}
		looks := map[string]bool{}
		for i := range p.Classes() {
			look := fmt.Sprint(p.Generalize(p.ClassAt(i)))
			if looks[look] {
				t.Errorf("limit %d: two classes look like %s", limit, look)
			}
			looks[look] = true
		}
	}
}

// TestExtremePositions has positions of which differences, halves or sums leave
// the range of floats.
func TestExtremePositions(t *testing.T) {
	t.Parallel()
	const denormal, greatest = 5e-324, 1.7976931348623e308
	for _, values := range [][]float64{
		{0, denormal}, {0, denormal, -denormal, 2 * denormal}, {-greatest, greatest}, {0, denormal, greatest, -greatest, 1},
	} {
		h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
		if err != nil {
			t.Fatal(err)
		}
		p := incremental.New([]anonymizer.Attribute{{Name: "x", Hierarchy: h}}, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{})
		check := func() {
			t.Helper()
			p.Settle()
			for i := range p.Classes() {
				if members := p.Members(p.ClassAt(i)); len(members) < 2 {
					t.Fatalf("%v: a class of %v", values, members)
				}
			}
			if p.Len() > 1 && p.Withheld() > 0 {
				t.Fatalf("%v: %d withheld", values, p.Withheld())
			}
		}
		for id := range incremental.RecordID(40) {
			if err := p.Insert(incremental.Record{ID: id, Cells: []hierarchy.Cell{values[int(id*id)%len(values)]}}); err != nil {
				t.Fatal(err)
			}
			check()
		}
		for _, id := range slices.Backward([]incremental.RecordID{3, 8, 12, 13, 14, 15, 30, 31, 32, 33, 34}) {
			if err := p.Delete(id); err != nil {
				t.Fatal(err)
			}
			check()
		}
	}
}
