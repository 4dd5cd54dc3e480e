package lookahead

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/internal/loss"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestExpected compares the expected loss of two drawn records with the mean over all pairs.
func TestExpected(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for round := range 60 {
		n := 2 + random.IntN(40)
		table := workload.Generate(uint64(round), workload.Shape{Records: n, Attributes: 14, Distinct: 8, Nulls: []float64{0, 0.2, 0.9}[round%3]}).Table()
		scales, rows := loss.Scales(context.Background(), table)
		d := len(scales)
		left := 1 + random.IntN(n-1)
		for a := range scales {
			var v view
			slots := make([]int32, n)
			for i := range slots {
				slots[i] = rows[i*d+a]
			}
			v.take(&scales[a], 0, slots, false)
			lefts, all := make([]int32, len(v.ranks)), make([]int32, len(v.ranks))
			for i, slot := range slots {
				all[slot]++
				if i < left {
					lefts[slot]++
				}
			}
			mean := func(from, to int) (sum float64) {
				for i := from; i < to; i++ {
					for j := from; j < to; j++ {
						one, other := rows[i*d+a], rows[j*d+a]
						sum += float64(scales[a].Of(min(one, other), max(one, other)))
					}
				}
				return sum / float64(to-from)
			}
			want := mean(0, left) + mean(left, n)
			if got := v.expected(newDraws(2, n), lefts, all, left, n); math.Abs(got-want) > 1e-4*(1+want) {
				t.Fatalf("attribute %d of %d records: %v expected, %v on average", a, n, got, want)
			}
		}
	}
}

// TestThin: of many numbers, neighbors are taken together, and every rank has its place.
func TestThin(t *testing.T) {
	t.Parallel()
	table := workload.Generate(1, workload.Shape{Records: 500, Attributes: 1, Distinct: 400, Nulls: 0.1}).Table()
	scales, rows := loss.Scales(context.Background(), table)
	var v view
	slots := append([]int32(nil), rows...)
	v.take(&scales[0], 0, slots, false)
	if len(v.ranks) > mostValues+1 || len(v.ranks) < mostValues/2 {
		t.Errorf("%d places", len(v.ranks))
	}
	for i, rank := range rows {
		if slot := slots[i]; v.ranks[slot] < rank || slot > 0 && v.ranks[slot-1] >= rank {
			t.Fatalf("rank %d has place %d, up to %d", rank, slot, v.ranks[slot])
		}
	}
}
