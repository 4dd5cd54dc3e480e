// Package lookahead holds the partition that cuts classes by what is going to be published of the
// classes that they are cut into.
package lookahead

import (
	"context"
	"math/rand/v2"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/loss"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Partition divides a table by cuts along one attribute, as RoundedPartition and Mondrian do. It
// differs in three ways:
//
//   - The loss is that of what is published (metric.PublishedLoss): of categories the share of
//     leaves below the common node, not the distance on an axis.
//   - A large class is cut where the classes to come are expected to lose least. What a
//     cut does to the whole of a part says little while the part is to be cut again; what it
//     does to a class-sized number of records that are drawn from the part tells more. The
//     expectation follows from the frequencies of the values alone.
//   - Cuts lie between values, so that records alike in an attribute stay together. Only
//     classes below four times the least size are cut elsewhere as well, at
//     multiples of that size; there, the loss is exact.
//
// Classes have k to 2k-1 records, more where nothing else satisfies the constraints. Constraints
// beyond the size, and those over persons, restrict the cuts; a class which no cut divides
// into parts that satisfy them is given to RoundedPartition, which exchanges records.
//
// With more effort, classes are improved: records move between classes, are exchanged,
// and classes are taken apart or divided, wherever less is lost then. With the most, several cuts
// of a class are followed to the end before one is made.
//
// Above 512 records, a random sample of as many decides. Time O(d^2 n log n) for d attributes, memory
// O(d n).
type Partition struct {
	Effort anonymizer.Effort
}

// Name is "lookahead-partition".
func (Partition) Name() string { return "lookahead-partition" }

// Accepts takes every constraint set and every kind of attribute.
func (Partition) Accepts([]anonymizer.Attribute, privacy.ConstraintSet) error { return nil }

// Anonymize implements Method.
func (p Partition) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	d := newDivision(ctx, t, c, o)
	d.effort = p.Effort
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case t.Len() == 0:
		return &anonymizer.Release{}, nil
	case !d.satisfied(d.records):
		return anonymizer.WithholdAll(t), nil
	}
	newCutter(d).divide(ctx, 0, d.records)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	classes := d.improve(ctx, d.classes())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &anonymizer.Release{Classes: classes}, nil
}

// division is the state of a run. Classes are neighbors in records.
type division struct {
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	options     anonymizer.Options
	effort      anonymizer.Effort
	sizeDecides bool
	k           int
	scales      []loss.Scale
	rows        []int32 // ranks by record and attribute
	records     []int32
	ends        []bool // of each place, whether a class begins there
	placed      *anonymizer.Tracker
}

// newDivision shuffles the records, so that the first ones of every class are a random sample:
// cuts keep the order.
func newDivision(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) *division {
	d := &division{table: t, constraints: c, options: o, k: max(1, c.K()), records: make([]int32, t.Len()), ends: make([]bool, t.Len()+1), placed: o.Track(t.Len())}
	d.sizeDecides = t.Subjects() == nil
	for _, one := range c {
		if _, k := one.(privacy.KAnonymity); !k {
			d.sizeDecides = false
		}
	}
	d.scales, d.rows = loss.Scales(ctx, t)
	for i, place := range rand.New(rand.NewPCG(o.Seed, 0)).Perm(t.Len()) {
		d.records[i] = int32(place)
	}
	return d
}

func (d *division) row(record int32) []int32 {
	n := len(d.scales)
	return d.rows[int(record)*n : int(record)*n+n]
}

func (d *division) satisfied(records []int32) bool {
	if d.sizeDecides {
		return len(records) >= d.k
	}
	return d.constraints.Satisfied(d.table.Summarize(records), d.table.Population())
}

// end makes a class of the records from a place on. Where the constraints are more than a size, and
// so no cut was found, RoundedPartition divides it if it can.
func (d *division) end(ctx context.Context, from int, records []int32) {
	d.ends[from] = true
	d.placed.Add(len(records))
	if d.sizeDecides || len(records) < 2*d.k {
		return
	}
	r, err := partition.RoundedPartition{}.Anonymize(ctx, d.table.Pick(records).ComparedWith(d.table.Population()), d.constraints, anonymizer.Options{Seed: d.options.Seed})
	if err != nil || len(r.Withheld) > 0 {
		return // the context's, or there are no other classes
	}
	divided := make([]int32, 0, len(records))
	for _, class := range r.Classes {
		d.ends[from+len(divided)] = true
		for _, i := range class {
			divided = append(divided, records[i])
		}
	}
	copy(records, divided)
}

func (d *division) classes() []anonymizer.EquivalenceClass {
	var classes []anonymizer.EquivalenceClass
	from := 0
	for place := 1; place <= len(d.records); place++ {
		if place == len(d.records) || d.ends[place] {
			classes = append(classes, d.records[from:place:place])
			from = place
		}
	}
	return classes
}
