package hilbert

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
)

// leastLoss tries every division of the line's rest into groups of at least k.
func leastLoss(axes []axis, line []int32, k int) float64 {
	if len(line) == 0 {
		return 0
	}
	least := math.Inf(1)
	for size := k; size <= len(line); size++ {
		penalty := 0.0
		for _, x := range axes {
			low, high := math.Inf(1), math.Inf(-1)
			for _, r := range line[:size] {
				low, high = min(low, x.scaled[x.ranks[r]]), max(high, x.scaled[x.ranks[r]])
			}
			penalty += min(1, high-low)
		}
		least = min(least, float64(size)*penalty+leastLoss(axes, line[size:], k))
	}
	return least
}

// TestOptimalGroups compares with all divisions, also those with groups of 2k
// and more.
func TestOptimalGroups(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	for range 600 {
		n, d, k := random.IntN(15), random.IntN(4), 1+random.IntN(4)
		axes, line := make([]axis, d), make([]int32, n)
		for i, r := range random.Perm(n) {
			line[i] = int32(r)
		}
		for a := range axes {
			positions := make([]float64, n)
			for i := range positions {
				positions[i] = float64(random.IntN(8))
				if random.IntN(10) == 0 {
					positions[i] = math.NaN()
				}
			}
			axes[a] = newAxis(ctx, positions)
		}
		sizes := optimalGroups(ctx, axes, line, k, anonymizer.Options{}.Track(n))
		if n < k {
			if len(sizes) != 0 {
				t.Fatalf("groups of %v of %d records, k = %d", sizes, n, k)
			}
			continue
		}
		sum := 0
		for _, size := range sizes {
			if size < k || size >= 2*k {
				t.Fatalf("sizes %v, k = %d", sizes, k)
			}
			sum += size
		}
		loss := division{line, sizes}.loss(axes)
		if want := leastLoss(axes, line, k); sum != n || math.Abs(loss-want) > 1e-9 {
			t.Fatalf("n=%d d=%d k=%d: sizes %v lose %v, %v is possible", n, d, k, sizes, loss, want)
		}
	}
}

// TestFrontierKeepsEligibility takes groups one by one: each keeps the quota, has
// records of its own, and what is left is empty or eligible.
func TestFrontierKeepsEligibility(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	tight := 0
	for range 3000 {
		l := 1 + random.IntN(5)
		k := 1 + random.IntN(9)
		values := make([]uint32, random.IntN(120))
		m := 1 + random.IntN(9)
		for i := range values {
			values[i] = uint32(min(random.IntN(m), random.IntN(m)))
		}
		quotas := []quota{
			func(size int) int { return size / l },
			func(size int) int { return int(0.35 * float64(size)) },
			func(size int) int { return int(float64(size) / 2.7) },
		}
		keeps := quotas[random.IntN(len(quotas))]
		f := newFrontier(values, k, keeps)
		if !f.eligible() {
			continue
		}
		seen := make([]bool, len(values))
		for f.left > 0 {
			counts := map[uint32]int{}
			group := f.next()
			for _, place := range group {
				if seen[place] {
					t.Fatalf("place %d in two groups", place)
				}
				seen[place] = true
				counts[values[place]]++
			}
			for value, count := range counts {
				if count > keeps(len(group)) {
					t.Fatalf("%d of value %d in a group of %d", count, value, len(group))
				}
			}
			if len(group) < k {
				t.Fatalf("a group of %d records, k = %d", len(group), k)
			}
			if !f.eligible() {
				t.Fatalf("%d records that are not eligible are left", f.left)
			}
			if len(group) < 2*k+l {
				tight++
			}
		}
		if slices.Contains(seen, false) {
			t.Fatal("a record is in no group")
		}
	}
	if tight == 0 {
		t.Error("all groups are large")
	}
}

// TestFrontierTakesTheNearest is a line where nothing forces a choice.
func TestFrontierTakesTheNearest(t *testing.T) {
	t.Parallel()
	f := newFrontier([]uint32{0, 0, 1, 2, 1, 0, 2, 3, 3, 2}, 2, func(size int) int { return size / 2 })
	group := f.next()
	slices.Sort(group)
	if !slices.Equal(group, []int32{0, 2}) {
		t.Errorf("first group %v, the first records of the first two values expected", group)
	}
}
