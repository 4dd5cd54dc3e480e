// Package partition holds the methods that cut a table in two along an attribute,
// then each part, until classes are as small as the constraints allow:
// RoundedPartition and Mondrian. Blocks makes coarse parts by the same cuts for
// methods that do other work inside each.
//
// A partitioning keeps records so that a class is a range of places. What cuts a
// class depends on its size: cutter one of any size in all columns, presorted one
// of some hundred records in the order of each attribute, and subsets one of up
// to 64 records as a set of bits.
package partition

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// partitioning is the state of one run: the records in an order in which each
// class is a range of places, columns alike.
type partitioning struct {
	columns []rankedColumn
	records []int32 // index into the table of the record at each place
	// depths is the level of the cut in front of each place, 0 = none. Below two
	// records no class is cut, so 64 levels are beyond every table.
	depths []uint8
	placed *anonymizer.Tracker
}

// segment is a range of consecutive places.
type segment struct{ from, to int }

func (s segment) len() int { return s.to - s.from }

// newPartitioning shuffles the records: which of two equal records goes where
// does not follow from their order in the table, and as long as no cut changes
// the order within its parts the first records of a class are a random sample of
// it. The result is unfinished once the context has ended.
func newPartitioning(ctx context.Context, t *anonymizer.Table, o anonymizer.Options) *partitioning {
	n := t.Len()
	p := &partitioning{
		records: shuffled(ctx, n, o.Seed),
		depths:  make([]uint8, n+1),
		placed:  o.Track(n),
		columns: make([]rankedColumn, len(t.Attributes())),
	}
	cores.EachWith(len(p.columns), func() func(int) {
		scratch := make([]int32, n)
		return func(a int) { p.columns[a] = p.rank(ctx, t, a, scratch) }
	})
	if len(p.columns) == 0 { // any cut is as good as another
		p.columns = []rankedColumn{{ranks: make([]int32, n), axis: []float64{0}}}
	}
	return p
}

// rank ranks an attribute in the table's order, which memory is fast to read in,
// and then brings the ranks into the order of the records.
func (p *partitioning) rank(ctx context.Context, t *anonymizer.Table, attribute int, scratch []int32) rankedColumn {
	c := rankColumn(ctx, t.Cells(attribute), t.Attributes()[attribute].Hierarchy.Position, scratch)
	c.ranks = make([]int32, len(p.records))
	for place, r := range p.records {
		if place%contextStride == 0 && ctx.Err() != nil {
			break
		}
		c.ranks[place] = scratch[r]
	}
	return c
}

// segments lists the ranges of places between cuts, from the first on.
func (p *partitioning) segments() []segment {
	if len(p.records) == 0 {
		return nil
	}
	cuts := len(p.depths) - 1
	for _, depth := range p.depths {
		if depth == 0 {
			cuts--
		}
	}
	found := make([]segment, 0, cuts+2)
	from := 0
	for place := 1; place < len(p.records); place++ {
		if p.depths[place] != 0 {
			found = append(found, segment{from, place})
			from = place
		}
	}
	return slices.Clip(append(found, segment{from, len(p.records)}))
}

// SizeDecides reports whether nothing but a class's number of records decides
// whether it satisfies the constraints, so that no class need be summarized.
func SizeDecides(t *anonymizer.Table, c privacy.ConstraintSet) bool {
	for _, constraint := range c {
		if _, k := constraint.(privacy.KAnonymity); !k {
			return false
		}
	}
	return t.Subjects() == nil
}

// classes are the records of the segments, which share one array.
func (p *partitioning) classes(segments []segment) []anonymizer.EquivalenceClass {
	classes := make([]anonymizer.EquivalenceClass, len(segments))
	for i, s := range segments {
		classes[i] = p.records[s.from:s.to:s.to]
	}
	return classes
}
