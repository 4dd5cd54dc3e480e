package partition

import (
	"context"
	"math/rand/v2"
)

const (
	// shuffleBuckets is the number of buckets, each of which is written to at
	// its own end.
	shuffleBuckets = 256
	// shuffleFloor is the number of records up to which the whole lies in a
	// core's cache, so that swaps far apart cost no more than near ones.
	shuffleFloor = 1 << 16
)

// shuffled gives the numbers below n in random order. Large n are first thrown
// into buckets, which are then shuffled one by one (Rao 1961, Sandelius 1962):
// every order is equally likely, and memory is walked through in sequence. The order
// is unfinished once the context has ended.
func shuffled(ctx context.Context, n int, seed uint64) []int32 {
	random := rand.New(rand.NewPCG(seed, 0))
	order := make([]int32, n)
	bounds := []int{0, n}
	if n <= shuffleFloor {
		for i := range order {
			order[i] = int32(i)
		}
	} else {
		bounds = throw(order, random)
	}
	for b := range bounds[1:] {
		if ctx.Err() != nil {
			break
		}
		bucket := order[bounds[b]:bounds[b+1]]
		for i := len(bucket) - 1; i > 0; i-- {
			j := random.Uint32N(uint32(i + 1))
			bucket[i], bucket[j] = bucket[j], bucket[i]
		}
	}
	return order
}

// throw distributes the numbers below len(order) over random buckets and gives
// the bounds of these.
func throw(order []int32, random *rand.Rand) []int {
	bucketOf := make([]uint8, len(order))
	counts := [shuffleBuckets]int{}
	word := uint64(0)
	for i := range bucketOf {
		if i%8 == 0 {
			word = random.Uint64()
		}
		bucketOf[i] = uint8(word)
		counts[uint8(word)]++
		word >>= 8
	}
	bounds := make([]int, shuffleBuckets+1)
	next := [shuffleBuckets]int{}
	for b, count := range counts {
		next[b] = bounds[b]
		bounds[b+1] = bounds[b] + count
	}
	for i, b := range bucketOf {
		order[next[b]] = int32(i)
		next[b]++
	}
	return bounds
}
