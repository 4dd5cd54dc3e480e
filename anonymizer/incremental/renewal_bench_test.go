package incremental_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkRenewal tells what a renewal costs whoever applies changes (begin; adopt,
// which is to finish it and to settle), what it costs in the background (run), and
// what a look at the loss costs.
func BenchmarkRenewal(b *testing.B) {
	for _, records := range []int{10_000, 100_000, 1_000_000} {
		table := workload.AdultLike(1, records)
		p := incremental.New(table.Attributes(), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, partition.RoundedPartition{}, incremental.Options{})
		for i := range records {
			r := incremental.Record{ID: incremental.RecordID(i)}
			for a := range table.Attributes() {
				r.Cells = append(r.Cells, table.Cells(a)[i])
			}
			if err := p.Insert(r); err != nil {
				b.Fatal(err)
			}
		}
		p.Settle()
		size := fmt.Sprintf("records=%d", records)
		b.Run("loss/"+size, func(b *testing.B) {
			for b.Loop() {
				p.Loss()
			}
		})
		b.Run("begin/"+size, func(b *testing.B) {
			for b.Loop() {
				p.BeginRenewal()
			}
		})
		b.Run("run/"+size, func(b *testing.B) {
			r := p.BeginRenewal()
			for b.Loop() {
				if err := r.Run(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("adopt/"+size, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := p.BeginRenewal()
				err := r.Run(b.Context(), nil)
				b.StartTimer()
				if err = errors.Join(err, p.FinishRenewal(r)); err != nil {
					b.Fatal(err)
				}
				p.Settle()
			}
		})
	}
}
