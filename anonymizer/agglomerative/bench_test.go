package agglomerative_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/agglomerative"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func benchmark(b *testing.B, table *anonymizer.Table, k, l int) {
	b.Helper()
	for _, m := range []anonymizer.Method{agglomerative.BottomUp{}, agglomerative.CBAD{}} {
		b.Run(fmt.Sprintf("%s/k=%d/l=%d/records=%d", m.Name(), k, l, table.Len()), func(b *testing.B) {
			b.ReportAllocs()
			gcp := 0.0
			for b.Loop() {
				r, err := m.Anonymize(context.Background(), table, constraints(k, l), anonymizer.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				gcp = metric.GCP(table, r)
				b.StartTimer()
			}
			b.ReportMetric(100*gcp, "GCP-%")
		})
	}
}

func BenchmarkAdult(b *testing.B) {
	table, err := anonymizertest.AdultClustering(adultFolder)
	if errors.Is(err, anonymizertest.ErrNoAdult) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, kl := range [][2]int{{5, 0}, {10, 5}, {50, 0}} {
		benchmark(b, table, kl[0], kl[1])
	}
}

// BenchmarkGrowth has eight attributes of all kinds, and l-diversity.
func BenchmarkGrowth(b *testing.B) {
	for _, records := range []int{10_000, 100_000, 1_000_000} {
		shape := workload.Shape{Records: records, Attributes: 8, Distinct: 2000, Nulls: 0.01, Sensitive: 14}
		benchmark(b, workload.Generate(1, shape).Table(), 5, 3)
	}
}
