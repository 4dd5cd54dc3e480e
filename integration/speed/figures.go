package main

import (
	"maps"
	"strconv"

	"github.com/kproxy/kproxy/bench/result"
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

// noteCPU keeps processor times of a proxy, which a direct connection has none of.
func (b *bench) noteCPU(name string, w *way, parameters map[string]string, unit string, rounds []float64) {
	if w.process != nil {
		b.note(name, w, parameters, unit, rounds)
	}
}

// noteIdle keeps what idle sessions cost the active ones, and in memory.
func (b *bench) noteIdle(w *way, alone, beside series, kilobytes float64) {
	parameters := func(idle int) map[string]string {
		return map[string]string{"idle": strconv.Itoa(idle), "active": strconv.Itoa(b.active)}
	}
	b.noteSeries("idle", w, parameters(0), alone)
	b.noteSeries("idle", w, parameters(b.idle), beside)
	b.note("idle-memory", w, parameters(b.idle), "KB/session", []float64{kilobytes})
}
