package partition_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// rowsMax bounds the tables of the benchmarks: -rows.max=10000000 takes some
// minutes and 3 GB.
var rowsMax = flag.Int("rows.max", 1_000_000, "largest table of the benchmarks")

// adult is the census table, without which the test is skipped.
func adult(t testing.TB) *anonymizer.Table {
	t.Helper()
	table, err := anonymizertest.Adult("../../../shared/data/adult")
	if errors.Is(err, anonymizertest.ErrNoAdult) {
		t.Skip("skipped: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func withCores(cores int, work func() any) any {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	return work()
}

func BenchmarkRoundedPartition(b *testing.B) { benchmark(b, partition.RoundedPartition{}) }

func BenchmarkMondrianStrict(b *testing.B) { benchmark(b, strict) }

func BenchmarkMondrianRelaxed(b *testing.B) { benchmark(b, relaxed) }

func BenchmarkBlocks(b *testing.B) {
	for rows := 10_000; rows <= *rowsMax; rows *= 10 {
		table := workload.AdultLike(1, rows)
		b.Run(fmt.Sprintf("adult-like/rows=%d/size=200", rows), func(b *testing.B) {
			for b.Loop() {
				partition.Blocks(context.Background(), table, 200, 1)
			}
		})
	}
}

// benchmark runs a method on Adult, on tables like it and on tables of 2,000
// values an attribute, and reports the information loss in percent and the peak
// of memory beside the table in bytes a record.
func benchmark(b *testing.B, m anonymizer.Method) {
	b.Run("adult", func(b *testing.B) {
		table := adult(b)
		for _, k := range []int{5, 10, 25, 50} {
			b.Run(fmt.Sprintf("rows=%d/k=%d", table.Len(), k), func(b *testing.B) { measure(b, m, table, k) })
		}
	})
	for rows := 10_000; rows <= *rowsMax; rows *= 10 {
		b.Run(fmt.Sprintf("adult-like/rows=%d/k=5", rows), func(b *testing.B) {
			measure(b, m, workload.AdultLike(1, rows), 5)
		})
	}
	for rows := 10_000; rows <= min(*rowsMax, 1_000_000); rows *= 10 {
		b.Run(fmt.Sprintf("uniform/rows=%d/k=5", rows), func(b *testing.B) {
			d := workload.Generate(1, workload.Shape{Records: rows, Attributes: 8, Distinct: 2000})
			measure(b, m, d.Table(), 5)
		})
	}
}

func measure(b *testing.B, m anonymizer.Method, table *anonymizer.Table, k int) {
	var r *anonymizer.Release
	peak := peakMemory(func(ctx context.Context) {
		if _, err := m.Anonymize(ctx, table, kAnonymous(k), anonymizer.Options{}); err != nil {
			b.Fatal(err)
		}
	})
	for b.Loop() {
		r = run(b, m, table, kAnonymous(k), 0)
	}
	b.ReportMetric(100*metric.GCP(table, r), "loss-%")
	b.ReportMetric(float64(peak)/float64(table.Len()), "bytes/record")
}

// peakMemory is how much more memory than before is in use at most, garbage
// included, whenever the work looks at its context and at the end.
func peakMemory(work func(ctx context.Context)) uint64 {
	runtime.GC()
	before := heapBytes()
	watch := &memoryWatch{Context: context.Background()}
	work(watch)
	_ = watch.Err()
	return watch.peak.Load() - before
}

// memoryWatch is a context that notes the memory in use whenever it is asked
// for its error.
type memoryWatch struct {
	context.Context
	peak atomic.Uint64
}

func (w *memoryWatch) Err() error {
	now := heapBytes()
	for {
		peak := w.peak.Load()
		if now <= peak || w.peak.CompareAndSwap(peak, now) {
			return w.Context.Err()
		}
	}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
