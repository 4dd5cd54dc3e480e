package cores_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/internal/cores"
)

// TestEach: every number is taken once, however many goroutines there are.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1000} {
		taken := make([]int, n)
		cores.Each(n, func(i int) { taken[i]++ })
		cores.EachWith(n, func() func(int) { return func(i int) { taken[i]++ } })
		for i, times := range taken {
			if times != 2 {
				t.Errorf("%d of %d is taken %d times by two calls", i, n, times)
			}
		}
	}
}
