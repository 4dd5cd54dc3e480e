package partition

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
)

// partitioning is the state of one run: the records in an order in which each
// class is a range of places, columns alike.
type partitioning struct {
	k       int
	columns []rankedColumn
	records []int32 // index into the table of the record at each place
	depths  []uint8 // level of the cut in front of each place; 0 = none
	placed  *anonymizer.Tracker
}

// segment is a range of consecutive places.
type segment struct{ from, to int }

// newPartitioning shuffles the records, so that which of two equal records goes
// where does not follow from their order in the table.
func newPartitioning(t *anonymizer.Table, k int, o anonymizer.Options) *partitioning {
	n := t.Len()
	p := &partitioning{
		k:       k,
		records: make([]int32, n),
		depths:  make([]uint8, n+1),
		placed:  o.Track(n),
	}
	for i := range p.records {
		p.records[i] = int32(i)
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	random.Shuffle(n, func(i, j int) { p.records[i], p.records[j] = p.records[j], p.records[i] })

	positions := make([]float64, n)
	for a, attribute := range t.Attributes() {
		for i, r := range p.records {
			positions[i] = attribute.Hierarchy.Position(t.Cells(a)[r])
		}
		p.columns = append(p.columns, rankColumn(positions))
	}
	if len(p.columns) == 0 { // any cut is as good as another
		p.columns = []rankedColumn{rankColumn(make([]float64, n))}
	}
	return p
}

// whole is what all records together cover.
func (p *partitioning) whole() box {
	b := make(box, len(p.columns))
	for a := range b {
		b[a] = interval{0, int32(len(p.columns[a].axis)) - 1}
	}
	return b
}

// parallelFloor is the least number of records whose two halves are divided at
// the same time. The halves share nothing, so the result is the same.
const parallelFloor = 1 << 14

// divide cuts all records until no class has 2k of them.
func (p *partitioning) divide(ctx context.Context) {
	c, all := newCutter(p), segment{0, len(p.records)}
	if all.to < max(parallelFloor, 2*p.k) {
		c.divide(ctx, all, p.whole(), 1)
		return
	}
	parts := c.cut(all, p.whole(), 1)
	var half sync.WaitGroup
	half.Go(func() { newCutter(p).divide(ctx, parts[0].segment, parts[0].extent, 2) })
	c.divide(ctx, parts[1].segment, parts[1].extent, 2)
	half.Wait()
}

// part is a side of a cut.
type part struct {
	segment
	extent box
}

func (c *cutter) divide(ctx context.Context, s segment, whole box, depth uint8) {
	if s.to-s.from < 2*c.k {
		c.placed.Add(s.to - s.from)
		return
	}
	if ctx.Err() != nil {
		return
	}
	for _, side := range c.cut(s, whole, depth) {
		c.divide(ctx, side.segment, side.extent, depth+1)
	}
}

// cut divides a class of at least 2k records by its best cut and moves the
// records so that each part is a segment.
func (c *cutter) cut(s segment, whole box, depth uint8) [2]part {
	chosen := c.best(s, whole)
	c.try(s, whole, chosen)
	for a := range c.columns {
		c.separate(c.columns[a].ranks[s.from:s.to])
	}
	c.separate(c.records[s.from:s.to])
	middle := s.from + chosen.size
	c.depths[middle] = depth
	return [2]part{
		{segment{s.from, middle}, slices.Clone(c.left)},
		{segment{middle, s.to}, slices.Clone(c.right)},
	}
}

// separate moves the values of the left in front of those of the right and
// keeps the order among each. Every value is written to both ends and the wrong
// one is overwritten: nothing could predict a branch here.
func (c *cutter) separate(values []int32) {
	c.keys = slices.Grow(c.keys[:0], len(values))[:len(values)]
	left, right := 0, 0
	for i, v := range values {
		onRight := int(-c.side[i])
		values[left], c.keys[right] = v, v
		left += 1 - onRight
		right += onRight
	}
	copy(values[left:], c.keys[:right])
}
