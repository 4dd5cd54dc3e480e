package hilbert

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// division divides records into groups of consecutive ones. The order is that of
// the curve, or nearly so.
type division struct {
	records []int32
	sizes   []int
}

// loss is the sum of records times penalty over the groups.
func (d division) loss(axes []axis) float64 {
	sum, from, covered := 0.0, 0, newExtent(len(axes))
	ranks := make([]int32, len(axes))
	for _, size := range d.sizes {
		for i, r := range d.records[from : from+size] {
			for a := range axes {
				ranks[a] = axes[a].ranks[r]
			}
			if i == 0 {
				covered.start(ranks)
			}
			covered.include(ranks)
		}
		sum += float64(size) * covered.penalty(axes)
		from += size
	}
	return sum
}

// piece is a range of the division's records.
type piece struct {
	from, to int
	united   *counted // kept for pieces that are larger than one group
}

type counted struct {
	summary privacy.Summary
	covered extent
}

// uniter unites groups that violate the constraints with neighbors.
type uniter struct {
	division
	table *anonymizer.Table
	axes  []axis
}

func (u uniter) counted(p piece) counted {
	if p.united != nil {
		return *p.united
	}
	c := counted{u.table.Summarize(u.records[p.from:p.to]), newExtent(len(u.axes))}
	for a, x := range u.axes {
		c.covered.low[a], c.covered.high[a] = x.ranks[u.records[p.from]], x.ranks[u.records[p.from]]
		for _, r := range u.records[p.from:p.to] {
			c.covered.low[a] = min(c.covered.low[a], x.ranks[r])
			c.covered.high[a] = max(c.covered.high[a], x.ranks[r])
		}
	}
	return c
}

// unite gives the groups that satisfy the constraints. One that does not is
// united with the one before or after it, whichever costs less, until it does;
// what is counted about the lesser of the two is added to the greater. Where all
// records in one group still violate the constraints there are no pieces.
func (u uniter) unite(ctx context.Context, c privacy.ConstraintSet) []piece {
	var satisfied []piece
	from, rest, whole := 0, u.sizes, u.table.Population()
	next := func() piece {
		p := piece{from: from, to: from + rest[0]}
		from, rest = p.to, rest[1:]
		return p
	}
	for len(rest) > 0 {
		if ctx.Err() != nil {
			return nil
		}
		current := next()
		about := u.counted(current)
		for !c.Satisfied(about.summary, whole) {
			before := len(satisfied) - 1
			switch {
			case before < 0 && len(rest) == 0:
				return nil
			case before < 0 || len(rest) > 0 && u.nextIsNearer(about, satisfied[before], piece{from: from, to: from + rest[0]}):
				neighbor := next()
				about = about.with(u.counted(neighbor))
				current.to = neighbor.to
			default:
				about = about.with(u.counted(satisfied[before]))
				current.from = satisfied[before].from
				satisfied = satisfied[:before]
			}
			current.united = &about
		}
		satisfied = append(satisfied, current)
	}
	return satisfied
}

// nextIsNearer compares what a piece would cover together with either neighbor.
func (u uniter) nextIsNearer(about counted, before, after piece) bool {
	return about.covered.with(u.counted(after).covered).penalty(u.axes) <
		about.covered.with(u.counted(before).covered).penalty(u.axes)
}

func (c counted) with(other counted) counted {
	if c.summary.Records < other.summary.Records {
		c, other = other, c
	}
	c.summary.Merge(other.summary)
	return counted{c.summary, c.covered.with(other.covered)}
}

func (e extent) with(other extent) extent {
	union := newExtent(len(e.low))
	for a := range e.low {
		union.low[a] = min(e.low[a], other.low[a])
		union.high[a] = max(e.high[a], other.high[a])
	}
	return union
}

// satisfying unites groups until all satisfy the constraints; no group is left
// where that cannot be reached.
func (d division) satisfying(ctx context.Context, t *anonymizer.Table, axes []axis, c privacy.ConstraintSet) division {
	if t.Subjects() == nil && countsRecords(c) {
		return d
	}
	united := division{records: d.records}
	for _, p := range (uniter{d, t, axes}).unite(ctx, c) {
		united.sizes = append(united.sizes, p.to-p.from)
	}
	return united
}

// countsRecords reports whether the constraints only demand a class size.
func countsRecords(c privacy.ConstraintSet) bool {
	for _, constraint := range c {
		if _, ok := constraint.(privacy.KAnonymity); !ok {
			return false
		}
	}
	return true
}

// release makes classes of the groups; without any, all records are withheld.
func (d division) release(t *anonymizer.Table) *anonymizer.Release {
	if len(d.sizes) == 0 {
		return anonymizer.WithholdAll(t)
	}
	r := &anonymizer.Release{Classes: make([]anonymizer.EquivalenceClass, len(d.sizes))}
	from := 0
	for i, size := range d.sizes {
		r.Classes[i] = anonymizer.EquivalenceClass(d.records[from : from+size : from+size])
		from += size
	}
	return r
}
