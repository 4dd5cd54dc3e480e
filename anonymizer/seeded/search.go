package seeded

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// search looks for clusters region by region, outwards from a record's own:
// neighbors in the slice are near.
type search struct {
	*plan
	regions []region
	// closed tells of a value in which regions no cluster could take it. What was
	// closed stays so, although a cluster that grows could take one more.
	closed map[uint32][]bool
}

// nearest is the cluster nearest to the record, of those in the nearest region
// that has any fit to take its value; nil if no region has one.
func (s *search) nearest(record int32, from int, fit func(c *cluster) bool) *cluster {
	value := s.bound.value(record)
	closed := s.closed[value]
	if closed == nil {
		closed = make([]bool, len(s.regions))
		if s.closed == nil {
			s.closed = map[uint32][]bool{}
		}
		s.closed[value] = closed
	}
	for radius := range len(s.regions) {
		var chosen *cluster
		least := float32(math.MaxFloat32)
		for _, place := range []int{from - radius, from + radius} {
			if place < 0 || place >= len(s.regions) || closed[place] {
				continue
			}
			closed[place] = true
			for _, c := range s.regions[place].clusters {
				// Most clusters are farther than one already found, which is seen soon.
				d, nearer := s.space.distanceBelow(record, c, least)
				if !nearer {
					closed[place] = false
					continue
				}
				if fit(c) {
					closed[place] = false
					chosen, least = c, d
				}
			}
		}
		if chosen != nil {
			return chosen
		}
	}
	return nil
}

// attachAll lets the records in no cluster join the nearest one that stays within
// the bound. Those for which there is none stay left.
func (s *search) attachAll(ctx context.Context) {
	s.closed = nil
	for i := range s.regions {
		var left []int32
		for _, r := range s.regions[i].left {
			if ctx.Err() != nil {
				return
			}
			c := s.nearest(r, i, func(c *cluster) bool {
				return s.bound.takes(c.members, s.bound.value(r), len(c.members)+1)
			})
			if c == nil {
				left = append(left, r)
				continue
			}
			s.space.join(c, r)
		}
		s.regions[i].left = left
	}
}

// exchangeAll repairs the clusters with too many records of the one bounded
// value, in falling order of its frequency within a region.
func (s *search) exchangeAll(ctx context.Context) {
	if s.bound.values == nil {
		return
	}
	s.closed = nil
	type offender struct {
		*cluster
		count int
	}
	for i := range s.regions {
		var offenders []offender
		for _, c := range s.regions[i].clusters {
			if count := s.bound.count(c.members, s.bound.only); count > s.bound.most(len(c.members)) {
				offenders = append(offenders, offender{c, count})
			}
		}
		slices.SortStableFunc(offenders, func(a, b offender) int {
			return cmp.Compare(b.count*len(a.members), a.count*len(b.members))
		})
		for _, o := range offenders {
			if ctx.Err() != nil {
				return
			}
			s.exchange(o.cluster, i, o.count-s.bound.most(len(o.members)))
		}
	}
}

// exchange gives the farthest offending records of a cluster away, each to the
// nearest cluster that can hold one more, and takes from that the record nearest
// to the giver that does not offend.
func (s *search) exchange(giver *cluster, region, excess int) {
	type offending struct {
		record   int32
		distance float32
	}
	var far []offending
	for _, r := range giver.members {
		if s.bound.value(r) == s.bound.only {
			far = append(far, offending{r, s.space.distance(r, giver)})
		}
	}
	slices.SortStableFunc(far, func(a, b offending) int { return cmp.Compare(b.distance, a.distance) })
	for _, o := range far[:excess] {
		taker := s.nearest(o.record, region, func(c *cluster) bool {
			return s.bound.takes(c.members, s.bound.only, len(c.members))
		})
		if taker == nil {
			return
		}
		back := s.inoffensive(taker, giver)
		s.space.replace(taker, back, o.record)
		s.space.replace(giver, o.record, back)
	}
}

// inoffensive is the record of the taker, without the bounded value, that is
// nearest to the giver. A cluster that can take one more has such a record.
func (s *search) inoffensive(taker, giver *cluster) int32 {
	chosen, least := taker.members[0], float32(-1)
	for _, r := range taker.members {
		if s.bound.value(r) == s.bound.only {
			continue
		}
		if d := s.space.distance(r, giver); least < 0 || d < least {
			chosen, least = r, d
		}
	}
	return chosen
}

// growAgain clusters what is left of neighboring regions together.
func (s *search) growAgain(ctx context.Context, seed uint64) {
	for from := 0; from < len(s.regions); {
		var records []int32
		to := from
		for ; to < len(s.regions) && (len(records) < s.block || to == from); to++ {
			records = append(records, s.regions[to].left...)
			s.regions[to].left = nil
		}
		b := newBlock(s.plan, records)
		grown := b.grow(ctx, seed)
		s.countAll(grown)
		s.regions[from].clusters = append(s.regions[from].clusters, grown...)
		s.regions[from].left = b.records[:b.left:b.left]
		from = to
	}
}
