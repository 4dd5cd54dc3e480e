package seeded

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// block grows clusters from near records. Those that are in no cluster yet lie in
// front, in all columns alike; a scan reads them column by column.
type block struct {
	*plan
	records  []int32
	left     int // records in no cluster
	values   *values
	scales   [][]float32 // by attribute
	codes    [][]int32   // by attribute
	weights  [][]float32 // by attribute, of the nodes: scratch of measure
	existing []float32   // distance from the nearest cluster
	distance []float32   // from the cluster measured last
	step     []uint16    // interval of the distance: scratch of nearestToSeed
}

func newBlock(p *plan, records []int32) *block {
	b := &block{
		plan:     p,
		records:  append([]int32(nil), records...),
		left:     len(records),
		values:   newValues(p.bound, records),
		scales:   make([][]float32, len(p.space.scales)),
		codes:    make([][]int32, len(p.space.trees)),
		existing: make([]float32, len(records)),
		distance: make([]float32, len(records)),
		step:     make([]uint16, len(records)),
	}
	for i := range b.existing {
		b.existing[i] = math.MaxFloat32
	}
	for a, s := range p.space.scales {
		b.scales[a] = pick(s.at, records)
	}
	for a, t := range p.space.trees {
		b.codes[a] = pick(t.codes, records)
		b.weights = append(b.weights, slices.Repeat([]float32{1 / float32(t.height)}, t.size))
	}
	return b
}

// pick gives the values at the places.
func pick[T any](values []T, places []int32) []T {
	picked := make([]T, len(places))
	for i, place := range places {
		picked[i] = values[place]
	}
	return picked
}

// grow makes clusters until the records left cannot fill another one. It stops
// early when the context ends.
func (b *block) grow(ctx context.Context, seed uint64) []*cluster {
	var clusters []*cluster
	random := rand.New(rand.NewPCG(seed, 0))
	for b.left >= b.size && ctx.Err() == nil {
		next := b.farthest()
		if len(clusters) == 0 {
			next = random.IntN(b.left)
		}
		size := b.size
		if b.quota {
			size = b.values.leastFor(next, size)
			if b.left < size || !b.values.fill(size) {
				break
			}
		}
		c := b.growFrom(ctx, next, size)
		b.placed.Add(len(c.members))
		clusters = append(clusters, c)
	}
	return clusters
}

// farthest is the record with the greatest distance from the nearest seed.
func (b *block) farthest() int {
	chosen, most := 0, float32(-1)
	for i, d := range b.existing[:b.left] {
		if d > most {
			chosen, most = i, d
		}
	}
	return chosen
}

// growFrom makes a cluster of the seed and the records that are the nearest to
// its centroid, one by one.
func (b *block) growFrom(ctx context.Context, seed, size int) *cluster {
	if b.quota {
		b.values.begin(size, b.left)
	}
	b.measure(b.space.newCluster([]int32{b.records[seed]}))
	g := &growth{block: b, cluster: b.space.newCluster(nil), size: size}
	g.take(int32(seed))
	for len(g.members) < size && ctx.Err() == nil {
		g.takeNearest()
	}
	b.remove(g.places)
	b.measure(g.cluster)
	for i, d := range b.distance[:b.left] {
		b.existing[i] = min(b.existing[i], d)
	}
	return g.cluster
}

// remove takes the records at the places out of the block; the last one left
// fills a place.
func (b *block) remove(places []int32) {
	slices.Sort(places)
	for _, i := range slices.Backward(places) {
		b.left--
		last := b.left
		b.records[i], b.records[last] = b.records[last], b.records[i]
		b.values.of[i], b.existing[i] = b.values.of[last], b.existing[last]
		for _, column := range b.scales {
			column[i] = column[last]
		}
		for _, column := range b.codes {
			column[i] = column[last]
		}
	}
}
