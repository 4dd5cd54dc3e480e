package privacy_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
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

// TestOneValueEach: a class of persons with several values satisfies a diversity exactly
// if it does so whichever one of the values each person is given.
func TestOneValueEach(t *testing.T) {
	t.Parallel()
	satisfied, violated, searched := 0, 0, 0
	for seed := range uint64(3000) {
		w := newWorld(t, seed, 2+int(seed%11), 2+int(seed%6), true)
		if w.whole.Records > 6 {
			continue
		}
		choices := map[uint32][]uint32{}
		for i, person := range w.group.Subjects {
			choices[person] = append(choices[person], w.group.Sensitive[0][i])
		}
		var persons []uint32
		for person := range choices {
			persons = append(persons, person)
		}
		for _, c := range w.constraints()[1:4] {
			holds := true
			each(choices, persons, nil, func(chosen []uint32) { holds = holds && c.Satisfied(summary(chosen...), nil) })
			if c.Satisfied(w.whole.Summary, nil) != holds {
				t.Fatalf("seed %d: %v: satisfied by every choice of %v: %v", seed, c, choices, holds)
			}
			if holds {
				satisfied++
			} else {
				violated++
			}
			if cut := cutOff(w.whole.Summary); holds && !c.Satisfied(cut, nil) {
				searched++
			}
		}
	}
	if satisfied < 300 || violated < 300 || searched < 50 {
		t.Errorf("%d classes satisfied a diversity, %d violated one, %d by what persons have in common: nothing is tested", satisfied, violated, searched)
	}
}

// cutOff has as many persons of the most frequent values as there are.
func cutOff(s privacy.Summary) privacy.Summary {
	var counts []int
	for _, n := range s.Sensitive[0] {
		counts = append(counts, n)
	}
	slices.SortFunc(counts, func(a, b int) int { return b - a })
	cut, left := privacy.NewSummary(1), s.Records
	for code, n := range counts {
		for range min(n, left) {
			cut.Add([]uint32{uint32(code)})
		}
		left -= min(n, left)
	}
	return cut
}

// TestChronicDiseases: values that most persons have collapse no class in which somebody
// has none of them; one that everybody has does, whatever else they have.
func TestChronicDiseases(t *testing.T) {
	t.Parallel()
	s := privacy.NewSubjectSummary(1)
	for person := range uint32(1000) {
		rare := false
		for disease, share := range []uint32{63, 50, 40} {
			if person*(7+4*uint32(disease))%100 < share {
				s.AddOf(person, []uint32{uint32(disease)})
				rare = true
			}
		}
		if !rare || person%3 == 0 {
			s.AddOf(person, []uint32{3 + person%77})
		}
	}
	for _, c := range []privacy.Constraint{
		privacy.DistinctDiversity{L: 3, Name: "diagnosis"},
		privacy.DistinctDiversity{L: 4, Name: "diagnosis"},
		privacy.EntropyDiversity{L: 2, Name: "diagnosis"},
		privacy.RecursiveDiversity{C: 8, L: 3, Name: "diagnosis"},
	} {
		if !c.Satisfied(s, nil) {
			t.Errorf("%v", c.Feasible(s))
		}
		if reserve := (privacy.ConstraintSet{c}).Reserve(s); reserve < 1 {
			t.Errorf("%v: no reserve of 1,000 persons", c)
		}
	}
	for person := range uint32(1000) {
		s.AddOf(person, []uint32{999})
	}
	for _, c := range []struct {
		privacy.Constraint
		why string
	}{
		{privacy.DistinctDiversity{L: 3, Name: "diagnosis"}, "distinct 3-diversity of diagnosis cannot hold: the table has 81 values of 1000 persons, the most frequent is held by all of them, and everybody has one of 1; l can be 1 at the most"},
		{privacy.EntropyDiversity{L: 2, Name: "diagnosis"}, "entropy 2-diversity of diagnosis cannot hold: the table has 81 values of 1000 persons, the most frequent is held by all of them; some choice of one value for each has less entropy than log 2"},
		{privacy.RecursiveDiversity{C: 8, L: 3, Name: "diagnosis"}, "recursive (8,3)-diversity of diagnosis cannot hold: the table has 81 values of 1000 persons, the most frequent is held by all of them, and 2 values together by all of them; those who have none of these are too few compared with those who have one of them"},
	} {
		if err := c.Feasible(s); err == nil || err.Error() != c.why {
			t.Errorf("%v\n%s expected", err, c.why)
		}
	}
}

// TestSearches: choices that are found only after more frequent values were passed over.
func TestSearches(t *testing.T) {
	t.Parallel()
	const a, b, c, d, e, f = 0, 1, 2, 3, 4, 5
	for name, test := range map[string]struct {
		persons    [][]uint32
		constraint privacy.Constraint
	}{
		// With a for all who have it, the places hold 5, 4, 2 and 1; without it 4 each.
		"the most frequent value in no place": {
			[][]uint32{{b}, {b}, {b}, {b}, {a, c}, {a, c}, {a, c}, {a, d}, {a, d}, {c}, {d}, {d}},
			privacy.EntropyDiversity{L: 3.2},
		},
		// Everybody has a or d. Of the two that the seventh person has, c is the more frequent.
		"the less frequent of a person's values": {
			[][]uint32{{a, 6, 7}, {a, 8, 9}, {a, 10, 11}, {a, 12, 13}, {a, c, 14}, {a, c, 15}, {c, d}, {d, e, f}},
			privacy.DistinctDiversity{L: 3},
		},
	} {
		table := privacy.NewSubjectSummary(1)
		for person, codes := range test.persons {
			for _, code := range codes {
				table.AddOf(uint32(person), []uint32{code})
			}
		}
		if test.constraint.Satisfied(table, nil) {
			t.Errorf("%s: %v holds", name, test.constraint)
		}
	}
}

// TestShareIsRoundedDown: an explanation does not say that more have a value than do.
func TestShareIsRoundedDown(t *testing.T) {
	t.Parallel()
	table := privacy.NewSubjectSummary(1)
	for person, code := range []uint32{1, 1, 2} {
		table.AddOf(uint32(person), []uint32{code})
	}
	table.AddOf(0, []uint32{3})
	if err := (privacy.DistinctDiversity{L: 3}).Feasible(table); err == nil || !strings.Contains(err.Error(), "held by 66.66 % of them") {
		t.Error(err)
	}
}

// TestReserve: as many changes as a table has in reserve do not make it infeasible.
func TestReserve(t *testing.T) {
	t.Parallel()
	kept := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 5))
		s := privacy.NewSubjectSummary(1)
		type record struct{ person, code uint32 }
		var records []record
		for person := range uint32(200) {
			for range 1 + random.IntN(3) {
				records = append(records, record{person, min(random.Uint32N(8), random.Uint32N(8))})
			}
		}
		for _, r := range records {
			s.AddOf(r.person, []uint32{r.code})
		}
		set := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, []privacy.Constraint{
			privacy.DistinctDiversity{L: 2 + int(seed%4)},
			privacy.EntropyDiversity{L: 1.2 + float64(seed%5)/3},
			privacy.RecursiveDiversity{C: 1 + float64(seed%4), L: 2 + int(seed%2)},
			privacy.AlphaBound{Alpha: 0.5 + float64(seed%5)/10},
		}[seed%4]}
		reserve := set.Reserve(s)
		if reserve == 0 {
			continue
		}
		kept++
		for i := range reserve { // everybody who changes has the most frequent value alone
			at := -1
			for j, r := range records {
				if r.code != 0 && (at < 0 || random.IntN(4) == 0) {
					at = j
				}
			}
			if i%2 == 0 && at >= 0 {
				s.RemoveOf(records[at].person, []uint32{records[at].code})
				records = append(records[:at], records[at+1:]...)
			} else {
				s.AddOf(1000+uint32(i), []uint32{0})
			}
			if err := set.Feasible(s); err != nil {
				t.Fatalf("seed %d: after %d of %d changes: %v", seed, i+1, reserve, err)
			}
		}
	}
	if kept < 50 {
		t.Errorf("only %d tables had a reserve", kept)
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

// TestSubjectsAndValuesApart: persons and their values that are counted one by one are what they are
// when they are counted together.
func TestSubjectsAndValuesApart(t *testing.T) {
	t.Parallel()
	together, apart := privacy.NewSubjectSummary(1), privacy.NewSubjectSummary(1)
	for subject := range uint32(6) {
		for code := range 1 + subject%3 {
			together.AddOf(subject, []uint32{code})
			apart.AddValueOf(subject, 0, code)
		}
		apart.AddSubject(subject)
	}
	if apart.Records != 6 || together.Records != 6 || !maps.Equal(apart.Sensitive[0], together.Sensitive[0]) {
		t.Errorf("%v, and %v where they are counted one by one", together, apart)
	}
}
