package recoding

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func benchmark(b *testing.B, m anonymizer.Method, rows ...int) {
	for _, n := range rows {
		b.Run(fmt.Sprintf("rows=%d/qi=5/constraints=4", n), func(b *testing.B) {
			d, c := workload.Census(1, n).Cover(workload.CensusConstraints(4))
			table := d.Table()
			for b.Loop() {
				r := anonymize(b, m, table, c, anonymizer.Options{})
				b.ReportMetric(metric.Precision(table, r), "prec")
			}
		})
	}
}

func BenchmarkDatafly(b *testing.B) { benchmark(b, Datafly{}, 10_000, 100_000, 1_000_000, 10_000_000) }

func BenchmarkClassfly(b *testing.B) {
	benchmark(b, Classfly{}, 10_000, 100_000, 1_000_000, 10_000_000)
}

func BenchmarkComplete(b *testing.B) {
	benchmark(b, ClassflyPlus{Complete}, 10_000, 100_000, 1_000_000, 10_000_000)
}

func BenchmarkPartial(b *testing.B) {
	benchmark(b, ClassflyPlus{Partial}, 10_000, 100_000, 1_000_000, 10_000_000)
}
func BenchmarkLattice(b *testing.B) { benchmark(b, Lattice{}, 10_000, 100_000, 1_000_000) }

// BenchmarkLatticeWide searches all nine attributes.
func BenchmarkLatticeWide(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d/qi=9/k=5", n), func(b *testing.B) {
			table := workload.Census(1, n).Table()
			for b.Loop() {
				anonymize(b, Lattice{}, table, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.5}}, anonymizer.Options{})
			}
		})
	}
}
