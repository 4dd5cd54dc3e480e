package nested_test

import (
	"context"
	"testing"
	"time"
	"fmt"
	"os"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func TestMeasure(t *testing.T) {
	var table *anonymizer.Table
	var err error
	if os.Getenv("DATA") == "uniform" {
		table = workload.Generate(1, workload.Shape{Records: 30000, Attributes: 6, Distinct: 100, Sensitive: 10}).Table()
	} else if table, err = anonymizertest.AdultWithTaxonomies("../../../../shared/data/adult"); err != nil {
		t.Skip(err)
	}
	effort, _ := anonymizer.ParseEffort(os.Getenv("EFFORT"))
	for seed := uint64(1); seed <= 2; seed++ {
		o := anonymizer.Options{Seed: seed}
		m := lookahead.Partition{Effort: effort}
		finer, _ := m.Anonymize(context.Background(), table, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, o)
		fmt.Printf("fine %.4f qe %.4f\n", metric.PublishedLoss(table, finer), metric.QueryError(table, finer, metric.Queries{Seed: 1}))
		for _, k := range []int{10, 25, 50, 100} {
			c := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
			alone, _ := m.Anonymize(context.Background(), table, c, o)
			at := time.Now()
			coarse, err := nested.Unite(context.Background(), table, finer, c, o)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(at)
			a, b := metric.PublishedLoss(table, alone), metric.PublishedLoss(table, coarse)
			qa, qb := metric.QueryError(table, alone, metric.Queries{Seed: 1}), metric.QueryError(table, coarse, metric.Queries{Seed: 1})
			fmt.Printf("k %d: alone %.4f nested %.4f ratio %.3f  queries %.4f %.4f ratio %.3f  %v\n", k, a, b, b/a, qa, qb, qb/qa, took)
		}
	}
}
