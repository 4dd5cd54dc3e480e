package partition

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// sizesOf is the recursion of class sizes alone.
func sizesOf(n, k int, visit func(size int)) {
	if n < 2*k {
		visit(n)
		return
	}
	lesser, greater := roundedSizes(n, k)
	sizesOf(lesser, k, visit)
	sizesOf(greater, k, visit)
}

// TestRoundedSizes proves the guarantees by brute force over n and k.
func TestRoundedSizes(t *testing.T) {
	t.Parallel()
	most := 3000
	if testing.Short() {
		most = 500
	}
	for k := 1; k < 40; k++ {
		for n := k; n < most; n++ {
			alpha, beta := n/k, n%k
			levels := int(math.Log2(float64(alpha)))
			bound := k + int(math.Ceil(float64(beta)/float64(int(1)<<levels)))
			if n >= 2*k*k {
				bound = min(bound, k+min(1, beta))
			}
			classes := 0
			sizesOf(n, k, func(size int) {
				classes++
				if size < k || size > bound {
					t.Fatalf("n=%d k=%d: class of %d records, %d to %d expected", n, k, size, k, bound)
				}
			})
			if classes != alpha {
				t.Fatalf("n=%d k=%d: %d classes", n, k, classes)
			}
		}
	}
}

// identity is a position that is the cell itself.
func identity(c hierarchy.Cell) float64 { return c }

// columnsOf ranks columns of cells.
func columnsOf(columns ...[]float64) []rankedColumn {
	var ranked []rankedColumn
	for _, c := range columns {
		ranked = append(ranked, rankColumn(context.Background(), c, identity, make([]int32, len(c))))
	}
	return ranked
}

// partitioningOf is the state before the first cut, of records in their order.
func partitioningOf(columns []rankedColumn) *partitioning {
	n := len(columns[0].ranks)
	p := &partitioning{columns: columns, records: make([]int32, n), depths: make([]uint8, n+1), placed: anonymizer.Options{}.Track(n)}
	for i := range p.records {
		p.records[i] = int32(i)
	}
	return p
}

// TestPaperSevenPoints is figure 4 of the paper: counters {0,3,1,0,1,2}, k = 2,
// cut into 5 and 2 with the line at the last but one counter, whose only record
// goes to the left.
func TestPaperSevenPoints(t *testing.T) {
	t.Parallel()
	if lesser, greater := roundedSizes(7, 2); lesser != 2 || greater != 5 {
		t.Fatalf("sizes %d and %d, 2 and 5 expected", lesser, greater)
	}
	c := cutter{partitioning: partitioningOf(columnsOf([]float64{2, 2, 2, 3, 5, 6, 6}))}
	c.lay(segment{0, 7}, cut{0, 5}, nil)
	if want := []uint8{left, left, left, left, left, right, right}; !slices.Equal(c.sides, want) {
		t.Errorf("sides %v, %v expected", c.sides, want)
	}
}

// TestSelectRank compares selection, by sorting and by one or more digits, with
// sorting.
func TestSelectRank(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	c := &cutter{}
	for range 1000 {
		ranks := make([]int32, 1+random.IntN(300))
		distinct := 1 + random.IntN([]int{3, 30, 3000, 10_000_000}[random.IntN(4)])
		for i := range ranks {
			ranks[i] = random.Int32N(int32(distinct))
		}
		size := random.IntN(len(ranks))
		rank, before := c.selectRank(ranks, size, distinct)
		sorted := slices.Sorted(slices.Values(ranks))
		wantBefore := size - slices.Index(sorted, sorted[size])
		if rank != sorted[size] || before != wantBefore {
			t.Fatalf("%v, size %d: rank %d with %d before, %d with %d expected", ranks, size, rank, before, sorted[size], wantBefore)
		}
	}
}

// TestRanks compares both ways of ranking with sorting.
func TestRanks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 200 {
		cells := make([]float64, random.IntN(500))
		width := 1 + random.IntN(300)
		for i := range cells {
			switch cells[i] = float64(random.IntN(width)-width/2) / 4; {
			case round%3 == 0 && random.IntN(9) == 0:
				cells[i] = math.NaN()
			case random.IntN(50) == 0:
				cells[i] = []float64{math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, 5e-324}[random.IntN(4)]
			}
		}
		// Pairs of cells share a position, and one has none.
		position := func(c hierarchy.Cell) float64 {
			if c == 1 {
				return math.NaN()
			}
			return math.Floor(2*min(max(c, -1e300), 1e300)) / 2
		}
		distinct := []float64{}
		for _, c := range cells {
			if p := position(c); !math.IsNaN(p) {
				distinct = append(distinct, p)
			}
		}
		slices.Sort(distinct)
		distinct = slices.Compact(distinct)
		ways := []rankedColumn{
			rankColumn(context.Background(), cells, position, make([]int32, len(cells))),
			rankByRadix(context.Background(), cells, make([]int32, len(cells)), position),
		}
		for way, c := range ways {
			offScale := false
			for i, cell := range cells {
				want, found := slices.BinarySearch(distinct, position(cell))
				if !found {
					want, offScale = len(distinct), true
				}
				if int(c.ranks[i]) != want {
					t.Fatalf("way %d: cell %v has rank %d, %d expected", way, cell, c.ranks[i], want)
				}
			}
			want := len(distinct)
			if offScale {
				want++
			}
			if len(c.axis) != want || !slices.IsSorted(c.axis) {
				t.Fatalf("way %d: axis %v of %d ranks", way, c.axis, want)
			}
		}
	}
}

// TestShuffle: all numbers are there, and no part of the order is left.
func TestShuffle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1000, shuffleFloor + 1, 3 * shuffleFloor} {
		order := shuffled(context.Background(), n, 1)
		places, moved := make([]bool, n), 0.0
		for i, r := range order {
			places[r] = true
			moved += math.Abs(float64(i) - float64(r))
		}
		if slices.Contains(places, false) {
			t.Errorf("a number below %d is missing", n)
		}
		if mean := moved / float64(n) / float64(n); n >= 1000 && (mean < 0.3 || mean > 0.36) {
			t.Errorf("numbers moved by %v of %d on average, a third expected", mean, n)
		}
		if n > 1 && !slices.Equal(order, shuffled(context.Background(), n, 1)) || n > 100 && slices.Equal(order, shuffled(context.Background(), n, 2)) {
			t.Error("the order does not follow from the seed")
		}
	}
}
