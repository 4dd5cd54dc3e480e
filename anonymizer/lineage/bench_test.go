package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkChanges replaces records of a table with 8 attributes, k = 5 and l = 2, a
// hundred of them between two publications, and tells the memory for each record.
func BenchmarkChanges(b *testing.B) {
	for _, records := range []int{10_000, 100_000, 1_000_000} {
		benchmarkChanges(b, records)
	}
}

// BenchmarkChangesOfTenMillion is BenchmarkChanges for ten million records: it takes
// 4 GB of memory and a minute to begin.
func BenchmarkChangesOfTenMillion(b *testing.B) { benchmarkChanges(b, 10_000_000) }

func benchmarkChanges(b *testing.B, records int) {
	b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
		before := heapInUse()
		l, newRecord := benchmarkLineage(b, records)
		held := float64(heapInUse()-before) / float64(records)
		now := time.Unix(1, 0)
		id := incremental.RecordID(records)
		for b.Loop() {
			if err := l.Delete(id - incremental.RecordID(records) + 1); err != nil {
				b.Fatal(err)
			}
			id++
			if err := l.Insert(newRecord(id), now); err != nil {
				b.Fatal(err)
			}
			if id%100 == 0 {
				now = now.Add(time.Second)
				if _, err := l.Publish(b.Context(), now); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(held, "bytes/record")
	})
}

func benchmarkLineage(b *testing.B, records int) (*lineage.Lineage, func(incremental.RecordID) lineage.Record) {
	b.Helper()
	attributes := make([]anonymizer.Attribute, 8)
	for a := range attributes {
		attributes[a] = workload.Attribute(fmt.Sprintf("a%d", a), hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	}
	set := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 2}}
	l, err := lineage.New(attributes, set, partition.RoundedPartition{}, lineage.Options{Crowd: 4})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	newRecord := func(id incremental.RecordID) lineage.Record {
		r := lineage.Record{Record: incremental.Record{ID: id, Sensitive: []uint32{uint32(random.IntN(10))}}}
		for range attributes {
			r.Cells = append(r.Cells, float64(random.IntN(1000)))
		}
		return r
	}
	for id := range incremental.RecordID(records) {
		if err := l.Insert(newRecord(id+1), time.Unix(0, 0)); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.Publish(b.Context(), time.Unix(0, 0)); err != nil {
		b.Fatal(err)
	}
	return l, newRecord
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
