package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// shownLoss is what the rows of a release lose on average, of each attribute, in percent.
type shownLoss struct {
	labels map[incremental.ClassID][]hierarchy.Generalization
	rows   map[incremental.ClassID]int
}

func newShownLoss() *shownLoss {
	return &shownLoss{map[incremental.ClassID][]hierarchy.Generalization{}, map[incremental.ClassID]int{}}
}

func (s *shownLoss) percent(attributes []anonymizer.Attribute) float64 {
	sum, rows := 0.0, 0
	for a, attribute := range attributes {
		var labels []hierarchy.Generalization
		var sizes []int
		for class, n := range s.rows {
			if n > 0 {
				labels, sizes = append(labels, s.labels[class][a]), append(sizes, n)
			}
		}
		spans := hierarchy.SpansOf(attribute.Hierarchy, labels)
		for i, of := range spans.Of {
			if rows += sizes[i]; of.Hidden {
				sum += float64(sizes[i])
			} else {
				sum += float64(sizes[i]) * spans.Share(of.Least, of.Greatest)
			}
		}
	}
	return 100 * sum / float64(rows)
}

// BenchmarkCoarserLoss compares what a coarser release that follows a lineage loses with what a lineage of the same k
// does that is made alone: of the first batch, and after a tenth of the people has left and come, in steps.
func BenchmarkCoarserLoss(b *testing.B) {
	for _, name := range []string{"rounded-partition", "lookahead-partition"} {
		for _, k := range []int{10, 25, 50, 100} {
			b.Run(fmt.Sprintf("%s/k=%d", name, k), func(b *testing.B) {
				for b.Loop() {
					benchmarkCoarserLoss(b, name, k)
				}
			})
		}
	}
}

func benchmarkCoarserLoss(b *testing.B, name string, k int) {
	const people, crowd = 20_000, 2
	method, err := methods.Named(name)
	must(b, err)
	table := workload.AdultLike(3, 2*people)
	options := lineage.Options{Seed: 5, Crowd: crowd, Batch: 1000}
	of := func(k int) *lineage.Lineage {
		l, err := lineage.New(table.Attributes(), privacy.ConstraintSet{privacy.KAnonymity{K: k}}, method, options)
		must(b, err)
		return l
	}
	fine, alone := of(5), of(k)
	coarser, err := fine.AddCoarser(privacy.ConstraintSet{privacy.KAnonymity{K: k}})
	must(b, err)
	united, single := newShownLoss(), newShownLoss()
	now := time.Unix(0, 0)
	publish := func() {
		_, err := fine.Publish(b.Context(), now)
		must(b, err)
		c := coarser.Changes()
		for class, labels := range c.Classes {
			united.labels[class] = labels
		}
		for _, r := range c.Rows {
			united.rows[r.Class]++
		}
		for _, class := range c.GoneFrom {
			united.rows[class]--
		}
		changes, err := alone.Publish(b.Context(), now)
		must(b, err)
		for class, labels := range changes.Classes {
			single.labels[class] = labels
		}
		for _, r := range changes.Rows {
			single.rows[r.Class]++
		}
		for _, class := range changes.GoneFrom {
			single.rows[class]--
		}
	}
	insert := func(i int) {
		r := lineage.Record{Record: incremental.Record{ID: incremental.RecordID(i + 1)}}
		for a := range table.Attributes() {
			r.Cells = append(r.Cells, table.Cells(a)[i])
		}
		must(b, fine.Insert(r, now))
		must(b, alone.Insert(r, now))
	}
	for i := range people {
		insert(i)
	}
	publish()
	first := united.percent(table.Attributes()) / single.percent(table.Attributes())
	b.ReportMetric(united.percent(table.Attributes()), "loss-%")
	b.ReportMetric(single.percent(table.Attributes()), "alone-%")
	random := rand.New(rand.NewPCG(1, 2))
	for step, left := range random.Perm(people)[:people/10] {
		must(b, fine.Delete(incremental.RecordID(left+1)))
		must(b, alone.Delete(incremental.RecordID(left+1)))
		insert(people + step)
		if step%100 == 99 {
			now = now.Add(time.Hour)
			publish()
		}
	}
	b.ReportMetric(first, "ratio-first")
	b.ReportMetric(united.percent(table.Attributes())/single.percent(table.Attributes()), "ratio-later")
}
