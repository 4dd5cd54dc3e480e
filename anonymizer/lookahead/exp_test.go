package lookahead

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func adultTax(t testing.TB) *anonymizer.Table {
	flat, err := anonymizertest.Adult("../../../shared/data/adult")
	if err != nil {
		t.Skip(err)
	}
	var attrs []anonymizer.Attribute
	var cells [][]hierarchy.Cell
	for a, at := range flat.Attributes() {
		f, err := os.Open(filepath.Join("../../../shared/data/adult/hierarchies", at.Name+".csv"))
		if err != nil || at.Hierarchy.Kind() == hierarchy.Numeric {
			attrs, cells = append(attrs, at), append(cells, flat.Cells(a))
			continue
		}
		nodes, err := hierarchy.ReadTaxonomy(f)
		if err != nil {
			t.Fatal(err)
		}
		n := workload.Attribute(at.Name, hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: nodes})
		col := make([]hierarchy.Cell, flat.Len())
		for i, c := range flat.Cells(a) {
			col[i] = n.Hierarchy.Encode(at.Hierarchy.Generalize([]hierarchy.Cell{c}).Value)
		}
		attrs, cells = append(attrs, n), append(cells, col)
	}
	tb, err := anonymizer.NewTable(attrs, cells, [][]uint32{flat.Sensitive(0)})
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

func TestExp(t *testing.T) {
	tb := adultTax(t)
	for _, k := range []int{5, 10, 25, 50} {
		for seed := range uint64(3) {
			began := time.Now()
			from := cpu()
			r, err := Partition{}.Anonymize(context.Background(), tb, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, anonymizer.Options{Seed: seed/3, Effort: anonymizer.Effort(seed)})
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			fmt.Printf("= k=%-3d %6.2f %% gcp %6.2f %%  %d classes %v cpu %v\n", k, 100*metric.PublishedLoss(tb, r), 100*metric.GCP(tb, r), len(r.Classes), took.Round(time.Millisecond), (cpu()-from).Round(time.Millisecond))
		}
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkAdult(b *testing.B) {
	tb := adultTax(b)
	for _, k := range []int{5, 50} {
		b.Run(fmt.Sprint("k=", k), func(b *testing.B) {
			from, n := cpu(), 0
			for b.Loop() {
				n++
				_, _ = Partition{}.Anonymize(context.Background(), tb, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, anonymizer.Options{})
			}
			b.ReportMetric(float64((cpu()-from).Milliseconds())/float64(n), "cpu-ms/op")
		})
	}
}
