package main

import (
	"testing"

	"github.com/kproxy/kproxy/integration/child"
)

// TestLostProcessorTime: a time that is smaller than nothing is no time.
func TestLostProcessorTime(t *testing.T) {
	t.Parallel()
	var b bench
	proxied := &way{name: "pgpool", process: &child.Process{}}
	b.noteCPU("lost", proxied, nil, "µs", []float64{93.9, -441, 107})
	b.noteCPU("direct", &way{name: direct}, nil, "µs", []float64{0, 0})
	b.noteCPU("known", proxied, nil, "µs", []float64{93.9, 0, 107})
	if len(b.figures) != 1 || b.figures[0].Name != "known" {
		t.Errorf("it keeps %+v", b.figures)
	}
}
