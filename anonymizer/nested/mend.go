package nested

import (
	"cmp"
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

const (
	// mostMended is how many groups are mended together at most: each is compared with all others.
	mostMended = 1 << 12
	// mostPartners is how many of the groups that lose least with one are tried.
	mostPartners = 16
)

// mendedSizes are how many times the least size the groups have that are mended: where the constraints
// demand much more than a size, large groups violate them less often.
var mendedSizes = []int{1, 2, 4, 8}

// mend divides a set that no cut divides into parts that satisfy the constraints. It divides by
// size, then unites each group that violates the constraints with the group that loses least among
// those that make it satisfy them.
func (c *cutter) mend(ctx context.Context, members []int32) [][]int32 {
	best := [][]int32{members}
	if c.sizeDecides || len(members) < 2 || c.size(members) > mostMended*c.k {
		return best
	}
	s := &search{division: c.division, of: make([]*group, c.len())}
	least := s.newGroup(members, 0).total()
	for _, times := range mendedSizes {
		if c.size(members) < 2*times*c.k {
			break
		}
		var loss float32
		parts := [][]int32{}
		for _, g := range s.mended(ctx, members, times*c.k) {
			loss += g.total()
			parts = append(parts, g.members)
		}
		if loss < least {
			best, least = parts, loss
		}
	}
	return best
}

// mended starts with groups of a size.
func (s *search) mended(ctx context.Context, members []int32, size int) []*group {
	sized := *s.division
	sized.k, sized.constraints, sized.sizeDecides, sized.groups = size, privacy.ConstraintSet{privacy.KAnonymity{K: size}}, true, nil
	sized.placed = anonymizer.Options{}.Track(0)
	newCutter(&sized).divide(ctx, members)
	var groups, due []*group
	for _, part := range sized.groups {
		g := s.newGroup(part, 0)
		groups = append(groups, g)
		if !s.satisfied(part) {
			due = append(due, g)
		}
	}
	for len(due) > 0 && len(groups) > 1 && ctx.Err() == nil {
		g := due[0]
		due = due[1:]
		other := s.partner(g, groups)
		g.members = slices.Concat(g.members, other.members)
		s.measure(g)
		gone := func(k *group) bool { return k == other }
		groups, due = slices.DeleteFunc(groups, gone), slices.DeleteFunc(due, gone)
		if !s.satisfied(g.members) {
			due = append(due, g)
		}
	}
	return groups
}

// partner is the group to unite with one that violates the constraints.
func (s *search) partner(g *group, groups []*group) *group {
	type offer struct {
		group *group
		loss  float32
	}
	offers := make([]offer, 0, len(groups))
	for _, k := range groups {
		if k == g {
			continue
		}
		var loss float32
		for a := range s.scales {
			loss += s.scales[a].Of(min(g.low[a], k.low[a]), max(g.high[a], k.high[a]))
		}
		offers = append(offers, offer{k, float32(g.size+k.size)*loss - g.total() - k.total()})
	}
	slices.SortStableFunc(offers, func(x, y offer) int { return cmp.Compare(x.loss, y.loss) })
	for _, o := range offers[:min(mostPartners, len(offers))] {
		if s.satisfied(slices.Concat(g.members, o.group.members)) {
			return o.group
		}
	}
	return offers[0].group
}
