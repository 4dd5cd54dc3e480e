package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// note keeps a figure for the file.
func (b *bench) note(name string, w *way, parameters map[string]string, unit string, rounds []float64) {
	if len(rounds) > 0 {
		b.figures = append(b.figures, result.New(name, w.name, maps.Clone(parameters), unit, rounds...))
	}
}

// noteSeries keeps the figures of samples: NAME-rate, -mean, -p50, -p99 and -cpu, which
// is by transaction.
func (b *bench) noteSeries(name string, w *way, parameters map[string]string, got series) {
	b.note(name+"-rate", w, parameters, "1/s", got.column(w, rateOf))
	b.note(name+"-mean", w, parameters, "ms", got.column(w, meanOf))
	b.note(name+"-p50", w, parameters, "ms", got.column(w, medianOf))
	b.note(name+"-p99", w, parameters, "ms", got.column(w, worstOf))
	b.noteCPU(name+"-cpu", w, parameters, "µs", got.column(w, processorOf))
}

// noteCPU keeps processor times of a proxy, which a direct connection has none of. They are
// not known of one whose processes took their times with them when they ended, as some of
// Pgpool-II's do: the sum is smaller then than it was before.
func (b *bench) noteCPU(name string, w *way, parameters map[string]string, unit string, rounds []float64) {
	lost := slices.ContainsFunc(rounds, func(t float64) bool { return t < 0 })
	if w.process != nil && !lost {
		b.note(name, w, parameters, unit, rounds)
	}
}

// noteIdle keeps what idle sessions cost the active ones, and in memory of the proxy and of
// the server.
func (b *bench) noteIdle(w *way, alone, beside series, kilobytes, ofServer float64) {
	parameters := func(idle int) map[string]string {
		return map[string]string{"idle": strconv.Itoa(idle), "active": strconv.Itoa(b.active)}
	}
	b.noteSeries("idle", w, parameters(0), alone)
	b.noteSeries("idle", w, parameters(b.idle), beside)
	b.note("idle-memory", w, parameters(b.idle), "KB/session", []float64{kilobytes})
	b.note("idle-server-memory", w, parameters(b.idle), "KB/session", []float64{ofServer})
}
