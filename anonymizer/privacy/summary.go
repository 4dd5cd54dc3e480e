// Package privacy defines the constraints that every published equivalence
// class satisfies. A constraint is stateless over a class's Summary and the
// whole table's Population, so that the batch methods, the maintained partition
// and a verifier share one definition. Entry points: Spec and New, or the
// constraints themselves.
package privacy

import (
	"fmt"
	"slices"
)

// Summary is all that constraints know about a set of records. Where records
// carry a subject, the person they are about, it counts persons.
type Summary struct {
	// Records is the number of records, or of different subjects.
	Records int
	// Sensitive holds, for each sensitive attribute, how many records have
	// each value code, or how many different subjects have a record with it;
	// codes that no record has are absent.
	Sensitive []map[uint32]int

	subjects *subjects // nil while no record has one
}

// NewSummary returns the summary of no records with the given number of
// sensitive attributes.
func NewSummary(sensitive int) Summary {
	s := Summary{Sensitive: make([]map[uint32]int, sensitive)}
	for a := range s.Sensitive {
		s.Sensitive[a] = map[uint32]int{}
	}
	return s
}

// Add counts one more record, whose value codes are given in the order of
// Sensitive. It is nobody's: a person of its own.
func (s *Summary) Add(codes []uint32) {
	s.Records++
	for a, code := range codes {
		s.Sensitive[a][code]++
	}
}

// Remove takes a record away that was added by Add.
func (s *Summary) Remove(codes []uint32) {
	s.Records--
	for a, code := range codes {
		drop(s.Sensitive[a], code)
	}
}

// drop takes one away and forgets what is at 0.
func drop[Key comparable](counts map[Key]int, key Key) {
	if counts[key] <= 1 {
		delete(counts, key)
		return
	}
	counts[key]--
}

// Merge adds all records of other, which stays as it is.
func (s *Summary) Merge(other Summary) {
	s.Records += other.Records
	for a, counts := range other.Sensitive {
		for code, count := range counts {
			s.Sensitive[a][code] += count
		}
	}
	if other.subjects != nil {
		s.mergeSubjects(other.subjects)
	}
}

// counts are those of a sensitive attribute, if there is such a one.
func (s Summary) counts(attribute int) (map[uint32]int, bool) {
	if attribute < 0 || attribute >= len(s.Sensitive) {
		return nil, false
	}
	return s.Sensitive[attribute], true
}

// descending are the counts of a sensitive attribute without their values, the
// greatest first, cut off where they add up to Records. Without subjects that
// is all of them. With subjects it gives each person one value, and of all ways
// to do so none leaves less diversity: no other choice has larger greatest
// counts. Four persons who all have the flu, and each something else besides,
// are four times the flu.
func (s Summary) descending(attribute int) []int {
	counts, _ := s.counts(attribute)
	sorted := make([]int, 0, len(counts))
	for _, count := range counts {
		sorted = append(sorted, count)
	}
	slices.SortFunc(sorted, func(a, b int) int { return b - a })
	left := s.Records
	for i, count := range sorted {
		if count >= left {
			sorted[i] = left
			return sorted[:i+1]
		}
		left -= count
	}
	return sorted
}

// missing is why a constraint over a summary without its attribute fails.
func missing(c Constraint) error {
	return fmt.Errorf("%v: the table has no such sensitive attribute", c)
}
