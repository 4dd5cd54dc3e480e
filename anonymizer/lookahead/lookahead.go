// Package lookahead holds the partition that cuts classes by what is going to be published of the
// classes that they are cut into.
package lookahead

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Partition divides a table by cuts along one attribute, as RoundedPartition and Mondrian do. It
// differs in three ways:
//
//   - The loss is that of what is published (metric.PublishedLoss): of categories the share of
//     leaves below the common node, not the distance on an axis.
//   - A large class is cut where the classes to come are expected to lose least. What a
//     cut does to the whole of a part says little while the part is to be cut again; what it
//     does to k records that are drawn from the part tells more. The expectation follows from
//     the frequencies of the values alone.
//   - Cuts lie between values, so that records alike in an attribute stay together. Along
//     ranges, they are moved by a few records where the parts make one class more then.
//     Only classes below four times the least size are cut elsewhere as well, at multiples of
//     that size; there, the loss of the parts is measured, and divided by the root of
//     the classes that they make.
//
// Classes have k to 2k-1 records, more where nothing else satisfies the constraints. Constraints
// beyond the size, and those over persons, restrict the cuts; a class which no cut divides
// into parts that satisfy them is given to RoundedPartition, which exchanges records.
//
// Of tables of up to 4,096 records, RoundedPartition, Hilbert and Classfly make classes as well; those
// that lose least are taken. With more effort this is done for all tables, up to 131,072 records also with classes of records
// that are recoded in rounds (rounds.go), with the most for all tables, and with BottomUp up to 4,096 records; and classes are improved: records move between classes, are exchanged,
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
	d := newDivision(ctx, t, c, p.Effort, o)
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
	classes := d.improve(ctx, d.best(ctx, d.classes()))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &anonymizer.Release{Classes: classes}, nil
}
