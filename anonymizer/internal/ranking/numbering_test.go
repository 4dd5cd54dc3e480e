package ranking_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// TestNumberingGrows meets small whole numbers, which take no slots, before all
// others.
func TestNumberingGrows(t *testing.T) {
	t.Parallel()
	n := ranking.NewNumbering()
	want := map[float64]int32{}
	for i := range 3000 {
		value := float64(i)
		if i >= 1000 {
			value += 0.5
		}
		want[value] = n.Number(value)
	}
	for value, number := range want {
		if got := n.Number(value); got != number || n.Values[number] != value {
			t.Fatalf("%v has number %d, then %d", value, number, got)
		}
	}
	if len(n.Values) != 3000 {
		t.Errorf("%d different values, 3000 expected", len(n.Values))
	}
}

// TestOf compares both ways of ranking, of few and of many different values, with sorting.
func TestOf(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 3))
	for _, different := range []int{1, 7, 2000, 3 * ranking.FewValues} {
		column := make([]float64, 4*different)
		for i := range column {
			if column[i] = float64(random.IntN(different)) / 4; random.IntN(50) == 0 {
				column[i] = math.NaN()
			}
		}
		r := ranking.Of(context.Background(), column)
		if !slices.IsSorted(r.Values) || len(slices.Compact(slices.Clone(r.Values))) != len(r.Values) {
			t.Fatalf("%d values: not ascending", different)
		}
		for i, rank := range r.Ranks {
			switch missing := math.IsNaN(column[i]); {
			case missing && (int(rank) != len(r.Values) || !r.OffScale):
				t.Fatalf("%d values: a missing one has rank %d", different, rank)
			case !missing && r.Values[rank] != column[i]:
				t.Fatalf("%d values: %v has the rank of %v", different, column[i], r.Values[rank])
			}
		}
	}
}
