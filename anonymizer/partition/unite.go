package partition

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// run is a class of consecutive places, with its summary.
type run struct {
	segment
	summary privacy.Summary
}

// release makes classes of the segments between cuts. One that violates the
// constraints is united with the neighbor from which the later of its two cuts
// divides it, which is the more similar one, until it satisfies them. A single
// class that still violates them is withheld: it holds all records.
func (p *partitioning) release(t *anonymizer.Table, c privacy.ConstraintSet) *anonymizer.Release {
	n, whole := len(p.records), t.Population()
	next := 0
	leaf := func() run {
		s := segment{from: next, to: next + 1}
		for s.to < n && p.depths[s.to] == 0 {
			s.to++
		}
		next = s.to
		return run{s, t.Summarize(p.records[s.from:s.to])}
	}
	var satisfied []run
	for next < n {
		current := leaf()
		for !c.Satisfied(current.summary, whole) {
			before, after := p.depths[current.from], p.depths[current.to]
			switch {
			case before == 0 && after == 0:
				return &anonymizer.Release{Withheld: p.records}
			case before > after:
				last := len(satisfied) - 1
				current = unite(satisfied[last], current)
				satisfied = satisfied[:last]
			default:
				current = unite(current, leaf())
			}
		}
		satisfied = append(satisfied, current)
	}
	r := &anonymizer.Release{Classes: make([]anonymizer.EquivalenceClass, len(satisfied))}
	for i, s := range satisfied {
		r.Classes[i] = anonymizer.EquivalenceClass(p.records[s.from:s.to:s.to])
	}
	return r
}

// unite joins two neighbors; the lesser summary is added to the greater, so
// that a record is counted again only when its class at least doubles.
func unite(left, right run) run {
	into, from := left.summary, right.summary
	if into.Records < from.Records {
		into, from = from, into
	}
	into.Merge(from)
	return run{segment{left.from, right.to}, into}
}
