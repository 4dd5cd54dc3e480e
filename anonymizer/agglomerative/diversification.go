package agglomerative

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// diversification is the adjustment of clusters of at least k records until each
// has l distinct sensitive values. The paper knows three cases of a cluster with
// fewer:
//
//   - of exactly k records: it pulls in the most similar records of values that
//     it lacks;
//   - of more: it pulls in as many, and pushes records of its most frequent
//     values out to the clusters most similar to them, down to k;
//   - of more, with a surplus of a value: it pushes out alone, until l_j/k_j is
//     l/k. With k records or more and fewer than l values that is never reached,
//     so this case is the second half of the one before.
//
// A cluster gives a record only if it keeps k records and as many values as it
// needs. Where none can, two records change places: one of a value that is
// lacking for one of a value held twice. The adjustment ends after some rounds,
// or when nothing moves.
type diversification struct {
	*agglomeration
	l      int
	values []uint32         // of each record of the block
	home   []int32          // the slot of each record
	counts []map[uint32]int // of each slot: records of each value
	sums   []float32        // of each record: D summed over the cluster at hand
}

// diversityRounds bounds the adjustment: records that one cluster gains may be
// those that another one lacks.
const diversityRounds = 4

func newDiversification(g *agglomeration, block []int32, sensitive []uint32, l int) *diversification {
	d := &diversification{
		agglomeration: g, l: l,
		values: make([]uint32, g.n), home: make([]int32, g.n),
		counts: make([]map[uint32]int, g.n), sums: make([]float32, g.n),
	}
	for i, r := range block {
		d.values[i] = sensitive[r]
	}
	for _, slot := range g.live {
		d.counts[slot] = make(map[uint32]int)
		for _, r := range g.members[slot] {
			d.home[r] = slot
			d.counts[slot][d.values[r]]++
		}
	}
	return d
}

func (d *diversification) adjust(ctx context.Context) {
	for range diversityRounds {
		moved := false
		for _, slot := range d.lacking() {
			if ctx.Err() != nil {
				return
			}
			moved = d.diversify(slot) || moved
		}
		if !moved {
			break
		}
	}
	if len(d.lacking()) > 0 { // these are to be united next
		for _, slot := range d.live {
			d.measure(slot)
		}
	}
}

// lacking are the clusters with fewer than l values, those of the least degree
// of protection l_j/k_j first.
func (d *diversification) lacking() []int32 {
	var found []int32
	for _, slot := range d.live {
		if len(d.counts[slot]) < d.l {
			found = append(found, slot)
		}
	}
	slices.SortStableFunc(found, func(a, b int32) int {
		return cmp.Compare(len(d.counts[a])*d.size(b), len(d.counts[b])*d.size(a))
	})
	return found
}

// diversify adjusts one cluster as far as it can; it reports whether anything
// moved.
func (d *diversification) diversify(slot int32) (moved bool) {
	clear(d.sums)
	for _, m := range d.members[slot] {
		d.weigh(m, 1)
	}
	spare := d.size(slot) > d.k
	for len(d.counts[slot]) < d.l {
		if r := d.best(slot, d.gives); r >= 0 {
			d.move(r, slot)
			d.weigh(r, 1)
		} else if r := d.best(slot, d.trades(slot)); r >= 0 {
			from := d.home[r]
			back := d.surplus(slot, from)
			d.move(r, slot)
			d.weigh(r, 1)
			d.move(back, from)
			d.weigh(back, -1)
		} else {
			break
		}
		moved = true
	}
	for moved && spare && d.size(slot) > d.k && d.pushOut(slot) {
	}
	return moved
}

// weigh adds a record to the cluster at hand, or takes it away with sign -1.
func (d *diversification) weigh(record int32, sign float32) {
	for other, between := range d.pairRow(record) {
		d.sums[other] += sign * between
	}
}

// best is the record most similar to the cluster, of a value that it lacks, for
// which its own cluster may do without; -1 if there is none.
func (d *diversification) best(slot int32, free func(record int32) bool) int32 {
	best, least := int32(-1), float32(math.Inf(1))
	for r, sum := range d.sums {
		if sum < least && d.counts[slot][d.values[r]] == 0 && free(int32(r)) {
			best, least = int32(r), sum
		}
	}
	return best
}

// gives says whether a record can leave its cluster without harm.
func (d *diversification) gives(record int32) bool {
	slot := d.home[record]
	return d.size(slot) > d.k && d.spares(slot, d.values[record])
}

// spares says whether a cluster keeps the values that it needs when it loses
// one record of the value.
func (d *diversification) spares(slot int32, value uint32) bool {
	return d.counts[slot][value] > 1 || len(d.counts[slot]) > d.l
}

// trades says of a record whether its cluster could take one of the most
// frequent values of the slot in exchange.
func (d *diversification) trades(slot int32) func(record int32) bool {
	frequent, count := d.mostFrequent(slot)
	return func(record int32) bool {
		home := d.home[record]
		return count > 1 && (d.spares(home, d.values[record]) || d.counts[home][frequent] == 0)
	}
}

// mostFrequent is the cluster's most frequent value, the least of several.
func (d *diversification) mostFrequent(slot int32) (value uint32, count int) {
	for v, c := range d.counts[slot] {
		if c > count || c == count && v < value {
			value, count = v, c
		}
	}
	return value, count
}

// surplus is, among the cluster's records of its most frequent value, the one
// most similar to another cluster.
func (d *diversification) surplus(slot, other int32) int32 {
	value, _ := d.mostFrequent(slot)
	best, least := int32(-1), float32(math.Inf(1))
	for _, r := range d.members[slot] {
		if d.values[r] == value {
			if between := d.toCluster(r, other); best < 0 || between < least {
				best, least = r, between
			}
		}
	}
	return best
}

// pushOut moves one record of the cluster's most frequent value to the cluster
// that is most similar to it and has room. It reports whether there was one.
func (d *diversification) pushOut(slot int32) bool {
	value, count := d.mostFrequent(slot)
	if count < 2 {
		return false
	}
	record, target, least := int32(-1), int32(-1), float32(math.Inf(1))
	for _, r := range d.members[slot] {
		if d.values[r] != value {
			continue
		}
		for _, other := range d.live {
			if other == slot || d.size(other)+1 >= 2*d.k {
				continue
			}
			if between := d.toCluster(r, other); between < least {
				record, target, least = r, other, between
			}
		}
	}
	if record >= 0 {
		d.move(record, target)
	}
	return record >= 0
}

// move takes a record from its cluster to another one.
func (d *diversification) move(record, to int32) {
	from, value := d.home[record], d.values[record]
	at := slices.Index(d.members[from], record)
	d.members[from] = slices.Delete(d.members[from], at, at+1)
	d.members[to] = append(d.members[to], record)
	if d.counts[from][value]--; d.counts[from][value] == 0 {
		delete(d.counts[from], value)
	}
	d.counts[to][value]++
	d.home[record] = to
}
