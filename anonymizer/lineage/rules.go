package lineage

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// rules are the constraints and what they are about: the shape of records, and whether
// records or the persons that they are about are counted.
type rules struct {
	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	k           int
	subjects    bool
	sensitive   int // number of sensitive attributes, -1 while unknown
	copied      int // number of copied values, -1 while unknown
	// leastChanged is the least number of records, or subjects, that are tried together
	// where what constraints count has changed.
	leastChanged int
}

// checkShape compares a record with the attributes and, for the other values, with the
// first record.
func (s *rules) checkShape(r Record) error {
	if len(r.Cells) != len(s.attributes) {
		return fmt.Errorf("record %d has %d cells, %d expected", r.ID, len(r.Cells), len(s.attributes))
	}
	if s.sensitive < 0 {
		s.sensitive = len(r.Sensitive)
	}
	if s.copied < 0 {
		s.copied = len(r.Copied)
	}
	if len(r.Sensitive) != s.sensitive || len(r.Copied) != s.copied {
		return fmt.Errorf("record %d has %d sensitive and %d copied values, %d and %d expected",
			r.ID, len(r.Sensitive), len(r.Copied), s.sensitive, s.copied)
	}
	return nil
}

// subjectColumn is the number of the subject in a set of columns.
func (s *rules) subjectColumn() int { return s.sensitive + s.copied }

// counted reports whether what constraints count is in the set: a sensitive attribute or
// the subject.
func (s *rules) counted(c columns) bool {
	for a := range s.sensitive {
		if c.has(a) {
			return true
		}
	}
	return c.has(s.subjectColumn())
}

// shown is what a row of a class shows of the sensitive attributes.
func (s *rules) shown(c *class, place int) []uint32 {
	n := max(0, s.sensitive)
	return c.codes[place*n : (place+1)*n : (place+1)*n]
}

func (s *rules) newSummary() privacy.Summary {
	if s.subjects {
		return privacy.NewSubjectSummary(max(0, s.sensitive))
	}
	return privacy.NewSummary(max(0, s.sensitive))
}

func (s *rules) addRow(to *privacy.Summary, c *class, place int) {
	if s.subjects {
		to.AddOf(c.rows[place].person, s.shown(c, place))
	} else {
		to.Add(s.shown(c, place))
	}
}

// summarize counts rows of a class as they are published, those in the part and the rest.
func (s *rules) summarize(c *class, part func(row) bool) (in, rest privacy.Summary) {
	in, rest = s.newSummary(), s.newSummary()
	for place, r := range c.rows {
		if part(r) {
			s.addRow(&in, c, place)
		} else {
			s.addRow(&rest, c, place)
		}
	}
	return in, rest
}

// persons counts the records, or subjects, behind some rows of a class.
func (s *rules) persons(c *class, part func(row) bool) int {
	in := s.newSummary()
	for place, r := range c.rows {
		if part(r) {
			s.addRow(&in, c, place)
		}
	}
	return in.Records
}

// satisfiedBy reports whether records satisfy the constraints as they are now.
func (s *rules) satisfiedBy(records *records, members []int32) bool {
	all := s.newSummary()
	for _, slot := range members {
		if codes := records.sensitive.Row(slot); s.subjects {
			all.AddOf(records.subject(slot), codes)
		} else {
			all.Add(codes)
		}
	}
	return s.satisfied(all)
}

func (s *rules) satisfied(summary privacy.Summary) bool { return s.constraints.Satisfied(summary, nil) }

// separable reports whether readers may tell some rows, of at least so many persons, apart from the
// rest of their class: both are safe, whoever is among them. That depends on how many they are and
// on what is published, not on whose values these are, so neither a cut nor its absence reveals
// whose they are. For a whole class, nothing has to be told apart.
func (s *rules) separable(c *class, part func(row) bool, least int) bool {
	in, rest := s.summarize(c, part)
	if in.Records < least {
		return false
	}
	return rest.Records == 0 || !c.sealed && s.safe(c, in) && s.safe(c, rest)
}

// safe reports whether a part of a class satisfies the constraints, and any other of
// as many persons would, too. Constraints on values are held against the worst choice:
// the persons with the most frequent values. No other choice of as many has fewer
// different values, a lower entropy or a more frequent value, because this one's counts
// majorize all others'.
//
// How many persons have a value is not published; how many rows is, and these are not
// fewer. So rows are counted, and a person with two rows makes the counts add up to more
// than persons. That only makes the worst choice worse where values are counted one by
// one; of the other constraints it is not known, and such a class is not cut.
func (s *rules) safe(c *class, part privacy.Summary) bool {
	if part.Records < s.k || !s.satisfied(part) {
		return false
	}
	whole := privacy.NewSummary(max(0, s.sensitive))
	for place := range c.rows {
		whole.Add(s.shown(c, place))
	}
	oneRowEach := s.persons(c, isAny) == whole.Records
	return !slices.ContainsFunc(s.constraints, func(constraint privacy.Constraint) bool {
		return !worstSatisfies(constraint, whole, part.Records, oneRowEach)
	})
}

func worstSatisfies(constraint privacy.Constraint, whole privacy.Summary, persons int, oneRowEach bool) bool {
	if restricted, ok := constraint.(privacy.Restricted); ok {
		constraint = restricted.Constraint
	}
	switch c := constraint.(type) {
	case privacy.KAnonymity:
		return persons >= c.MinRecords()
	case privacy.DistinctDiversity:
		return c.Satisfied(worst(whole, c.Attribute, persons), nil)
	case privacy.EntropyDiversity:
		return oneRowEach && c.Satisfied(worst(whole, c.Attribute, persons), nil)
	case privacy.RecursiveDiversity:
		return oneRowEach && c.Satisfied(worst(whole, c.Attribute, persons), nil)
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
