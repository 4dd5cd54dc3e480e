package privacy_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// figures are the numbers that a text has in the places of a pattern's groups; nil where
// it does not match.
func figures(t *testing.T, pattern, text string) []float64 {
	t.Helper()
	var found []float64
	for i, group := range regexp.MustCompile(pattern).FindStringSubmatch(text) {
		if i == 0 {
			continue
		}
		if group == "all" {
			group = "100"
		}
		x, err := strconv.ParseFloat(strings.TrimSuffix(group, " %"), 64)
		if err != nil {
			t.Fatalf("%q has no number in the place of %q", text, pattern)
		}
		found = append(found, x)
	}
	return found
}

// reasoned is a table, and how its figures are counted one by one.
type reasoned struct {
	t     *testing.T
	table privacy.Summary
	held  map[uint32]uint64 // of each value: the set of the persons who have it
}

// reason draws a table, of a few persons who may have several values each or of records.
func reason(t *testing.T, seed uint64) reasoned {
	random := rand.New(rand.NewPCG(seed, 17))
	r := reasoned{t: t, table: privacy.NewSummary(1), held: map[uint32]uint64{}}
	persons, values, subjects := 1+random.Uint32N(14), 1+random.Uint32N(7), seed%2 == 0
	for person := range persons {
		for range 1 + random.IntN(3) {
			code := min(random.Uint32N(values), random.Uint32N(values))
			if r.held[code] |= 1 << person; subjects {
				r.table.AddOf(person, []uint32{code})
				continue
			}
			r.table.Add([]uint32{code})
			break
		}
	}
	return r
}

// widest is how many persons have one of so many values, for the values that most have one of.
func (r reasoned) widest(values int) int {
	sets := []uint64{0}
	for _, persons := range r.held {
		for _, set := range sets[:len(sets):len(sets)] {
			sets = append(sets, set|persons) // of each choice of values, in order of their bits
		}
	}
	most := 0
	for choice, set := range sets {
		if bits.OnesCount(uint(choice)) <= values {
			most = max(most, bits.OnesCount64(set))
		}
	}
	return most
}

// remedied checks that one constraint can hold, and that another one cannot.
func (r reasoned) remedied(err error, can, cannot privacy.Constraint) {
	r.t.Helper()
	if err := can.Feasible(r.table); err != nil {
		r.t.Fatalf("%v: %v, said of %v", err, can, r.table)
	}
	if cannot.Feasible(r.table) == nil {
		r.t.Fatalf("%v: %v can hold as well, said of %v", err, cannot, r.table)
	}
}

// share checks that a share in percent is that of so many persons: hardly less, and not that much more.
func (r reasoned) share(err error, percent float64, persons int, above float64) {
	r.t.Helper()
	if exact := 100 * float64(persons) / float64(r.table.Records); percent > exact+above || percent < exact-0.01 {
		r.t.Fatalf("%v: %v %%, though it is %v %% of %v", err, percent, exact, r.table)
	}
}

// values checks what is said of a table of persons with several values, and of so many values
// that are had together.
func (r reasoned) values(err error, together int) {
	r.t.Helper()
	const of = `the table has (\d+) values of (\d+) persons, the most frequent is held by (all|[\d.]+ %) of them`
	said := figures(r.t, of, err.Error())
	if said == nil || int(said[0]) != len(r.held) || int(said[1]) != r.table.Records {
		r.t.Fatalf("%v, said of %v", err, r.table)
	}
	r.share(err, said[2], r.widest(1), 1e-9)
	if together > 1 {
		said = figures(r.t, `and (\d+) values together by (all|[\d.]+ %) of them`, err.Error())
		if said == nil || int(said[0]) != together {
			r.t.Fatalf("%v: nothing of %d values together", err, together)
		}
		r.share(err, said[1], r.widest(together), 1e-9)
	}
}

// TestRemedies: the figures of an explanation are those of the table, and the bound that it
// names is the strictest that can hold.
func TestRemedies(t *testing.T) {
	t.Parallel()
	said := map[string]int{}
	for seed := range uint64(3000) {
		r := reason(t, seed)
		random := rand.New(rand.NewPCG(seed, 18))
		l := random.IntN(8)
		c := []float64{0.1, 0.5, 1, 2, 3}[random.IntN(5)]
		if err := (privacy.KAnonymity{K: l}).Feasible(r.table); err != nil {
			said["k"]++
			r.remedied(err, privacy.KAnonymity{K: int(figures(t, `the table has (\d+)`, err.Error())[0])}, privacy.KAnonymity{K: l})
		}
		for what, err := range map[string]error{
			"alpha": r.alpha(random), "distinct": r.distinct(l), "entropy": r.entropy(float64(l) + random.Float64()), "recursive": r.recursive(c, l),
		} {
			if err != nil {
				said[what]++
			}
		}
	}
	for _, what := range []string{"k", "alpha", "distinct", "entropy", "recursive"} {
		if said[what] < 200 {
			t.Errorf("%d explanations of %s: nothing is tested", said[what], what)
		}
	}
}

func (r reasoned) alpha(random *rand.Rand) error {
	c := privacy.AlphaBound{Alpha: float64(1+random.IntN(19)) / 20}
	if random.IntN(2) == 0 {
		c.Values = []uint32{0, 2}
	}
	err := c.Feasible(r.table)
	if err == nil {
		return nil
	}
	most := 0
	for code, persons := range r.held {
		if c.Binds(code) {
			most = max(most, bits.OnesCount64(persons))
		}
	}
	r.share(err, figures(r.t, `makes up ([\d.]+) % of`, err.Error())[0], most, 0.005)
	remedy, low := c, c
	remedy.Alpha = figures(r.t, `alpha can be ([\d.]+) at the least`, err.Error())[0]
	low.Alpha = remedy.Alpha - 0.0001
	r.remedied(err, remedy, low)
	return err
}

func (r reasoned) distinct(l int) error {
	err := privacy.DistinctDiversity{L: l}.Feasible(r.table)
	if err == nil {
		return nil
	}
	if said := figures(r.t, `needs (\d+) distinct values and the table has (\d+)$`, err.Error()); said != nil {
		if int(said[0]) != l || int(said[1]) != len(r.held) || l <= len(r.held) {
			r.t.Fatalf("%v, said of %v", err, r.table)
		}
		return err
	}
	r.values(err, 1)
	said := figures(r.t, `everybody has one of (\d+); l can be (\d+) at the most`, err.Error())
	least := int(said[0])
	if said[0] != said[1] || r.widest(least) != r.table.Records || r.widest(least-1) == r.table.Records {
		r.t.Fatalf("%v, said of %v", err, r.table)
	}
	r.remedied(err, privacy.DistinctDiversity{L: least}, privacy.DistinctDiversity{L: least + 1})
	return err
}

func (r reasoned) entropy(l float64) error {
	err := privacy.EntropyDiversity{L: l}.Feasible(r.table)
	if err == nil {
		return nil
	}
	said := figures(r.t, `l can be ([\d.]+) at the most`, err.Error())
	if said == nil {
		r.values(err, 1)
		return err
	}
	r.remedied(err, privacy.EntropyDiversity{L: said[0]}, privacy.EntropyDiversity{L: said[0] + 0.0011})
	return err
}

func (r reasoned) recursive(c float64, l int) error {
	err := privacy.RecursiveDiversity{C: c, L: l}.Feasible(r.table)
	if err == nil {
		return nil
	}
	if said := figures(r.t, `needs (\d+) distinct values and the whole table has (\d+);`, err.Error()); said != nil {
		if int(said[0]) != l || int(said[1]) != len(r.held) || l <= len(r.held) {
			r.t.Fatalf("%v, said of %v", err, r.table)
		}
		return err
	}
	said := figures(r.t, `c must be above ([\d.]+)$`, err.Error())
	if said == nil {
		r.values(err, l-1)
		return err
	}
	r.remedied(err, privacy.RecursiveDiversity{C: said[0] + 1e-9, L: l}, privacy.RecursiveDiversity{C: math.Max(0, said[0]-0.0001), L: l})
	return err
}
