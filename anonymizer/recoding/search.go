package recoding

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// search is the way of a Lattice through the vectors of levels.
type search struct {
	run     *run
	allowed int
	most    int     // vectors of the whole lattice
	share   float64 // of them, for the subsets of a size
	first   []uint8 // Datafly's vector

	base      *tuples // at the levels low
	monotone  demands // what holds above wherever it holds
	low, high []uint8 // the vectors searched are those between, inclusive
	shares    [][][]float64
	losses    [][]float64 // attribute, level: mean share over all records
}

// prepare climbs all ladders to the top.
func (s *search) prepare(ctx context.Context) error {
	s.base, s.monotone = s.run.tuples, s.run.demands
	if s.allowed > 0 || s.run.table.Subjects() != nil {
		s.monotone.whole, s.monotone.least = nil, 1
		for _, k := range s.monotone.counted {
			if k.Over == nil {
				s.monotone.least = max(s.monotone.least, k.K)
			}
		}
	}
	if len(s.run.demands.whole) > 0 && s.run.table.Subjects() == nil {
		var err error
		if s.base.strata, err = newStrata(ctx, s.run.table, s.base); err != nil {
			return err
		}
	}
	n := float64(s.base.records())
	for a, l := range s.base.ladders {
		weights := make([]float64, l.size(0))
		for tuple, node := range s.base.nodes[a] {
			weights[node] += float64(s.base.counts[tuple])
		}
		var shares [][]float64
		var losses []float64
		for level := 0; ; level++ {
			share, sum := make([]float64, len(weights)), 0.0
			for node, c := range l.cells[level] {
				share[node] = l.levels.Share(c, level)
				sum += share[node] * weights[node]
			}
			shares, losses = append(shares, share), append(losses, sum/n)
			if level == l.height() {
				break
			}
			up, err := l.climb(ctx, uint8(level), s.base.numbering)
			if err != nil {
				return err
			}
			above := make([]float64, l.size(uint8(level+1)))
			for node, weight := range weights {
				above[up[node]] += weight
			}
			weights = above
		}
		s.shares, s.losses = append(s.shares, shares), append(s.losses, losses)
		s.low, s.high = append(s.low, 0), append(s.high, uint8(l.height()))
	}
	return nil
}

// confine narrows what is searched: from below to the levels at which each
// attribute satisfies alone, from above only where there are too many vectors.
// False: nothing satisfies.
func (s *search) confine(ctx context.Context) (bool, error) {
	for a := range s.low {
		for {
			v, err := s.base.view(ctx, []int{a}, s.low[a:a+1], false)
			if err != nil {
				return false, err
			}
			ok, err := s.satisfies(ctx, v, []int{a})
			if err != nil {
				return false, err
			}
			if ok {
				break
			}
			if s.low[a] == s.high[a] {
				return false, nil
			}
			s.low[a]++
		}
	}
	path, err := s.datafly(ctx)
	if err != nil || path == nil {
		return false, err
	}
	s.first = path[len(path)-1]
	if s.box(upTo(len(s.low))).size > s.most {
		s.follow(path)
	}
	return true, s.raiseBase(ctx)
}

// raiseBase brings the tuples to the lowest levels that are searched.
func (s *search) raiseBase(ctx context.Context) (err error) {
	s.base, err = s.base.view(ctx, upTo(len(s.low)), s.low, true)
	return err
}

// datafly gives the vectors that Datafly comes by, of which the last one
// satisfies; nil where none does.
func (s *search) datafly(ctx context.Context) ([][]uint8, error) {
	scout := *s.run
	scout.placed = anonymizer.Options{}.Track(0) // tells nobody
	var err error
	if scout.tuples, err = s.base.view(ctx, upTo(len(s.low)), s.base.levels, true); err != nil {
		return nil, err
	}
	var path [][]uint8
	kept, err := scout.datafly(ctx, s.allowed, func(levels []uint8) { path = append(path, slices.Clone(levels)) })
	if err != nil || scout.tuples.covered(kept) < scout.tuples.records()-s.allowed {
		return nil, err
	}
	return path, nil
}

// follow confines the search to vectors between two of Datafly's.
func (s *search) follow(path [][]uint8) {
	s.high = path[len(path)-1]
	least := s.low
	for _, passed := range path {
		s.low = slices.Clone(least)
		for a := range s.low {
			s.low[a] = max(s.low[a], passed[a])
		}
		if s.box(upTo(len(s.low))).size <= s.most {
			break
		}
	}
}

// climb searches the lattices of ever larger subsets of the attributes, and in
// the end that of all for the best vector.
func (s *search) climb(ctx context.Context) (*choice, error) {
	all := len(s.low)
	below := map[uint64][]bool{} // of the largest subsets searched
	size := 0                    // of these subsets
	for next := 2; next < all && all <= 64; next++ {
		subsets := s.subsets(next)
		if subsets == nil {
			break
		}
		found := map[uint64][]bool{}
		for _, attributes := range subsets {
			r, err := s.subset(ctx, attributes, below, size, nil)
			if err != nil {
				return nil, err
			}
			found[maskOf(attributes)] = r.satisfied
		}
		below, size = found, next
		s.run.placed.Add(s.run.table.Len() / all)
	}
	c := &contest{search: s, box: s.box(upTo(all)), counts: &frequencies{search: s}}
	if err := c.admit(ctx, s.choice(s.first)); err != nil {
		return nil, err
	}
	_, err := s.subset(ctx, upTo(all), below, size, c)
	return c.best, err
}

// subsets lists those of a size in lexicographic order, nil where their
// lattices have too many vectors in sum.
func (s *search) subsets(size int) [][]int {
	most := int(s.share * float64(s.box(upTo(len(s.low))).size))
	var list [][]int
	vectors := 0
	combinations(len(s.low), size, func(attributes []int) bool {
		vectors += s.box(attributes).size
		list = append(list, slices.Clone(attributes))
		return vectors <= most
	})
	if vectors > most {
		return nil
	}
	return list
}

// subset resolves the vectors over some attributes. Below are the marks of all
// subsets of a size.
func (s *search) subset(ctx context.Context, attributes []int, below map[uint64][]bool, size int, c *contest) (*resolution, error) {
	r := &resolution{search: s, attributes: attributes, box: s.box(attributes), contest: c}
	r.satisfied = make([]bool, r.box.size)
	projections := s.projections(attributes, below, size)
	var open []int
	r.box.each(func(index int, steps []uint8) {
		for _, p := range projections {
			if !p.holds(steps) {
				return
			}
		}
		open = append(open, index)
	})
	lowest := make([]uint8, len(attributes))
	for i, a := range attributes {
		lowest[i] = s.low[a]
	}
	from, err := s.base.view(ctx, attributes, lowest, false)
	if err != nil {
		return nil, err
	}
	return r, r.resolve(ctx, open, from)
}

// satisfies asks the monotone demands of the counts over some attributes.
func (s *search) satisfies(ctx context.Context, v *tuples, attributes []int) (bool, error) {
	d := s.monotone.within(attributes)
	violating := 0
	for _, count := range v.counts {
		if int(count) < d.least {
			if violating += int(count); violating > s.allowed {
				return false, nil
			}
		}
	}
	if v.next == nil && s.chained(d) {
		var err error
		if v, err = s.base.view(ctx, attributes, v.levels, true); err != nil {
			return false, err
		}
	}
	kept, err := anonymous(ctx, s.run.table, v, d, true)
	return v.records()-v.covered(kept) <= s.allowed, err
}

// chained reports whether the demands look at records and not at counts alone.
func (s *search) chained(d demands) bool {
	return s.run.table.Subjects() != nil && len(d.whole)+len(d.counted) > 0
}

// projections says where to look up what is known of a vector's projections.
func (s *search) projections(attributes []int, below map[uint64][]bool, size int) []lookup {
	if len(below) == 0 {
		return nil
	}
	var list []lookup
	combinations(len(attributes), size, func(chosen []int) bool {
		part := make([]int, size)
		for i, c := range chosen {
			part[i] = attributes[c]
		}
		list = append(list, lookup{satisfied: below[maskOf(part)], places: slices.Clone(chosen), box: s.box(part)})
		return true
	})
	return list
}
