package hierarchy_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func benchmarkColumn(n int, text func(int) string) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text(i * 7919 % 10_007)
	}
	return texts
}

var benchmarked = []struct {
	name string
	spec hierarchy.Spec
	text func(int) string
}{
	{"integer", fuzzed[0], strconv.Itoa},
	{"steps", fuzzed[1], strconv.Itoa},
	{"decimal", fuzzed[2], func(i int) string { return fmt.Sprintf("%d.%02d", i/100, i%100) }},
	{"decimal-steps", fuzzed[3], func(i int) string { return fmt.Sprintf("%d.%02d", i/100, i%100) }},
	{"date", fuzzed[4], func(i int) string { return fmt.Sprintf("%04d-%02d-%02d", 1990+i/336, 1+i/28%12, 1+i%28) }},
	{"units", fuzzed[5], func(i int) string { return fmt.Sprintf("%04d-%02d-%02d", 1990+i/336, 1+i/28%12, 1+i%28) }},
	{"taxonomy", fuzzed[9], func(i int) string { return string(rune('a' + i%4)) }},
	{"prefix", fuzzed[10], func(i int) string { return fmt.Sprintf("%05d", i) }},
	{"keep", fuzzed[11], func(i int) string { return fmt.Sprintf("%05d", i) }},
}

func BenchmarkEncode10k(b *testing.B) {
	for _, row := range benchmarked {
		texts := benchmarkColumn(10_000, row.text)
		b.Run(row.name, func(b *testing.B) {
			h := build(b, row.spec)
			for b.Loop() {
				encode(h, texts...)
			}
		})
	}
}

// BenchmarkGeneralize10k publishes classes of ten.
func BenchmarkGeneralize10k(b *testing.B) {
	for _, row := range benchmarked {
		h := build(b, row.spec)
		cells := encode(h, benchmarkColumn(10_000, row.text)...)
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < len(cells); i += 10 {
					h.Generalize(cells[i : i+10])
				}
			}
		})
	}
}

// BenchmarkLevels10k makes a ladder and looks up each cell's node at each level.
func BenchmarkLevels10k(b *testing.B) {
	for _, row := range benchmarked {
		h := build(b, row.spec)
		cells := encode(h, benchmarkColumn(10_000, row.text)...)
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				l := hierarchy.LevelsOf(h, cells)
				for level := range l.Height() {
					for _, c := range cells {
						l.Node(c, level)
					}
				}
			}
		})
	}
}
