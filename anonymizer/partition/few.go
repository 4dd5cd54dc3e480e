package partition

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
)

// small is the state of a run over at most presortedSize records. A maintained release divides a
// few records very often, so the memory of a run, and goroutines to rank the attributes, would cost
// more than the cuts.
type small struct {
	partitioning
	rounder *rounder
	ranks   []int32   // attribute, place
	axes    []float64 // attribute, rank
	keyed   [presortedSize]keyedPosition
	byTable [presortedSize]int32 // ranks in the table's order
}

// keyedPosition is the position of a record of the table.
type keyedPosition struct {
	position float64
	record   int32
}

var smalls = sync.Pool{New: func() any { return new(small) }}

// roundFew divides at most presortedSize records, of which there is one at least, as
// newPartitioning and round do. The classes are in memory of their own.
func roundFew(ctx context.Context, t *anonymizer.Table, k int, o anonymizer.Options) []anonymizer.EquivalenceClass {
	s := smalls.Get().(*small)
	defer smalls.Put(s)
	n := t.Len()
	s.records = shuffled(ctx, n, o.Seed)
	s.depths = slices.Grow(s.depths[:0], n+1)[:n+1]
	clear(s.depths)
	s.placed = o.Track(n)
	s.rank(t)
	if s.rounder == nil || len(s.rounder.all) != len(s.columns) {
		s.rounder = newRounder(&s.partitioning, k)
	}
	s.rounder.k = k
	s.rounder.divide(ctx, segment{0, n}, 1)
	classes := s.classes(s.segments())
	s.records, s.placed = nil, nil
	return classes
}

// rank ranks all attributes: rankColumn by sorting.
func (s *small) rank(t *anonymizer.Table) {
	n, attributes := t.Len(), len(t.Attributes())
	s.columns = slices.Grow(s.columns[:0], max(1, attributes))[:max(1, attributes)]
	s.ranks = slices.Grow(s.ranks[:0], len(s.columns)*n)[:len(s.columns)*n]
	s.axes = slices.Grow(s.axes[:0], len(s.columns)*(n+1))[:len(s.columns)*(n+1)]
	if attributes == 0 { // any cut is as good as another
		clear(s.ranks)
		s.columns[0] = rankedColumn{ranks: s.ranks, axis: append(s.axes[:0], 0)}
	}
	for a, attribute := range t.Attributes() {
		ranks, axis := s.ranks[a*n:(a+1)*n], s.axes[a*(n+1):a*(n+1):(a+1)*(n+1)]
		keyed := s.keyed[:n]
		for i, c := range t.Cells(a) {
			keyed[i] = keyedPosition{attribute.Hierarchy.Position(c), int32(i)}
		}
		// NaN, which cmp.Compare puts first, comes last.
		slices.SortFunc(keyed, func(x, y keyedPosition) int { return cmp.Compare(-y.position, -x.position) })
		missing := false
		for _, of := range keyed {
			if math.IsNaN(of.position) {
				s.byTable[of.record], missing = int32(len(axis)), true
				continue
			}
			if last := len(axis) - 1; last < 0 || axis[last] != of.position {
				axis = append(axis, of.position)
			}
			s.byTable[of.record] = int32(len(axis) - 1)
		}
		for place, r := range s.records {
			ranks[place] = s.byTable[r]
		}
		s.columns[a] = rankedColumn{ranks: ranks, axis: axis}
		s.columns[a].scale(missing)
	}
}
