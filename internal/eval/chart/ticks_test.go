package chart

import (
	"math"
	"testing"
)

// TestLogarithmicAxesCanBeRead wants labels within the axis, enough of them to
// tell its scale, and not a crowd.
func TestLogarithmicAxesCanBeRead(t *testing.T) {
	t.Parallel()
	for _, span := range [][2]float64{{122, 861}, {1, 10}, {2, 300}, {0.0004, 0.05}, {21, 24}, {1e-9, 1e9}, {5, 6}, {99.5, 100.5}} {
		labels := 0
		for _, mark := range (logarithmic{}).Ticks(span[0], span[1]) {
			if mark.Value < span[0] || mark.Value > span[1] {
				t.Errorf("%v: a mark at %g", span, mark.Value)
			}
			if mark.Label != "" {
				labels++
			}
		}
		if labels < 2 || labels > 20 {
			t.Errorf("%v: %d labels", span, labels)
		}
	}
	for _, span := range [][2]float64{{0, 1}, {-1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if marks := (logarithmic{}).Ticks(span[0], span[1]); marks != nil {
			t.Errorf("%v: marks %v", span, marks)
		}
	}
}
