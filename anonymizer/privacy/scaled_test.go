package privacy_test

import (
	"math"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// scaled has every record so many times.
func scaled(s privacy.Summary, times int) privacy.Summary {
	large := privacy.NewSummary(1)
	large.Records = s.Records * times
	for code, count := range s.Sensitive[0] {
		large.Sensitive[0][code] = count * times
	}
	return large
}

// TestScaledTables: what compares shares finds the same of a hundred million times as many
// records, where products of counts are beyond 64 bits.
func TestScaledTables(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		w := newWorld(t, seed, 1+int(seed%20), 2+int(seed%6), false)
		class := summarize(w.pick(w.random.Perm(w.group.Records)[:1+w.random.IntN(w.group.Records)]))
		const times = 100_000_007
		large, largeWhole := scaled(class, times), privacy.NewPopulation(scaled(w.whole.Summary, times))
		for _, c := range w.constraints()[2:] {
			if got, want := c.Satisfied(large, largeWhole), c.Satisfied(class, w.whole); got != want {
				t.Fatalf("seed %d: %v is %v of %v times %v of %v, and %v once", seed, c, got, times, class, w.whole.Summary, want)
			}
			if got, want := c.Feasible(largeWhole.Summary), c.Feasible(w.whole.Summary); (got == nil) != (want == nil) {
				t.Fatalf("seed %d: %v times %v: %v, once: %v", seed, times, w.whole.Summary, got, want)
			}
			measured, is := c.(privacy.TCloseness)
			if !is {
				continue
			}
			got, _ := measured.DistanceOf(large, largeWhole)
			want, _ := measured.DistanceOf(class, w.whole)
			if math.Abs(got-want) > 1e-12 {
				t.Fatalf("seed %d: %v is %v away, and %v with %d times as many", seed, class, want, got, times)
			}
			// At the distance itself, as a decimal: the comparison is exact.
			measured.T = want
			if measured.Satisfied(large, largeWhole) != measured.Satisfied(class, w.whole) {
				t.Fatalf("seed %d: %v of %v times %v", seed, measured, times, class)
			}
		}
	}
}
