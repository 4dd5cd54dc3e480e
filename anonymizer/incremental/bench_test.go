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
