package metric

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// scale is an axis on which queries ask for runs of values: places are the positions of
// numbers and dates, and the ranks of the others.
type scale struct {
	*axis
	hierarchy hierarchy.Hierarchy
	measured  bool      // positions, not ranks
	places    []float64 // of each rank on the scale
	unit      float64   // how wide a single place is: 1 where places are whole numbers, else 0
	until     []int     // how many records have a rank up to each one, of ranges
}

func newScale(t *anonymizer.Table, a int) *scale {
	attribute, cells := t.Attributes()[a], t.Cells(a)
	kind := attribute.Hierarchy.Kind()
	s := &scale{
		axis: newAxis(attribute, cells, cells, false), hierarchy: attribute.Hierarchy,
		measured: kind == hierarchy.Numeric || kind == hierarchy.Date,
	}
	on := s.values
	if s.off >= 0 {
		on--
	}
	counts, first := make([]int, on), make([]int32, on)
	for i, rank := range s.ranks {
		if rank != s.off {
			counts[rank]++
			first[rank] = int32(i)
		}
	}
	s.places, s.unit = make([]float64, on), 1
	for rank, i := range first {
		s.places[rank] = float64(rank)
		if s.measured {
			s.places[rank] = attribute.Hierarchy.Position(cells[i])
		}
		if s.places[rank] != math.Trunc(s.places[rank]) {
			s.unit = 0
		}
	}
	if ranges(kind) && on > 0 {
		s.until = counts
		for rank := range s.until[1:] {
			s.until[rank+1] += s.until[rank]
		}
	}
	return s
}

// about is a run of ranks that holds the record's, which is on the scale: a range of about
// such a share of the records, or one of the nodes above the value, or it alone.
func (s *scale) about(random *rand.Rand, record int32, share float64) span {
	rank := s.ranks[record]
	if s.until == nil {
		return s.node(s.cells[record], random.IntN(s.ladder.depth(s.cells[record])))
	}
	all := s.until[len(s.until)-1]
	width := min(all, max(1, int(math.Round(share*float64(all)))))
	before := 0
	if rank > 0 {
		before = s.until[rank-1]
	}
	at := before + random.IntN(s.until[rank]-before)
	from := max(0, min(all-width, at-random.IntN(width)))
	return span{s.rankOf(from), s.rankOf(from + width - 1)}
}

// rankOf is the rank of the record that is at the place among the sorted ones.
func (s *scale) rankOf(sorted int) int32 {
	rank, _ := slices.BinarySearch(s.until, sorted+1)
	return int32(rank)
}

// place is a run of ranks on the scale.
func (s *scale) place(of span) interval {
	if !s.measured {
		return interval{float64(of.low), float64(of.high)}
	}
	last := int32(len(s.places) - 1) // beyond it are NULLs
	return interval{s.places[min(of.low, last)], s.places[min(of.high, last)]}
}

// coveredBy is what is published of each class.
func (s *scale) coveredBy(r *anonymizer.Release) []interval {
	covered := make([]interval, len(r.Classes))
	var members []hierarchy.Cell
	for e, class := range r.Classes {
		if !slices.ContainsFunc(class, func(i int32) bool { return s.ranks[i] != s.off }) {
			covered[e] = nowhere
			continue
		}
		if !s.measured {
			covered[e] = s.place(s.below(class))
			continue
		}
		members = members[:0]
		for _, i := range class {
			members = append(members, s.cells[i])
		}
		covered[e] = s.read(s.hierarchy.Generalize(members), s.place(s.cover(class)))
	}
	return covered
}

// rounding is what a published bound is off a value, by the width of the column, if it is
// written with fewer digits.
const rounding = 1e-9

// read is a published interval on the scale. Its ends are those of what the class covers
// but for fixed intervals.
func (s *scale) read(g hierarchy.Generalization, covered interval) interval {
	all := interval{s.places[0], s.places[len(s.places)-1]}
	if g.Hidden {
		return all
	}
	end := func(text string, own float64) float64 {
		at := s.hierarchy.Position(s.hierarchy.Encode(text))
		if math.Abs(at-own) <= rounding*(all.high-all.low) {
			return own
		}
		return at
	}
	return interval{end(g.Lower, covered.low), end(g.Upper, covered.high)}
}

// below is the range of the class, or its lowest common node: the one above a value that is
// shortened even where it stands alone.
func (s *scale) below(class anonymizer.EquivalenceClass) span {
	if s.until != nil {
		return s.cover(class)
	}
	c := s.cells[class[0]]
	level := s.ladder.depth(c) - s.ladder.common(s.cells, class)
	if level == 0 && s.ladder.Height() > 1 && s.ladder.Label(c, 0) == s.ladder.Label(c, 1) {
		level = 1
	}
	return s.node(c, level)
}

// interval is a closed run of places.
type interval struct{ low, high float64 }

// nowhere meets nothing.
var nowhere = interval{math.Inf(1), math.Inf(-1)}

// meets is 1 for an interval that has a place in common and 0 for another.
func (s interval) meets(o interval) int {
	var meet int
	if min(s.high, o.high) >= max(s.low, o.low) {
		meet = 1
	}
	return meet
}

// share is the part of the interval that lies in one that it meets.
func (s interval) share(in interval, unit float64) float64 {
	if in.low <= s.low && s.high <= in.high {
		return 1
	}
	return (min(s.high, in.high) - max(s.low, in.low) + unit) / (s.high - s.low + unit)
}
