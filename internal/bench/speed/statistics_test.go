package main

import (
	"strings"
	"testing"
)

func TestMedianAndQuantile(t *testing.T) {
	t.Parallel()
	if got := median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median of three: %v", got)
	}
	if got := median([]float64{4, 1, 2, 9}); got != 3 {
		t.Errorf("median of four: %v", got)
	}
	sorted := make([]float64, 100)
	for i := range sorted {
		sorted[i] = float64(i + 1)
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := quantile(sorted, share); got != want {
			t.Errorf("quantile %v: %v, want %v", share, got, want)
		}
	}
	if median(nil) != 0 || quantile(nil, 0.5) != 0 {
		t.Error("of nothing it is 0")
	}
}

func TestCompareTakesMediansAndPairs(t *testing.T) {
	t.Parallel()
	got := compare([]float64{50, 100, 90}, []float64{100, 100, 180})
	if want := (ratio{medians: 0.9, least: 0.5, greatest: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTableIsAligned(t *testing.T) {
	t.Parallel()
	var tb table
	tb.add("way", "tps")
	tb.add("direct", "1")
	var out strings.Builder
	tb.write(&out)
	const want = "| way    | tps |\n| --- | --- |\n| direct | 1   |\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
