package partition

import (
	"cmp"
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Mondrian is the multidimensional partition of LeFevre, DeWitt and
// Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006).
//
// A class is cut at the median of the attribute on which it is widest, as a
// share of the attribute's domain; if a part would violate the constraints, at
// that of the next widest one. A class that allows no cut is final. Strict
// partitioning sends all records equal to the median to the lower part: the
// median is the least value that at least half of the records, rounded down, do
// not exceed. Relaxed partitioning fills the parts up from the records on the
// median to n/2 records, rounded down, and the rest; a class of equal records is
// divided as well. For k alone its classes have k to 2k-1 records. The paper
// leaves open which records on the median go where; here the other attributes,
// the widest first, order them. On Adult's 30,162 records the information loss at
// k = 5, 10, 25, 50 is then 6.26, 9.78, 14.37, 20.28 %; it would be 13.81, 19.77,
// 26.55, 34.37 % for a random order.
//
// Parts are checked against the whole constraint set, so classes are not united
// afterwards. A table that as a whole violates it is withheld. Records off the
// scale are beyond all others on their attribute, and a class that mixes them
// with others has the full width. Time O(d n log n) for d attributes and the
// usual, roughly even cuts, memory O(d n).
type Mondrian struct {
	// Relaxed selects relaxed instead of strict partitioning.
	Relaxed bool
}

// Name is "mondrian-strict" or "mondrian-relaxed".
func (m Mondrian) Name() string {
	if m.Relaxed {
		return "mondrian-relaxed"
	}
	return "mondrian-strict"
}

// Accepts takes every constraint set and every kind of attribute.
func (Mondrian) Accepts([]anonymizer.Attribute, privacy.ConstraintSet) error { return nil }

// Anonymize implements Method.
func (m Mondrian) Anonymize(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) (*anonymizer.Release, error) {
	p := newPartitioning(ctx, t, o)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return &anonymizer.Release{}, nil
	}
	run := medianCuts{
		cutter: cutter{partitioning: p}, table: t, constraints: c,
		k: c.K(), sizeDecides: SizeDecides(t, c), relaxed: m.Relaxed,
	}
	if all := (segment{0, t.Len()}); !run.satisfied(all) {
		return &anonymizer.Release{Withheld: p.records}, nil
	}
	run.divide(ctx, segment{0, t.Len()}, 1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &anonymizer.Release{Classes: p.classes(p.segments())}, nil
}

// medianCuts divides classes. Each goroutine has its own.
type medianCuts struct {
	cutter
	table       *anonymizer.Table
	constraints privacy.ConstraintSet
	k           int
	sizeDecides bool
	relaxed     bool
	attributes  []ranked // of the class that is being cut, the widest first
	ties        []int    // the same
}

func (m *medianCuts) divide(ctx context.Context, s segment, depth int) {
	if ctx.Err() != nil {
		return
	}
	middle, found := m.cutWidest(ctx, s)
	if !found {
		m.placed.Add(s.len())
		return
	}
	m.depths[middle] = 1
	lower, upper := segment{s.from, middle}, segment{middle, s.to}
	if s.len() < parallelFloor || depth > bits.Len(uint(runtime.GOMAXPROCS(0)-1)) {
		m.divide(ctx, lower, depth+1)
		m.divide(ctx, upper, depth+1)
		return
	}
	other := *m
	other.cutter = cutter{partitioning: m.partitioning}
	other.attributes, other.ties = nil, nil
	var half sync.WaitGroup
	half.Go(func() { other.divide(ctx, lower, depth+1) })
	m.divide(ctx, upper, depth+1)
	half.Wait()
}

// cutWidest makes the first cut that is allowed, and tells where it is.
func (m *medianCuts) cutWidest(ctx context.Context, s segment) (middle int, found bool) {
	if s.len() < 2*m.k {
		return 0, false
	}
	m.order(s)
	ties := m.ties
	if !m.relaxed {
		ties = nil // all on the line are left
	}
	for _, r := range m.attributes {
		if r.width == constant && !m.relaxed {
			return 0, false
		}
		size := s.len() / 2
		if !m.relaxed {
			size = m.upToMedian(s, r.attribute)
		}
		if size < m.k || s.len()-size < m.k {
			continue
		}
		m.cut(ctx, s, cut{r.attribute, size}, ties)
		middle := s.from + size
		if m.satisfied(segment{s.from, middle}) && m.satisfied(segment{middle, s.to}) {
			return middle, true
		}
		if r.width == constant {
			return 0, false // further attributes are constant as well
		}
	}
	return 0, false
}

// constant stands for the width of an attribute that has one value. Two values
// can be so near that theirs is 0.
const constant = -1

// order puts all attributes in the order of their width on the class, falling.
func (m *medianCuts) order(s segment) {
	m.attributes, m.ties = m.attributes[:0], m.ties[:0]
	for a := range m.columns {
		c := &m.columns[a]
		ranks := c.ranks[s.from:s.to]
		low, high := ranks[0], ranks[0]
		for _, r := range ranks {
			low, high = min(low, r), max(high, r)
		}
		width := c.width(low, high)
		if low == high {
			width = constant
		}
		m.attributes = append(m.attributes, ranked{a, width})
	}
	slices.SortStableFunc(m.attributes, func(x, y ranked) int { return cmp.Compare(y.width, x.width) })
	for _, r := range m.attributes {
		m.ties = append(m.ties, r.attribute)
	}
}

// upToMedian is the number of records that do not exceed the median.
func (m *medianCuts) upToMedian(s segment, attribute int) int {
	column := &m.columns[attribute]
	ranks := column.ranks[s.from:s.to]
	median, _ := m.selectRank(ranks, s.len()/2-1, len(column.axis))
	size := 0
	for _, r := range ranks {
		size += 1 - int(above(r, median))
	}
	return size
}

func (m *medianCuts) satisfied(s segment) bool {
	if m.sizeDecides {
		return s.len() >= m.k
	}
	return m.constraints.Satisfied(m.table.Summarize(m.records[s.from:s.to]), m.table.Population())
}
