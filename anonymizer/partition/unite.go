package partition

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// release makes classes of the segments between cuts. One that violates the
// constraints is united with the neighbor from which the later of its two cuts
// divides it, which is the more similar one, until it satisfies them. A single
// class that still violates them is withheld: it holds all records.
func (p *partitioning) release(t *anonymizer.Table, c privacy.ConstraintSet) *anonymizer.Release {
	segments := p.segments()
	if sizeDecides(t, c) {
		if len(p.records) < c.K() {
			return &anonymizer.Release{Withheld: p.records}
		}
		return &anonymizer.Release{Classes: p.classes(segments)}
	}
	whole := t.Population()
	leaf := func() run {
		s := segments[0]
		segments = segments[1:]
		return run{s, t.Summarize(p.records[s.from:s.to])}
	}
	var satisfied []run
	for len(segments) > 0 {
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
	united := make([]segment, len(satisfied))
	for i, r := range satisfied {
		united[i] = r.segment
	}
	return &anonymizer.Release{Classes: p.classes(united)}
}

// sizeDecides reports whether nothing but a class's number of records decides
// whether it satisfies the constraints, so that no class need be summarized.
func sizeDecides(t *anonymizer.Table, c privacy.ConstraintSet) bool {
	for _, constraint := range c {
		if _, k := constraint.(privacy.KAnonymity); !k {
			return false
		}
	}
	return t.Subjects() == nil
}

// classes are the records of the segments, which share one array.
func (p *partitioning) classes(segments []segment) []anonymizer.EquivalenceClass {
	classes := make([]anonymizer.EquivalenceClass, len(segments))
	for i, s := range segments {
		classes[i] = p.records[s.from:s.to:s.to]
	}
	return classes
}

// run is a class of consecutive places, with its summary.
type run struct {
	segment
	summary privacy.Summary
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
