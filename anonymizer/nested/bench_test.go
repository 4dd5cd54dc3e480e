package nested_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkUnite unites the classes of k = 5 to groups of larger k.
func BenchmarkUnite(b *testing.B) {
	for name, make := range map[string]func() (*anonymizer.Table, error){
		"adult": func() (*anonymizer.Table, error) {
			return anonymizertest.AdultWithTaxonomies("../../../shared/data/adult")
		},
		"rows=30000":   func() (*anonymizer.Table, error) { return uniform(30_000), nil },
		"rows=1000000": func() (*anonymizer.Table, error) { return uniform(1_000_000), nil },
	} {
		b.Run(name, func(b *testing.B) {
			table, err := make()
			if err != nil {
				b.Skip(err)
			}
			finer, err := lookahead.Partition{}.Anonymize(context.Background(), table, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, anonymizer.Options{Seed: 5})
			if err != nil {
				b.Fatal(err)
			}
			for _, k := range []int{10, 25, 100} {
				b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { unite(b, table, finer, k) })
			}
		})
	}
}

func uniform(records int) *anonymizer.Table {
	return workload.Generate(1, workload.Shape{Records: records, Attributes: 6, Distinct: 100, Sensitive: 10}).Table()
}

func unite(b *testing.B, table *anonymizer.Table, finer *anonymizer.Release, k int) {
	var coarser *anonymizer.Release
	for b.Loop() {
		var err error
		coarser, err = nested.Unite(context.Background(), table, finer, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, anonymizer.Options{Seed: 5})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*metric.PublishedLoss(table, coarser), "loss-%")
}

// BenchmarkStricter unites classes under constraints that the finer release does not have.
func BenchmarkStricter(b *testing.B) {
	table, finer := adult(b)
	for _, c := range []privacy.Constraint{
		privacy.DistinctDiversity{L: 2, Name: "salary"}, privacy.EntropyDiversity{L: 1.5, Name: "salary"}, privacy.AlphaBound{Alpha: 0.8, Name: "salary"},
	} {
		set := privacy.ConstraintSet{privacy.KAnonymity{K: 25}, c}
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			for b.Loop() {
				coarser, err := nested.Unite(context.Background(), table, finer, set, anonymizer.Options{Seed: 5})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(100*metric.PublishedLoss(table, coarser), "loss-%")
				b.ReportMetric(100*metric.PublishedLoss(table, alone(b, table, set)), "alone-%")
			}
		})
	}
}

// BenchmarkRefine is the alternative: the coarser release first, whose classes are divided.
func BenchmarkRefine(b *testing.B) {
	table, _ := adult(b)
	for _, k := range []int{10, 25, 100} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				coarser := alone(b, table, privacy.ConstraintSet{privacy.KAnonymity{K: k}})
				finer := &anonymizer.Release{}
				for _, class := range coarser.Classes {
					for _, part := range alone(b, table.Pick(class), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}).Classes {
						for i, r := range part {
							part[i] = class[r]
						}
						finer.Classes = append(finer.Classes, part)
					}
				}
				b.ReportMetric(100*metric.PublishedLoss(table, coarser), "coarse-%")
				b.ReportMetric(100*metric.PublishedLoss(table, finer), "fine-%")
			}
		})
	}
}

func adult(b *testing.B) (*anonymizer.Table, *anonymizer.Release) {
	table, err := anonymizertest.AdultWithTaxonomies("../../../shared/data/adult")
	if err != nil {
		b.Skip(err)
	}
	return table, alone(b, table, privacy.ConstraintSet{privacy.KAnonymity{K: 5}})
}

func alone(b *testing.B, table *anonymizer.Table, c privacy.ConstraintSet) *anonymizer.Release {
	r, err := lookahead.Partition{}.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: 5})
	if err != nil {
		b.Fatal(err)
	}
	return r
}
