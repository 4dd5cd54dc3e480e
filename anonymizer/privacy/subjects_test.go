package privacy_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// entry is a record of a summary; of nobody for subject 0.
type entry struct {
	subject uint32
	codes   [2]uint32
}

func (e entry) add(s *privacy.Summary) {
	if e.subject == 0 {
		s.Add(e.codes[:])
	} else {
		s.AddOf(e.subject, e.codes[:])
	}
}

func (e entry) remove(s *privacy.Summary) {
	if e.subject == 0 {
		s.Remove(e.codes[:])
	} else {
		s.RemoveOf(e.subject, e.codes[:])
	}
}

// recount counts persons and their different values.
func recount(entries []entry) (persons int, values [2]map[uint32]int) {
	type pair struct{ subject, code uint32 }
	seen := map[uint32]bool{}
	for a := range values {
		values[a] = map[uint32]int{}
		pairs := map[pair]bool{}
		for _, e := range entries {
			p := pair{e.subject, e.codes[a]}
			if e.subject == 0 || !pairs[p] {
				values[a][e.codes[a]]++
			}
			pairs[p] = true
		}
	}
	for _, e := range entries {
		if e.subject == 0 || !seen[e.subject] {
			persons++
		}
		seen[e.subject] = true
	}
	return persons, values
}

// TestSubjects: after any sequence of Add, Remove and Merge the summary counts
// what a recount does.
func TestSubjects(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		summaries := []privacy.Summary{privacy.NewSubjectSummary(2), privacy.NewSummary(2), privacy.NewSubjectSummary(2)}
		entries := make([][]entry, len(summaries))
		for range 120 {
			i := random.IntN(len(summaries))
			s := &summaries[i]
			switch choice := random.IntN(10); {
			case choice < 6:
				e := entry{random.Uint32N(6), [2]uint32{random.Uint32N(3), random.Uint32N(4)}}
				if seed%4 == 0 {
					e.subject = 0
				}
				entries[i] = append(entries[i], e)
				e.add(s)
			case choice < 9 && len(entries[i]) > 0:
				at := random.IntN(len(entries[i]))
				entries[i][at].remove(s)
				entries[i] = append(entries[i][:at], entries[i][at+1:]...)
			case choice == 9 && len(entries[i]) < 60:
				j := (i + 1) % len(summaries)
				s.Merge(summaries[j])
				entries[i] = append(entries[i], entries[j]...)
			}
			for i, s := range summaries {
				persons, values := recount(entries[i])
				if s.Records != persons || !reflect.DeepEqual(s.Sensitive, values[:]) {
					t.Fatalf("seed %d: %+v counted of %v, %d and %v expected", seed, s, entries[i], persons, values)
				}
			}
		}
	}
}

// TestOneValueEach: a class of persons with several values that satisfies a
// diversity does so whichever one of the values each person is given.
func TestOneValueEach(t *testing.T) {
	t.Parallel()
	satisfied := 0
	for seed := range uint64(2000) {
		w := newWorld(t, seed, 2+int(seed%8), 2+int(seed%6), true)
		if w.whole.Records > 5 {
			continue
		}
		choices := map[uint32][]uint32{}
		for i, person := range w.group.Subjects {
			choices[person] = append(choices[person], w.group.Sensitive[0][i])
		}
		for _, c := range w.constraints()[1:4] {
			if !c.Satisfied(w.whole.Summary, nil) {
				continue
			}
			satisfied++
			var persons []uint32
			for person := range choices {
				persons = append(persons, person)
			}
			each(choices, persons, nil, func(chosen []uint32) {
				if one := summary(chosen...); !c.Satisfied(one, nil) {
					t.Fatalf("seed %d: %v holds for %v, not for %v", seed, c, choices, one)
				}
			})
		}
	}
	if satisfied < 300 {
		t.Errorf("%d classes satisfied a diversity: nothing is tested", satisfied)
	}
}

// each calls back with every way to give each person one of its values.
func each(choices map[uint32][]uint32, persons, chosen []uint32, call func([]uint32)) {
	if len(persons) == 0 {
		call(chosen)
		return
	}
	for _, code := range choices[persons[0]] {
		each(choices, persons[1:], append(chosen, code), call)
	}
}
