package privacy

import "math"

// Drifting is a constraint that compares a class with the whole table and knows
// how far the table may move before a class that stays as it is can violate it.
// It applies to summaries without subjects.
type Drifting interface {
	Constraint
	// Slack is 0 or more for a class that satisfies the constraint, in the
	// constraint's own unit, and negative or 0 for one that does not.
	Slack(class Summary, whole *Population) float64
	// Drift is how much of its slack a class can lose at most while the table
	// becomes another one that contains it as well; +Inf where that is not known.
	// A class with more slack than the sum of all drifts since satisfies the
	// constraint still.
	Drift(from, to *Population) float64
}

// driftMargin is taken off every slack: more than the rounding of slack and drifts.
const driftMargin = 1e-9

// Slack is how much further away the class may be, which follows from the
// triangle inequality of the Earth Mover's Distance.
func (c TCloseness) Slack(class Summary, whole *Population) float64 {
	d, ok := c.DistanceOf(class, whole)
	if !ok {
		return -1
	}
	return c.T - d - driftMargin
}

// Drift is the distance between the two tables. Ground distances depend on which
// values the table has, but for the equal distance.
func (c TCloseness) Drift(from, to *Population) float64 {
	if c.Distance != EqualDistance && !sameValues(from, to, c.Attribute) {
		return math.Inf(1)
	}
	d, ok := c.DistanceOf(from.Summary, to)
	if !ok {
		return math.Inf(1)
	}
	return d
}

// bound is the greatest frequency in a class of a value with the frequency p in
// the table, p in [0,1]. It grows with p.
func (c BetaLikeness) bound(p float64) float64 {
	if p <= 0 {
		return 0
	}
	gain := c.Beta
	if c.Enhanced {
		gain = min(gain, -math.Log(p))
	}
	return p * (1 + gain)
}

// Slack is by how much the frequency of any value of the class may still grow, or
// its bound fall.
func (c BetaLikeness) Slack(class Summary, whole *Population) float64 {
	counts, all, ok := compare(class, whole, c.Attribute)
	if !ok {
		return -1
	}
	slack := 1.0
	for code, count := range counts {
		slack = min(slack, c.bound(share(all[code], whole.Records))-share(count, class.Records))
	}
	return slack - driftMargin
}

// Drift is the greatest fall of a value's bound.
func (c BetaLikeness) Drift(from, to *Population) float64 {
	before, after, ok := compare(from.Summary, to, c.Attribute)
	if !ok {
		return math.Inf(1)
	}
	drift := 0.0
	for code, count := range before {
		drift = max(drift, c.bound(share(count, from.Records))-c.bound(share(after[code], to.Records)))
	}
	return drift
}

// Slack is how much |ln(q/p)| may still grow for any value.
func (c DeltaDisclosurePrivacy) Slack(class Summary, whole *Population) float64 {
	counts, all, ok := compare(class, whole, c.Attribute)
	if !ok || len(counts) != len(all) {
		return -1
	}
	return c.Delta - ratio(counts, class.Records, all, whole.Records) - driftMargin
}

// Drift is the greatest |ln(p/p')|.
func (c DeltaDisclosurePrivacy) Drift(from, to *Population) float64 {
	if !sameValues(from, to, c.Attribute) {
		return math.Inf(1)
	}
	return ratio(from.Sensitive[c.Attribute], from.Records, to.Sensitive[c.Attribute], to.Records)
}

// ratio is the greatest |ln(q/p)| of values that both have.
func ratio(q map[uint32]int, ofQ int, p map[uint32]int, ofP int) float64 {
	greatest := 0.0
	for code, count := range q {
		greatest = max(greatest, math.Abs(math.Log(share(count, ofQ)/share(p[code], ofP))))
	}
	return greatest
}

func share(count, of int) float64 { return float64(count) / float64(of) }

// sameValues reports whether two tables have the same different values.
func sameValues(a, b *Population, attribute int) bool {
	first, second, ok := compare(a.Summary, b, attribute)
	if !ok || len(first) != len(second) {
		return false
	}
	for code := range first {
		if _, both := second[code]; !both {
			return false
		}
	}
	return true
}
