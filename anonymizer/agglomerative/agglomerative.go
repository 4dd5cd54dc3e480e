// Package agglomerative holds the methods that start from single records and
// unite what is alike until every class satisfies the constraints: BottomUp and
// CBAD.
//
// Both compare every class with every other one, which is quadratic. They
// therefore run inside blocks of near records (partition.Blocks), each block
// apart from the others and several at a time, so that a run is linear in the
// number of records and no matrix over all of them exists. A table of fewer than
// twice the block size is treated exactly as the papers have it.
package agglomerative

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

const (
	// classesPerBlock is the least number of classes of k records that a block
	// has room for.
	classesPerBlock = 4
	// largestBlock is the size up to which a block grows with k. The two matrices
	// of CBAD over a block of nearly twice as many records take half a gigabyte,
	// for each block that is worked on.
	largestBlock = 4096
	// largeWorkers is how many blocks beyond largeBlock are worked on at a time,
	// however many cores there are.
	largeBlock, largeWorkers = 2048, 2
)

// leafSize is the number of records that are neighbors in a block.
const leafSize = 32

// join makes blocks of consecutive leaves, of the given size to about twice as
// many records. Halving follows the tree of cuts that the leaves come from.
func join(leaves []anonymizer.EquivalenceClass, size int) []anonymizer.EquivalenceClass {
	records := 0
	for _, leaf := range leaves {
		records += len(leaf)
	}
	if records < 2*size || len(leaves) < 2 {
		return []anonymizer.EquivalenceClass{slices.Concat(leaves...)}
	}
	middle := len(leaves) / 2
	return append(join(leaves[:middle], size), join(leaves[middle:], size)...)
}

// clusterer divides the records of one block after the other.
type clusterer interface {
	// cluster divides a block into classes that all satisfy the constraints, or
	// leaves it whole where it does not satisfy them itself. Its result is void
	// once ctx has ended.
	cluster(ctx context.Context, block anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass
}

// whole is the clusterer for a k so large that a block is a class.
type whole struct{}

func (whole) cluster(_ context.Context, block anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	return []anonymizer.EquivalenceClass{block}
}

// run is one run of a method over a table.
type run struct {
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	k           int
	options     anonymizer.Options
}

// blockwise divides the table into blocks of about the given size, which grows
// with k, and each of them by a clusterer. prepare is called once, what it
// returns once for each core.
func (r *run) blockwise(ctx context.Context, size int, prepare func() func() clusterer) (*anonymizer.Release, error) {
	n := r.table.Len()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n == 0 {
		return &anonymizer.Release{}, nil
	}
	if r.constraints.Feasible(r.table.Population().Summary) != nil {
		return anonymizer.WithholdAll(r.table), nil
	}
	size = max(size, min(classesPerBlock*r.k, largestBlock))
	leaf, newClusterer := min(size, leafSize), func() clusterer { return whole{} }
	if size >= classesPerBlock*r.k {
		newClusterer = prepare()
	} else {
		size, leaf = r.k, r.k
	}
	leaves := partition.Blocks(ctx, r.table, leaf, r.options.Seed)
	divided := r.divide(ctx, join(leaves, size), newClusterer)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	release := r.unite(ctx, divided)
	return release, ctx.Err()
}

// divide runs the clusterers over the blocks. A block's classes depend on its
// records alone, so the number of workers does not matter.
func (r *run) divide(ctx context.Context, blocks []anonymizer.EquivalenceClass, newClusterer func() clusterer) [][]anonymizer.EquivalenceClass {
	divided := make([][]anonymizer.EquivalenceClass, len(blocks))
	placed := r.options.Track(r.table.Len())
	var taken atomic.Int64
	var workers sync.WaitGroup
	count := min(runtime.GOMAXPROCS(0), len(blocks))
	if len(blocks) > 0 && len(blocks[0]) > 2*largeBlock {
		count = min(count, largeWorkers)
	}
	for range count {
		workers.Go(func() {
			c := newClusterer()
			for {
				b := int(taken.Add(1)) - 1
				if b >= len(blocks) || ctx.Err() != nil {
					return
				}
				divided[b] = c.cluster(ctx, blocks[b])
				placed.Add(len(blocks[b]))
			}
		})
	}
	workers.Wait()
	return divided
}

func (r *run) satisfied(class []int32) bool {
	return len(class) >= r.k && r.constraints.Satisfied(r.table.Summarize(class), r.table.Population())
}
