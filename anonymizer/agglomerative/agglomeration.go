package agglomerative

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// agglomeration unites the records of one block, numbered from 0, into clusters
// of k to 2k-1. A cluster is a slot, that of one of its first records.
//
// It works on D = 1 - S, because single precision tells small dissimilarities
// apart where similarities near 1 would all be alike; means of the one are means
// of the other.
type agglomeration struct {
	k, n    int
	pairs   []float32 // D of two records, row by row
	means   []float32 // mean D of two clusters, row by row of slots
	members [][]int32 // of each slot; nil = free
	live    []int32   // slots in use, ascending
	// nearest is, for each cluster below k, the most similar cluster when it was
	// last looked for. Unions never bring clusters nearer to each other than
	// their parts were, so bound is the least D until an exchange lowers it.
	nearest []int32
	bound   []float32
}

// start makes a cluster of every record; between is to be called for each pair.
func (g *agglomeration) start(n, k int) {
	g.n, g.k = n, k
	if cap(g.pairs) < n*n {
		g.pairs, g.means = make([]float32, n*n), make([]float32, n*n)
	}
	g.pairs, g.means = g.pairs[:n*n], g.means[:n*n]
	g.members, g.live = make([][]int32, n), make([]int32, n)
	g.nearest, g.bound = make([]int32, n), make([]float32, n)
	for i := range int32(n) {
		g.members[i], g.live[i] = []int32{i}, i
	}
}

// between sets the dissimilarity of two records.
func (g *agglomeration) between(i, j int, d float32) {
	g.pairs[i*g.n+j], g.pairs[j*g.n+i] = d, d
	g.means[i*g.n+j], g.means[j*g.n+i] = d, d
}

func (g *agglomeration) row(slot int32) []float32 {
	return g.means[int(slot)*g.n : int(slot)*g.n+g.n]
}

func (g *agglomeration) pairRow(record int32) []float32 {
	return g.pairs[int(record)*g.n : int(record)*g.n+g.n]
}

// setMean sets the mean dissimilarity of two clusters.
func (g *agglomeration) setMean(i, j int32, d float32) {
	g.means[int(i)*g.n+int(j)], g.means[int(j)*g.n+int(i)] = d, d
}

func (g *agglomeration) size(slot int32) int { return len(g.members[slot]) }

// agglomerate unites clusters until none has fewer than k records; false when
// ctx has ended.
func (g *agglomeration) agglomerate(ctx context.Context) bool {
	open := slices.Clone(g.live)
	for _, slot := range open {
		g.look(slot)
	}
	for {
		open = slices.DeleteFunc(open, func(slot int32) bool { return g.members[slot] == nil || g.size(slot) >= g.k })
		if ctx.Err() != nil {
			return false
		}
		if len(open) == 0 || len(g.live) < 2 {
			return true
		}
		slot := g.mostUrgent(open)
		partner := g.nearest[slot]
		if g.size(slot)+g.size(partner) < 2*g.k {
			g.absorb(slot, partner)
		} else {
			g.fill(slot, partner)
			g.lower(open, slot)
			g.lower(open, partner)
		}
		if g.size(slot) < g.k && len(g.live) > 1 {
			g.look(slot)
		}
	}
}

// mostUrgent is the open cluster with the most similar partner.
func (g *agglomeration) mostUrgent(open []int32) int32 {
	for {
		slot := open[0]
		for _, other := range open[1:] {
			if g.bound[other] < g.bound[slot] {
				slot = other
			}
		}
		partner := g.nearest[slot]
		if g.members[partner] != nil && g.row(slot)[partner] == g.bound[slot] {
			return slot
		}
		g.look(slot) // raises the bound to the truth
	}
}

// look finds the cluster's most similar one.
func (g *agglomeration) look(slot int32) {
	if len(g.live) < 2 {
		return
	}
	g.nearest[slot] = g.mostSimilar(slot)
	g.bound[slot] = g.row(slot)[g.nearest[slot]]
}

// mostSimilar is the cluster with the least mean dissimilarity, the first of
// several; there must be another one.
func (g *agglomeration) mostSimilar(slot int32) int32 {
	row := g.row(slot)
	best, least := int32(-1), float32(math.Inf(1))
	for _, other := range g.live {
		if other != slot && (row[other] < least || best < 0) {
			best, least = other, row[other]
		}
	}
	return best
}

// lower notes that a cluster has become more similar to others.
func (g *agglomeration) lower(open []int32, changed int32) {
	row := g.row(changed)
	for _, slot := range open {
		if row[slot] < g.bound[slot] && slot != changed {
			g.bound[slot], g.nearest[slot] = row[slot], changed
		}
	}
}

// absorb unites two clusters in the slot of the first. The dissimilarity to any
// other is the mean, weighted by size.
func (g *agglomeration) absorb(slot, partner int32) {
	own, other := float32(g.size(slot)), float32(g.size(partner))
	own, other = own/(own+other), other/(own+other)
	at, _ := slices.BinarySearch(g.live, partner)
	g.live = slices.Delete(g.live, at, at+1)
	row, partners := g.row(slot), g.row(partner)
	for _, third := range g.live {
		if third != slot {
			g.setMean(slot, third, own*row[third]+other*partners[third])
		}
	}
	g.members[slot] = append(g.members[slot], g.members[partner]...)
	g.members[partner] = nil
}

// fill moves to a cluster below k those records of its partner that are most
// similar to it, until it has k.
func (g *agglomeration) fill(slot, partner int32) {
	missing := g.k - g.size(slot)
	donor := g.members[partner]
	distance := make(map[int32]float32, len(donor))
	for _, r := range donor {
		distance[r] = g.toCluster(r, slot)
	}
	slices.SortFunc(donor, func(a, b int32) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	g.members[slot] = append(g.members[slot], donor[:missing]...)
	g.members[partner] = slices.Clone(donor[missing:])
	g.measure(slot)
	g.measure(partner)
}

// toCluster is the mean dissimilarity of a record and a cluster.
func (g *agglomeration) toCluster(record, slot int32) float32 {
	sum, row := float32(0), g.pairRow(record)
	for _, m := range g.members[slot] {
		sum += row[m]
	}
	return sum / float32(g.size(slot))
}

// measure computes the mean dissimilarities of a cluster to all others anew. The
// paper's formula for a cluster that gave records away subtracts, and gives the
// same up to rounding, which here does not add up.
func (g *agglomeration) measure(slot int32) {
	for _, other := range g.live {
		if other == slot {
			continue
		}
		sum := float32(0)
		for _, r := range g.members[other] {
			sum += g.toCluster(r, slot)
		}
		g.setMean(slot, other, sum/float32(g.size(other)))
	}
}
