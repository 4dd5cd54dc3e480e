package lineage

import (
	"math/bits"
	"math/rand/v2"
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
		l := &rules{constraints: constraints, k: 2, sensitive: 1, subjects: true}
		// Four persons, two of each value: as good as any four persons' values are.
		part := privacy.NewSubjectSummary(1)
		for person, code := range []uint32{a, b, a, b} {
			part.AddOf(uint32(person), []uint32{code})
		}
		if !l.safe(once, part) {
			t.Errorf("%s: a class in which each person has one row is not safe", name)
		}
		if l.safe(twice, part) {
			t.Errorf("%s: a class in which one person has two rows is safe", name)
		}
	}
	// Different values are counted one by one: two rows of one person make no case worse.
	l := &rules{constraints: privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2, Name: "s"}}, k: 2, sensitive: 1, subjects: true}
	part := privacy.NewSubjectSummary(1)
	for person, code := range []uint32{a, b, c} {
		part.AddOf(uint32(person), []uint32{code})
	}
	if !l.safe(twice, part) {
		t.Error("distinct values: a class in which one person has two rows is not safe")
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

// TestSafeWhoeverItIs: a part of a class whose persons have one row each endures exactly if
// every choice of as many persons satisfies the constraints; where persons have several rows,
// only if.
func TestSafeWhoeverItIs(t *testing.T) {
	t.Parallel()
	safe, not, several := 0, 0, 0
	for seed := range uint64(4000) {
		random := rand.New(rand.NewPCG(seed, 41))
		persons := 2 + random.IntN(7)
		c, rows := &class{}, persons
		if seed%3 == 0 {
			rows += random.IntN(3)
		}
		for i := range rows {
			person := uint32(i)
			if i >= persons {
				person = random.Uint32N(uint32(persons))
			}
			c.rows = append(c.rows, row{slot: int32(i), person: person})
			c.codes = append(c.codes, random.Uint32N(5), min(random.Uint32N(4), random.Uint32N(4)))
		}
		k := 1 + random.IntN(3)
		set := privacy.ConstraintSet{privacy.KAnonymity{K: k}, someConstraint(random)}
		if random.IntN(3) == 0 {
			set = append(set, someConstraint(random))
		}
		l := &rules{constraints: set, k: set.K(), sensitive: 2, subjects: seed%2 == 0 || rows > persons}
		of := func(choice uint) privacy.Summary {
			in, _ := l.summarize(c, func(r row) bool { return choice>>r.person&1 == 1 })
			return in
		}
		part := uint(random.IntN(1 << persons))
		every := true
		for choice := range uint(1) << persons {
			if bits.OnesCount(choice) == bits.OnesCount(part) {
				every = every && set.Satisfied(of(choice), nil)
			}
		}
		got := l.safe(c, of(part))
		if got && !every || !got && every && rows == persons {
			t.Fatalf("seed %d: %b of %+v %v is safe under %v: %v, %v expected", seed, part, c.rows, c.codes, set, got, every)
		}
		switch {
		case got && rows > persons:
			several++
		case got:
			safe++
		default:
			not++
		}
	}
	if safe < 300 || not < 300 || several < 30 {
		t.Errorf("%d parts are safe, %d of persons with several rows, %d are not: nothing is tested", safe, several, not)
	}
}

// someConstraint draws one that classes can keep.
func someConstraint(random *rand.Rand) privacy.Constraint {
	a := random.IntN(2)
	c := []privacy.Constraint{
		privacy.DistinctDiversity{L: 1 + random.IntN(3), Attribute: a},
		privacy.EntropyDiversity{L: 1 + random.Float64(), Attribute: a},
		privacy.RecursiveDiversity{L: 1 + random.IntN(3), C: float64(1+random.IntN(6)) / 2, Attribute: a},
		privacy.AlphaBound{Alpha: float64(2+random.IntN(9)) / 10, Attribute: a},
		privacy.AlphaBound{Alpha: float64(2+random.IntN(9)) / 10, Attribute: a, Values: []uint32{0, 3}},
		privacy.KAnonymity{K: 1 + random.IntN(4), Over: []int{0}},
	}[random.IntN(6)]
	if _, size := c.(privacy.KAnonymity); !size && random.IntN(4) == 0 {
		return privacy.Restricted{Constraint: c, Over: []int{1}}
	}
	return c
}
