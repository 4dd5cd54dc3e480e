package incremental

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNeighborsAreNear: the order in which classes are united with the next ones halves them,
// and the halves again, where they lie furthest apart: no class of a first half is beyond one of
// the second there.
func TestNeighborsAreNear(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 61))
		p := syntheticClasses(1+random.IntN(300), random.IntN(6), random)
		order := (ordering{&p.members.classes, p.domain}).ids()
		ids := slices.Clone(order)
		slices.Sort(ids)
		if len(slices.Compact(ids)) != len(p.members.classes.list) {
			t.Fatalf("seed %d: %d of %d classes stand in the order", seed, len(slices.Compact(ids)), len(p.members.classes.list))
		}
		p.checkHalves(t, order)
	}
}

func (p *Partition) checkHalves(t *testing.T, order []ClassID) {
	t.Helper()
	middles := func(attribute int, of []ClassID) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for _, id := range of {
			e := p.members.classes.cover(p.members.classes.index(id), attribute)
			low, high = min(low, e.low/2+e.high/2), max(high, e.low/2+e.high/2)
		}
		return low, high
	}
	widest, most := -1, 0.0
	for a := range p.members.attributes {
		if low, high := middles(a, order); (high/2-low/2)/p.domain.delta(a) > most {
			widest, most = a, (high/2-low/2)/p.domain.delta(a)
		}
	}
	if widest < 0 { // alike: the older first
		if !slices.IsSorted(order) {
			t.Fatalf("%v are alike, and in another order", order)
		}
		return
	}
	first, second := order[:len(order)/2], order[len(order)/2:]
	_, end := middles(widest, first)
	if begin, _ := middles(widest, second); len(first) > 0 && end > begin {
		t.Fatalf("of %d classes, the first half reaches to %v of attribute %d, and the second begins at %v", len(order), end, widest, begin)
	}
	if len(first) > 0 {
		p.checkHalves(t, first)
		p.checkHalves(t, second)
	}
}
