package privacy

// subjects knows which persons a summary has counted, and with how many records
// each, so that they can be counted once.
type subjects struct {
	records map[uint32]int // of each person
	values  []map[pair]int // of each sensitive attribute: records of a person with a value
}

type pair struct{ subject, code uint32 }

// NewSubjectSummary returns the summary of no records, prepared for records of
// subjects.
func NewSubjectSummary(sensitive int) Summary {
	s := NewSummary(sensitive)
	s.countSubjects()
	return s
}

func (s *Summary) countSubjects() {
	if s.subjects != nil {
		return
	}
	s.subjects = &subjects{records: map[uint32]int{}, values: make([]map[pair]int, len(s.Sensitive))}
	for a := range s.subjects.values {
		s.subjects.values[a] = map[pair]int{}
	}
}

// AddOf counts one more record of a subject. A subject counts once in Records,
// and once for each of its different values in Sensitive, however many records
// it has.
func (s *Summary) AddOf(subject uint32, codes []uint32) {
	s.countSubjects()
	if s.subjects.records[subject]++; s.subjects.records[subject] == 1 {
		s.Records++
	}
	for a, code := range codes {
		values, p := s.subjects.values[a], pair{subject, code}
		if values[p]++; values[p] == 1 {
			s.Sensitive[a][code]++
		}
	}
}

// RemoveOf takes a record away that was added by AddOf with the same subject.
func (s *Summary) RemoveOf(subject uint32, codes []uint32) {
	if drop(s.subjects.records, subject); s.subjects.records[subject] == 0 {
		s.Records--
	}
	for a, code := range codes {
		values, p := s.subjects.values[a], pair{subject, code}
		if drop(values, p); values[p] == 0 {
			drop(s.Sensitive[a], code)
		}
	}
}

// mergeSubjects adds the other's persons, whose counts s has taken over
// already, and takes back what is then counted twice.
func (s *Summary) mergeSubjects(other *subjects) {
	s.countSubjects()
	for subject, records := range other.records {
		if s.subjects.records[subject] > 0 {
			s.Records--
		}
		s.subjects.records[subject] += records
	}
	for a, values := range other.values {
		for p, records := range values {
			if s.subjects.values[a][p] > 0 {
				drop(s.Sensitive[a], p.code)
			}
			s.subjects.values[a][p] += records
		}
	}
}

// AddSubject counts a subject, whatever values it has, for summaries of subjects
// whose values stand in several tables: AddValueOf adds these one by one.
func (s *Summary) AddSubject(subject uint32) { s.AddOf(subject, nil) }

// AddValueOf counts one more value of a subject for a single sensitive attribute.
// It counts no subject: AddSubject does.
func (s *Summary) AddValueOf(subject uint32, attribute int, code uint32) {
	s.countSubjects()
	values, p := s.subjects.values[attribute], pair{subject, code}
	if values[p]++; values[p] == 1 {
		s.Sensitive[attribute][code]++
	}
}

// Subtract takes away what was added by Merge.
func (s *Summary) Subtract(other Summary) {
	if other.subjects != nil {
		s.subtractSubjects(other.subjects)
		return
	}
	s.Records -= other.Records
	for a, counts := range other.Sensitive {
		for code, count := range counts {
			if s.Sensitive[a][code] -= count; s.Sensitive[a][code] <= 0 {
				delete(s.Sensitive[a], code)
			}
		}
	}
}

func (s *Summary) subtractSubjects(other *subjects) {
	for subject, records := range other.records {
		if s.subjects.records[subject] -= records; s.subjects.records[subject] <= 0 {
			delete(s.subjects.records, subject)
			s.Records--
		}
	}
	for a, values := range other.values {
		for p, records := range values {
			if s.subjects.values[a][p] -= records; s.subjects.values[a][p] <= 0 {
				delete(s.subjects.values[a], p)
				drop(s.Sensitive[a], p.code)
			}
		}
	}
}
