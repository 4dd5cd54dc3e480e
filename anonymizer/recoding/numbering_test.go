package recoding

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
)

// TestNumber compares with a map, for as many keys as fill one part and several.
func TestNumber(t *testing.T) {
	t.Parallel()
	var s numbering
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 1000, partKeys - 1, partKeys, 5 * partKeys} {
		for _, distinct := range []uint64{1, 2, 100, 1 << 62} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = random.Uint64N(distinct)
			}
			of, firsts, err := s.number(context.Background(), keys)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[uint64]uint32{}
			for i, key := range keys {
				number, known := seen[key]
				if !known {
					number = uint32(len(seen))
					seen[key] = number
					if int(firsts[number]) != i {
						t.Fatalf("n=%d distinct=%d: number %d first at %d, %d expected", n, distinct, number, firsts[number], i)
					}
				}
				if of[i] != number {
					t.Fatalf("n=%d distinct=%d: key %d has number %d, %d expected", n, distinct, i, of[i], number)
				}
			}
			if len(firsts) != len(seen) || len(of) != n {
				t.Fatalf("n=%d distinct=%d: %d numbers of %d keys", n, distinct, len(firsts), len(of))
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.number(ctx, make([]uint64, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
