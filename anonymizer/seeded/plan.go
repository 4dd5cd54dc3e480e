package seeded

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// plan is what a run knows from the beginning.
type plan struct {
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	bound       bound
	quota       bool // growing clusters pass over values that are full
	size        int  // records in a cluster that grows
	block       int  // the least number of records in a block
	space       *space
	placed      *anonymizer.Tracker
}

func newPlan(t *anonymizer.Table, c privacy.ConstraintSet, multi bool) *plan {
	p := &plan{table: t, constraints: c, bound: newBound(t, c), size: c.K(), block: blockRecords}
	if multi && p.bound.values != nil {
		p.quota = true
		p.size = p.bound.leastSize(p.size)
	}
	return p
}

// release runs the plan.
func (p *plan) release(ctx context.Context, o anonymizer.Options) (*anonymizer.Release, error) {
	regions, err := p.regions(ctx, o)
	if err != nil {
		return nil, err
	}
	clusters, err := p.settle(ctx, regions, o.Seed)
	if err != nil {
		return nil, err
	}
	if len(clusters) == 0 {
		return anonymizer.WithholdAll(p.table), nil
	}
	r := &anonymizer.Release{Classes: make([]anonymizer.EquivalenceClass, len(clusters))}
	for i, c := range clusters {
		r.Classes[i] = c.members
	}
	return r, nil
}

// region is a block with the clusters grown from it.
type region struct {
	clusters []*cluster
	left     []int32 // records in no cluster
}

// blockRecords is the number of records in a block, up to twice as many less one.
// On Adult's 45,222 records, k = 20 and alpha = 0.2, blocks of 1024, 2048, 4096,
// 8192, 16384 and of all records lose 10.03, 10.02, 9.67, 9.54, 9.65 and 9.96 %
// for one value, 17.5, 16.7, 16.8, 14.1, 14.3 and 13.4 % for all
// (BenchmarkBlockSize); the time of one block is four times that of 8192.
const blockRecords = 8192

// leastClusters is the number of clusters that a block has room for at the least.
const leastClusters = 16

// regions divides the table and clusters each block for itself, on all cores.
func (p *plan) regions(ctx context.Context, o anonymizer.Options) ([]region, error) {
	p.space = newSpace(ctx, p.table)
	size := max(p.block, leastClusters*p.size)
	blocks := partition.Blocks(ctx, p.table, size, o.Seed)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.quota {
		blocks = p.balanced(blocks)
	}
	regions := make([]region, len(blocks))
	p.placed = o.Track(p.table.Len())
	cores.Each(len(blocks), func(i int) { regions[i] = p.cluster(ctx, blocks[i], o.Seed+uint64(i)) })
	return regions, ctx.Err()
}

// cluster does what can be done inside one block.
func (p *plan) cluster(ctx context.Context, records []int32, seed uint64) region {
	b := newBlock(p, records)
	own := []region{{clusters: b.grow(ctx, seed)}}
	own[0].left = b.records[:b.left:b.left]
	p.countAll(own[0].clusters)
	s := &search{plan: p, regions: own}
	if !p.quota {
		s.exchangeAll(ctx)
	}
	s.attachAll(ctx)
	if ctx.Err() == nil {
		p.placed.Add(b.left)
	}
	return own[0]
}

// countAll prepares clusters for a search.
func (p *plan) countAll(clusters []*cluster) {
	for _, c := range clusters {
		p.space.count(c)
	}
}

// settle finishes what single blocks could not, and gives the clusters, all of
// which satisfy the constraints; none where they cannot be satisfied.
func (p *plan) settle(ctx context.Context, regions []region, seed uint64) ([]*cluster, error) {
	s := &search{plan: p, regions: regions}
	if p.quota {
		s.growAgain(ctx, seed)
	} else {
		s.exchangeAll(ctx)
	}
	s.attachAll(ctx)
	clusters := s.uniteAll(ctx)
	return clusters, ctx.Err()
}
