package lineage

import (
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// endures reports whether a part of a class satisfies the constraints, and any other of
// as many persons would, too. Constraints on values are held against the worst choice:
// the persons with the most frequent values. No other choice of as many has fewer
// different values, a lower entropy or a more frequent value, because this one's counts
// majorize all others'.
//
// How many persons have a value is not published; how many rows is, and these are not
// fewer. So rows are counted, and a person with two rows makes the counts add up to more
// than persons. That only makes the worst choice worse where values are counted one by
// one; of the other constraints it is not known, and such a class is not cut.
func (l *Lineage) endures(c *class, part privacy.Summary) bool {
	if part.Records < l.k || !l.satisfied(part) {
		return false
	}
	whole := privacy.NewSummary(max(0, l.sensitive))
	for place := range c.rows {
		whole.Add(l.shown(c, place))
	}
	onceEach := l.summarize(c, isAny).Records == whole.Records
	for _, constraint := range l.constraints {
		if !worstSatisfies(constraint, whole, part.Records, onceEach) {
			return false
		}
	}
	return true
}

func worstSatisfies(constraint privacy.Constraint, whole privacy.Summary, persons int, onceEach bool) bool {
	if restricted, ok := constraint.(privacy.Restricted); ok {
		constraint = restricted.Constraint
	}
	switch c := constraint.(type) {
	case privacy.KAnonymity:
		return persons >= c.MinRecords()
	case privacy.DistinctDiversity:
		return c.Satisfied(worst(whole, c.Attribute, persons), nil)
	case privacy.EntropyDiversity:
		return onceEach && c.Satisfied(worst(whole, c.Attribute, persons), nil)
	case privacy.RecursiveDiversity:
		return onceEach && c.Satisfied(worst(whole, c.Attribute, persons), nil)
	case privacy.AlphaBound:
		for code, count := range whole.Sensitive[c.Attribute] {
			if c.Binds(code) && min(count, persons) > c.Most(persons) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// worst summarizes as many persons of a class as there are in the part, with the most
// frequent values of one attribute.
func worst(whole privacy.Summary, attribute, persons int) privacy.Summary {
	s := privacy.NewSummary(len(whole.Sensitive))
	s.Records = persons
	counts := slices.Sorted(maps.Values(whole.Sensitive[attribute]))
	for code := uint32(0); persons > 0; code++ { // a class has as many rows at least
		last := len(counts) - 1
		taken := min(persons, counts[last])
		s.Sensitive[attribute][code] = taken
		persons -= taken
		counts = counts[:last]
	}
	return s
}
