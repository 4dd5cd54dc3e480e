package partition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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

// TestPaperSevenPoints is figure 4 of the paper: counters {0,3,1,0,1,2}, k = 2,
// cut into 5 and 2 with the line at the last but one counter, whose only record
// goes to the left.
func TestPaperSevenPoints(t *testing.T) {
	t.Parallel()
	if lesser, greater := roundedSizes(7, 2); lesser != 2 || greater != 5 {
		t.Fatalf("sizes %d and %d, 2 and 5 expected", lesser, greater)
	}
	positions := []float64{2, 2, 2, 3, 5, 6, 6}
	p := &partitioning{k: 2, columns: []rankedColumn{rankColumn(positions)}}
	c := newCutter(p)
	c.orderAttributes(p.whole())
	c.try(segment{0, 7}, p.whole(), cut{0, 5})
	if want := []int32{0, 0, 0, 0, 0, -1, -1}; !slices.Equal(c.side, want) {
		t.Errorf("sides %v, %v expected", c.side, want)
	}
	if c.left[0] != (interval{0, 2}) || c.right[0] != (interval{3, 3}) {
		t.Errorf("left covers ranks %v, right %v", c.left, c.right)
	}
}

// TestSelectLine compares both ways of selection with sorting.
func TestSelectLine(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		ranks := make([]int32, 1+random.IntN(60))
		width := 1 + random.Int32N([]int32{3, 30, 3000}[random.IntN(3)])
		for i := range ranks {
			ranks[i] = 7 + random.Int32N(width)
		}
		size := random.IntN(len(ranks))
		c := &cutter{}
		rank, before := c.selectLine(ranks, size, interval{slices.Min(ranks), slices.Max(ranks)})
		sorted := slices.Sorted(slices.Values(ranks))
		wantBefore := size - slices.Index(sorted, sorted[size])
		if rank != sorted[size] || before != wantBefore {
			t.Fatalf("%v, size %d: rank %d with %d before, %d with %d expected", ranks, size, rank, before, sorted[size], wantBefore)
		}
	}
}

// TestTry compares a cut with sorting by the attribute and then by the others.
func TestTry(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n, d := 2+random.IntN(300), 1+random.IntN(4)
		p := &partitioning{k: 1}
		for range d {
			positions := make([]float64, n)
			width := 1 + random.IntN(10)
			for i := range positions {
				positions[i] = float64(random.IntN(width))
			}
			p.columns = append(p.columns, rankColumn(positions))
		}
		c := newCutter(p)
		whole := p.whole()
		c.orderAttributes(whole)
		if len(c.order) == 0 {
			continue
		}
		chosen := cut{c.order[random.IntN(len(c.order))], 1 + random.IntN(n-1)}
		c.try(segment{0, n}, whole, chosen)
		if err := checkCut(c, n, chosen); err != nil {
			t.Fatal(err)
		}
	}
}

func checkCut(c *cutter, n int, chosen cut) error {
	parts := [2][]int{}
	for i := range n {
		parts[-c.side[i]] = append(parts[-c.side[i]], i)
	}
	if len(parts[0]) != chosen.size {
		return fmt.Errorf("%d records on the left, %d expected", len(parts[0]), chosen.size)
	}
	compare := func(i, j int) int {
		order := []int{c.columns[chosen.attribute].cmp(i, j)}
		for _, a := range c.order {
			order = append(order, c.columns[a].cmp(i, j))
		}
		for _, o := range order {
			if o != 0 {
				return o
			}
		}
		return 0
	}
	if last, first := slices.MaxFunc(parts[0], compare), slices.MinFunc(parts[1], compare); compare(last, first) > 0 {
		return fmt.Errorf("a record on the left lies behind one on the right")
	}
	for side, covered := range []box{c.left, c.right} {
		for a, column := range c.columns {
			want := interval{math.MaxInt32, -1}
			for _, i := range parts[side] {
				want = interval{min(want.low, column.ranks[i]), max(want.high, column.ranks[i])}
			}
			if covered[a] != want {
				return fmt.Errorf("side %d covers %v on attribute %d, %v expected", side, covered[a], a, want)
			}
		}
	}
	return nil
}

func (c *rankedColumn) cmp(i, j int) int { return int(c.ranks[i] - c.ranks[j]) }
