package compact_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// TestLookup looks ids up that lie close to one another, and far apart.
func TestLookup(t *testing.T) {
	t.Parallel()
	for name, ids := range map[string][]int64{
		"none":  nil,
		"one":   {7},
		"near":  {12, 10, 11, 18, 15},
		"below": {-3, 2, -1},
		"far":   {1, 1 << 40, 5},
		"ends":  {math.MinInt64, math.MaxInt64, 0},
	} {
		l, twice := compact.NewLookup(ids)
		if twice != -1 {
			t.Errorf("%s: %d is there twice", name, twice)
		}
		known := make(map[int64]int32)
		for place, id := range ids {
			known[id] = int32(place)
		}
		tried := []int64{math.MinInt64, math.MaxInt64}
		for id := int64(-20); id < 20; id++ {
			tried = append(tried, id)
		}
		for _, id := range append(tried, ids...) {
			want, is := known[id]
			if !is {
				want = -1
			}
			if got := l.Find(id); got != want {
				t.Errorf("%s: %d is at %d, not %d", name, id, got, want)
			}
		}
	}
	for _, ids := range [][]int64{{4, 5, 4}, {4, 1 << 50, 4}} {
		if _, twice := compact.NewLookup(ids); twice != 2 {
			t.Errorf("of %v, %d is said to be there twice", ids, twice)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	few := append(make([]int, 0, 1_000_000), 1, 2, 3)
	if got := compact.Fit(few); cap(got) > 100 || !slices.Equal(got, few) {
		t.Errorf("%d, with room for %d", got, cap(got))
	}
	if got := compact.Fit(few[:3:1000]); cap(got) != 1000 {
		t.Errorf("a list with room for 1,000 has been copied to one for %d", cap(got))
	}
}
