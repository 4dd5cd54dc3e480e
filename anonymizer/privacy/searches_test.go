package privacy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// several draws persons each of whom has several values of so many.
func several(random *rand.Rand, persons, each, values int) anonymizertest.Group {
	g := anonymizertest.Group{Sensitive: [][]uint32{nil}}
	for person := range uint32(persons) {
		for range 1 + random.IntN(each) {
			g.Subjects = append(g.Subjects, person)
			g.Sensitive[0] = append(g.Sensitive[0], min(random.Uint32N(uint32(values)), random.Uint32N(uint32(values))))
			g.Records++
		}
	}
	return g
}

// TestPersonsWithManyValues: diversities are what all choices of one value for each person
// say, where the counts of values alone say little.
func TestPersonsWithManyValues(t *testing.T) {
	t.Parallel()
	outcomes := map[string]int{}
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 23))
		g := several(random, 3+random.IntN(10), 4, 3+random.IntN(7))
		class := summarize(g)
		for _, c := range []privacy.Constraint{
			privacy.DistinctDiversity{L: 2 + random.IntN(4)},
			privacy.EntropyDiversity{L: 1 + float64(random.IntN(20))/8},
			privacy.RecursiveDiversity{C: []float64{0.5, 1, 2, 3, 5, 9}[random.IntN(6)], L: 1 + random.IntN(5)},
		} {
			want := anonymizertest.CheckConstraints(g, g, privacy.ConstraintSet{c}) == nil
			if got := c.Satisfied(class, nil); got != want {
				t.Fatalf("seed %d: %v is %v, %v expected, of %v", seed, c, got, want, g)
			}
			what := strings.Fields(c.String())[0]
			if want && !c.Satisfied(cutOff(class), nil) {
				outcomes[what+" satisfied by what is searched"]++
			}
			if !want && len(class.Sensitive[0]) >= c.MinRecords() {
				outcomes[what+" violated"]++
			}
		}
	}
	for _, what := range []string{"distinct", "entropy", "recursive"} {
		for _, outcome := range []string{" satisfied by what is searched", " violated"} {
			if outcomes[what+outcome] < 40 {
				t.Errorf("%d times %s%s: nothing is tested", outcomes[what+outcome], what, outcome)
			}
		}
	}
}

// entangled has so many persons with five of sixty values each.
func entangled(persons uint32) privacy.Summary {
	random := rand.New(rand.NewPCG(1, 1))
	table := privacy.NewSubjectSummary(1)
	for person := range persons {
		for range 5 {
			table.AddOf(person, []uint32{random.Uint32N(60)})
		}
	}
	return table
}

// TestSearchGivenUp: where persons have so many values that no search ends in time, the table
// counts as one that violates, and the reason says so. It does not while hundreds of
// thousands of steps are enough.
func TestSearchGivenUp(t *testing.T) {
	t.Parallel()
	many, few := entangled(150), entangled(100)
	for _, c := range []privacy.Constraint{
		privacy.DistinctDiversity{L: 16, Name: "diagnosis"},
		privacy.EntropyDiversity{L: 14, Name: "diagnosis"},
		privacy.RecursiveDiversity{C: 1, L: 12, Name: "diagnosis"},
	} {
		err := c.Feasible(many)
		want := c.String() + " cannot be shown to hold: persons have too many values in too many combinations to tell in reasonable time"
		if err == nil || err.Error() != want {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, c := range []privacy.Constraint{privacy.DistinctDiversity{L: 12}, privacy.EntropyDiversity{L: 10.6}, privacy.RecursiveDiversity{C: 1, L: 10}} {
		if err := c.Feasible(few); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}
