package incremental_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkSettle replaces one record of a large table and settles.
func BenchmarkSettle(b *testing.B) {
	for _, c := range []struct {
		name    string
		persons bool
		set     privacy.ConstraintSet
	}{
		{"k", false, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}},
		{"distinct", false, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.DistinctDiversity{L: 3}}},
		{"closeness", false, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.TCloseness{T: 0.5}}},
		{"likeness", false, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.BetaLikeness{Beta: 4}}},
		{"persons", true, privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.AlphaBound{Alpha: 0.6}}},
	} {
		const records = 100_000
		b.Run(fmt.Sprintf("%s/records=%d", c.name, records), func(b *testing.B) {
			p, newRecord := benchmarkPartition(b, records, c.set, c.persons)
			id := incremental.RecordID(records)
			for b.Loop() {
				if err := p.Delete(id - records + 1); err != nil {
					b.Fatal(err)
				}
				id++
				if err := p.Insert(newRecord(id)); err != nil {
					b.Fatal(err)
				}
				p.Settle()
			}
		})
	}
}

// BenchmarkFirstChange inserts a record into a table that has just been loaded, where
// classes are looked at for the first time and get their index.
func BenchmarkFirstChange(b *testing.B) {
	for _, records := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("records=%d/qi=6/k=10", records), func(b *testing.B) {
			const k = 10
			random := rand.New(rand.NewPCG(1, 1))
			attributes := make([]anonymizer.Attribute, 6)
			for a := range attributes {
				attributes[a] = workload.Attribute(fmt.Sprintf("a%d", a), hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
			}
			record := incremental.Record{Cells: make([]hierarchy.Cell, len(attributes))}
			for b.Loop() {
				b.StopTimer()
				p := incremental.New(attributes, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, partition.RoundedPartition{}, incremental.Options{})
				loading, err := p.BeginLoading(records)
				if err != nil {
					b.Fatal(err)
				}
				middle := make([]float64, len(attributes))
				members := make([]incremental.RecordID, 0, k)
				for i := range records {
					if i%k == 0 {
						for a := range middle {
							middle[a] = 1000 * random.Float64()
						}
					}
					for a := range record.Cells {
						record.Cells[a] = middle[a] + float64(random.IntN(100))
					}
					record.ID = incremental.RecordID(i + 1)
					if err := loading.Record(record); err != nil {
						b.Fatal(err)
					}
					if members = append(members, record.ID); len(members) == k {
						if err := loading.Assign(incremental.ClassID(i/k+1), members); err != nil {
							b.Fatal(err)
						}
						members = members[:0]
					}
				}
				if err := loading.End(); err != nil {
					b.Fatal(err)
				}
				record.ID = incremental.RecordID(records + 1)
				b.StartTimer()
				if err := p.Insert(record); err != nil {
					b.Fatal(err)
				}
				p.Settle()
			}
		})
	}
}

func benchmarkPartition(b *testing.B, records int, set privacy.ConstraintSet, persons bool) (*incremental.Partition, func(incremental.RecordID) incremental.Record) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	attributes := make([]anonymizer.Attribute, 8)
	for a := range attributes {
		attributes[a] = workload.Attribute(fmt.Sprintf("a%d", a), hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	}
	newRecord := func(id incremental.RecordID) incremental.Record {
		r := incremental.Record{ID: id, Sensitive: []uint32{uint32(random.IntN(10))}, Subject: uint32(random.IntN(records))}
		for range attributes {
			r.Cells = append(r.Cells, float64(random.IntN(1000)))
		}
		return r
	}
	p := incremental.New(attributes, set, partition.RoundedPartition{}, incremental.Options{Subjects: persons})
	for id := range incremental.RecordID(records) {
		if err := p.Insert(newRecord(id + 1)); err != nil {
			b.Fatal(err)
		}
	}
	p.Settle()
	return p, newRecord
}
