package incremental

import (
	"math"
	"slices"
)

// measure is what similarities depend on beside the classes.
type measure struct {
	domain []extent
	deltas []float64 // see Partition.delta
	slack  float64   // see rounding
	growth float64   // see frame.growth
}

// nearestTo returns the class that is most similar to a record, given by its
// positions: the one with the greatest similarity, among equals the class that covers
// least, then the oldest; -1 only where there is no class or the context has ended.
func (p *Partition) nearestTo(positions []float64) int32 {
	if !p.index() {
		return -1
	}
	p.search.top = float64(len(positions))
	return p.run(-1, positions)
}

// neighbor returns the class other than itself that is most similar to a class, with
// ties as nearestTo has them; -1 if there is none or the context has ended.
func (p *Partition) neighbor(index int32) int32 {
	if !p.index() {
		return -1
	}
	middles, top := p.scratch, 0.0
	for a, own := range p.classes.row(index) {
		if middles[a] = own.low/2 + own.high/2; own.low == hiddenAt {
			middles[a] = math.NaN()
			top++
			continue
		}
		top += p.measure.deltas[a] * classSimilarity(middles[a], middles[a], middles[a], p.measure.deltas[a])
	}
	p.search.top = top
	return p.run(index, middles)
}

// positionsOf gives a record's positions until the next call.
func (p *Partition) positionsOf(slot int32) []float64 {
	for a, c := range p.records.cells.Row(slot) {
		p.scratch[a] = p.attributes[a].Hierarchy.Position(c)
	}
	return p.scratch
}

// run searches for the class most similar to a class or, with -1, a record.
func (p *Partition) run(class int32, positions []float64) int32 {
	s := &p.search
	s.of, s.tree, s.class, s.positions = p, &p.classes.tree, class, positions
	s.delta = smoothing * frameWidth * p.measure.growth
	s.most, s.slack = float64(len(p.attributes)), p.measure.slack
	s.aim(positions)
	found := s.run()
	p.compared += s.looked
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

// index brings the tree up to date, and returns false where the context has ended
// meanwhile.
func (p *Partition) index() bool {
	c := &p.classes
	anew := len(c.tree.nodes) == 0 || len(c.astray) > max(fewAstray, len(c.list)/2)
	if !slices.Equal(p.measure.domain, p.domain) {
		anew = !p.remeasure() || anew
	}
	describe := func(class int32) entry { return c.tree.describe(class, c.list[class].id, c.row(class)) }
	if anew {
		c.tree = newTree(newFrame(p.domain), len(c.list))
		p.measure.growth = 1
		c.tree.build(p.ctx, len(c.list), describe)
		for i := range c.list {
			c.list[i].astray = false
		}
		c.astray = c.astray[:0]
		return p.ctx.Err() == nil
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
func (p *Partition) remeasure() bool {
	m, f := &p.measure, &p.classes.tree.frame
	m.domain = append(m.domain[:0], p.domain...)
	m.deltas = m.deltas[:0]
	for a := range p.domain {
		m.deltas = append(m.deltas, p.delta(a))
	}
	m.slack = rounding(p.domain, m.deltas)
	if len(f.unit) != len(p.domain) || !f.fits(p.domain) {
		return false
	}
	m.growth = f.growth(p.domain)
	return true
}
