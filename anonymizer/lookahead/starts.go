package lookahead

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/agglomerative"
	"github.com/kproxy/kproxy/anonymizer/hilbert"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/recoding"
)

const (
	// mostStarts is how many records a table has at most for which other methods are tried with
	// little effort, and bottom-up with the most, which takes the square of them.
	mostStarts = 1 << 12
	// leastStarts is how many times the least size such a table has at least. The cuts of
	// a smaller one are measured as they are.
	leastStarts = 8
	// mostRounds is how many records a table has at most that is recoded in rounds with effort good.
	mostRounds = 1 << 17
)

// bounds of what a record loses that leaves a round, by the loss of the cuts.
var (
	goodBounds = []float64{2}
	bestBounds = []float64{1.5, 2, 3}
)

// tries says whether other methods are tried beside the cuts.
func (d *division) tries() bool {
	n := d.table.Len()
	return n >= leastStarts*d.k && (n <= mostStarts || d.effort != anonymizer.Fast)
}

// others are the methods that are tried beside the cuts, which lose so much: those that lost less on some tables.
func (d *division) others(loss float64) []anonymizer.Method {
	n := d.table.Len()
	others := []anonymizer.Method{partition.RoundedPartition{}, hilbert.Hilbert{}, recoding.Classfly{}}
	switch {
	case d.effort == anonymizer.Best:
		others = append(others, roundsOf(bestBounds, loss)...)
	case d.effort == anonymizer.Good && n <= mostRounds:
		others = append(others, roundsOf(goodBounds, loss)...)
	}
	if d.effort == anonymizer.Best && n <= mostStarts {
		others = append(others, agglomerative.BottomUp{})
	}
	return others
}

func roundsOf(bounds []float64, loss float64) (methods []anonymizer.Method) {
	for _, bound := range bounds {
		methods = append(methods, rounds{min(1, bound*loss)})
	}
	return methods
}

// best are the classes that lose least: those of the cuts, or those of another method, cut further
// where they are large.
func (d *division) best(ctx context.Context, classes []anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	if !d.tries() {
		return classes
	}
	least := d.lossOf(classes)
	others := d.others(least)
	found := make([][]anonymizer.EquivalenceClass, len(others))
	cores.Each(len(others), func(i int) {
		if others[i].Accepts(d.table.Attributes(), d.constraints) != nil {
			return
		}
		r, err := others[i].Anonymize(ctx, d.table, d.constraints, anonymizer.Options{Seed: d.options.Seed})
		if err != nil {
			return
		}
		if classes, all := d.withWithheld(r); all {
			found[i] = d.cutFurther(ctx, classes)
		}
	})
	for _, other := range found {
		if other == nil {
			continue
		}
		if loss := d.lossOf(other); loss < least {
			least, classes = loss, other
		}
	}
	return classes
}

// withWithheld are the classes of a release with one more of the records that it withholds. Where this
// would not satisfy the constraints, they join the smallest class, if that does then.
func (d *division) withWithheld(r *anonymizer.Release) (classes []anonymizer.EquivalenceClass, all bool) {
	switch {
	case len(r.Withheld) == 0:
		return r.Classes, true
	case d.satisfied(r.Withheld):
		return append(r.Classes, r.Withheld), true
	case len(r.Classes) == 0:
		return nil, false
	}
	least := 0
	for i, class := range r.Classes {
		if len(class) < len(r.Classes[least]) {
			least = i
		}
	}
	joined := slices.Concat(r.Classes[least], r.Withheld)
	r.Classes[least] = joined
	return r.Classes, d.satisfied(joined)
}

// cutFurther divides classes that hold all records.
func (d *division) cutFurther(ctx context.Context, classes []anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	own := *d
	own.records, own.begins = make([]int32, 0, len(d.records)), make([]bool, len(d.begins))
	own.placed = anonymizer.Options{}.Track(len(d.records))
	for _, class := range classes {
		from := len(own.records)
		own.records = append(own.records, class...)
		newCutter(&own).divide(ctx, from, own.records[from:])
	}
	return own.classes()
}

func (d *division) lossOf(classes []anonymizer.EquivalenceClass) float64 {
	return metric.PublishedLoss(d.table, &anonymizer.Release{Classes: classes})
}
