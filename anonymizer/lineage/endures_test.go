package lineage

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// classOf is a class whose rows show one sensitive value each: of the person whose number is
// the index.
func classOf(persons ...[]uint32) *class {
	c := &class{}
	for person, codes := range persons {
		for _, code := range codes {
			c.rows = append(c.rows, row{slot: int32(len(c.rows)), person: uint32(person)})
			c.codes = append(c.codes, code)
		}
	}
	return c
}

// TestPartOfPersonsWithSeveralRows holds parts of a class against constraints that count
// shares: where a person has two rows, the rows of a value are more than its persons, and it
// is not known which parts of as many persons satisfy the constraint. Such a class is not
// cut, however many different values the most frequent ones are.
func TestPartOfPersonsWithSeveralRows(t *testing.T) {
	t.Parallel()
	const a, b, c = 0, 1, 2
	once := classOf([]uint32{a}, []uint32{b}, []uint32{a}, []uint32{b}, []uint32{c}, []uint32{c})
	twice := classOf([]uint32{a, b}, []uint32{a}, []uint32{b}, []uint32{c}, []uint32{c})
	for name, constraint := range map[string]privacy.Constraint{
		"entropy":   privacy.EntropyDiversity{L: 1.5, Name: "s"},
		"recursive": privacy.RecursiveDiversity{L: 2, C: 3, Name: "s"},
	} {
		constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, constraint}
		l := &Lineage{constraints: constraints, k: 2, sensitive: 1, options: Options{Subjects: true}}
		// Four persons, two of each value: as good as any four persons' values are.
		part := privacy.NewSubjectSummary(1)
		for person, code := range []uint32{a, b, a, b} {
			part.AddOf(uint32(person), []uint32{code})
		}
		if !l.endures(once, part) {
			t.Errorf("%s: a class in which each person has one row does not endure", name)
		}
		if l.endures(twice, part) {
			t.Errorf("%s: a class in which one person has two rows endures", name)
		}
	}
	// Different values are counted one by one: two rows of one person make no case worse.
	l := &Lineage{constraints: privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2, Name: "s"}}, k: 2, sensitive: 1, options: Options{Subjects: true}}
	part := privacy.NewSubjectSummary(1)
	for person, code := range []uint32{a, b, c} {
		part.AddOf(uint32(person), []uint32{code})
	}
	if !l.endures(twice, part) {
		t.Error("distinct values: a class in which one person has two rows does not endure")
	}
}

// TestWorst has persons with the most frequent values, all of whom one value or another has.
func TestWorst(t *testing.T) {
	t.Parallel()
	whole := privacy.NewSummary(2)
	for i, code := range []uint32{7, 7, 7, 8, 8, 9} {
		whole.Add([]uint32{uint32(i), code})
	}
	for persons, want := range [][]int{{}, {1}, {2}, {3}, {3, 1}, {3, 2}, {3, 2, 1}} {
		s := worst(whole, 1, persons)
		got := []int{}
		for code := range uint32(len(s.Sensitive[1])) {
			got = append(got, s.Sensitive[1][code])
		}
		if s.Records != persons || !slices.Equal(got, want) || len(s.Sensitive[0]) > 0 {
			t.Errorf("of %d persons, %v have each value, %v expected", persons, got, want)
		}
	}
}
