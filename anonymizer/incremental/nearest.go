package incremental

import (
	"context"
	"math"
	"slices"
)

// nearest finds the class that is most similar to a record or to another class, by an
// index of the classes.
type nearest struct {
	members *membership
	domain  domain // of all records, which similarities depend on

	measured domain    // the domain that the following was computed for
	deltas   []float64 // see domain.delta
	slack    float64   // see rounding
	growth   float64   // see frame.growth

	search   search
	scratch  []float64 // positions of a record, or middles of a class
	compared int       // boxes and records compared since the settling began to mend
}

// toRecord returns the class that is most similar to a record, given by its
// positions: the one with the greatest similarity, among equals the class that covers
// least, then the oldest; -1 only where there is no class or the context has ended.
func (n *nearest) toRecord(ctx context.Context, positions []float64) int32 {
	if !n.update(ctx) {
		return -1
	}
	n.search.top = float64(len(positions))
	return n.run(-1, positions)
}

// toClass returns the class other than itself that is most similar to a class, with
// ties as toRecord has them; -1 if there is none or the context has ended.
func (n *nearest) toClass(ctx context.Context, index int32) int32 {
	if !n.update(ctx) {
		return -1
	}
	middles, top := n.scratch, 0.0
	for a, own := range n.members.classes.row(index) {
		if middles[a] = own.low/2 + own.high/2; own.low == hiddenAt {
			middles[a] = math.NaN()
			top++
			continue
		}
		top += n.deltas[a] * classSimilarity(middles[a], middles[a], middles[a], n.deltas[a])
	}
	n.search.top = top
	return n.run(index, middles)
}

// positionsOf gives a record's positions until the next call.
func (n *nearest) positionsOf(slot int32) []float64 {
	for a, c := range n.members.records.cells.Row(slot) {
		n.scratch[a] = n.members.attributes[a].Hierarchy.Position(c)
	}
	return n.scratch
}

// run searches for the class most similar to a class or, with -1, a record.
func (n *nearest) run(class int32, positions []float64) int32 {
	s := &n.search
	s.of, s.tree, s.class, s.positions = n, &n.members.classes.tree, class, positions
	s.delta = smoothing * frameWidth * n.growth
	s.most, s.slack = float64(len(n.members.attributes)), n.slack
	s.aim(positions)
	found := s.run()
	n.compared += s.looked
	return found
}

// aim sets the place to search at.
func (s *search) aim(positions []float64) {
	if len(s.target) != s.tree.words {
		s.target = make(point, s.tree.words)
	}
	for a := range lanes(s.target) {
		position := 0.0
		if a < len(positions) {
			position = positions[a]
		}
		s.target.set(a, s.tree.frame.lane(a, position))
	}
}

// update brings the tree up to date, and returns false where the context has ended
// meanwhile.
func (n *nearest) update(ctx context.Context) bool {
	c := &n.members.classes
	anew := len(c.tree.nodes) == 0 || len(c.astray) > max(fewAstray, len(c.list)/2)
	if !slices.Equal(n.measured, n.domain) {
		anew = !n.remeasure() || anew
	}
	describe := func(class int32) entry { return c.tree.describe(class, c.list[class].id, c.row(class)) }
	if anew {
		c.tree = newTree(newFrame(n.domain), len(c.list))
		n.growth = 1
		c.tree.build(ctx, len(c.list), describe)
		for i := range c.list {
			c.list[i].astray = false
		}
		c.astray = c.astray[:0]
		return ctx.Err() == nil
	}
	for _, id := range c.astray {
		if index := c.index(id); index >= 0 {
			c.list[index].astray = false
			c.tree.put(describe(index))
		}
	}
	c.astray = c.astray[:0]
	return true
}

// fewAstray is how many classes the tree takes one by one even if they are most.
const fewAstray = 32

// remeasure takes over the domain, and returns false if the tree's frame does not
// fit it.
func (n *nearest) remeasure() bool {
	f := &n.members.classes.tree.frame
	n.measured = append(n.measured[:0], n.domain...)
	n.deltas = n.deltas[:0]
	for a := range n.domain {
		n.deltas = append(n.deltas, n.domain.delta(a))
	}
	n.slack = rounding(n.domain, n.deltas)
	if len(f.unit) != len(n.domain) || !f.fits(n.domain) {
		return false
	}
	n.growth = f.growth(n.domain)
	return true
}
