// Package privacy defines the constraints that every published equivalence
// class satisfies. A constraint is stateless over a class's Summary, so that
// the batch methods, the maintained partition and a verifier share one
// definition.
package privacy

// Summary is all that constraints know about a set of records.
type Summary struct {
	// Records is the number of records.
	Records int
	// Sensitive holds, for each sensitive attribute, how many records have
	// each value code; codes that no record has are absent.
	Sensitive []map[uint32]int
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
// Sensitive.
func (s *Summary) Add(codes []uint32) {
	s.Records++
	for a, code := range codes {
		s.Sensitive[a][code]++
	}
}

// Remove takes a record away that was added before.
func (s *Summary) Remove(codes []uint32) {
	s.Records--
	for a, code := range codes {
		s.drop(a, code)
	}
}

func (s *Summary) drop(attribute int, code uint32) {
	counts := s.Sensitive[attribute]
	if counts[code] <= 1 {
		delete(counts, code)
		return
	}
	counts[code]--
}

// Merge adds all records of other.
func (s *Summary) Merge(other Summary) {
	s.Records += other.Records
	for a, counts := range other.Sensitive {
		for code, count := range counts {
			s.Sensitive[a][code] += count
		}
	}
}
