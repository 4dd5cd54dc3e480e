package hospital

import (
	"math/rand/v2"
	"sort"
)

// weighted is a discrete distribution: the running sums of its weights.
type weighted []float64

// newWeighted takes weights that are not negative and not all zero.
func newWeighted(weights []float64) weighted {
	sums := make(weighted, len(weights))
	total := 0.0
	for i, w := range weights {
		total += w
		sums[i] = total
	}
	return sums
}

// draw returns an index with a probability in proportion to its weight.
func (w weighted) draw(rng *rand.Rand) int {
	x := rng.Float64() * w[len(w)-1]
	return sort.Search(len(w)-1, func(i int) bool { return w[i] > x })
}

// ranked draws an index below n that is the likelier the lower it is: the first
// quarter of the indexes has half of the probability.
func ranked(rng *rand.Rand, n int) int {
	u := rng.Float64()
	return int(u * u * float64(n))
}
