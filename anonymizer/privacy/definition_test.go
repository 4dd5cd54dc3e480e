package privacy_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// world is a random table of one sensitive attribute.
type world struct {
	random  *rand.Rand
	group   anonymizertest.Group
	whole   *privacy.Population
	ordered *privacy.Scale
	tree    *privacy.Scale
	null    uint32
}

var taxonomy = hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: []hierarchy.Node{
	{Label: "low", Children: []hierarchy.Node{{Label: "0"}, {Label: "1"}, {Label: "least", Children: []hierarchy.Node{{Label: "2"}, {Label: "3"}}}}},
	{Label: "high", Children: []hierarchy.Node{{Label: "4"}, {Label: "5"}}},
}}

func newWorld(t testing.TB, seed uint64, records, values int, subjects bool) *world {
	t.Helper()
	w := &world{random: rand.New(rand.NewPCG(seed, 7))}
	dictionary := privacy.NewDictionary()
	codes := make([]uint32, values)
	for i, place := range w.random.Perm(values) {
		codes[i] = dictionary.Code(strconv.Itoa(place))
	}
	w.null = dictionary.Null()
	codes[0] = w.null
	for range records {
		w.group.Sensitive = [][]uint32{append(first(w.group.Sensitive), codes[min(w.random.IntN(values), w.random.IntN(values))])}
		if subjects {
			w.group.Subjects = append(w.group.Subjects, w.random.Uint32N(uint32(records)*2/3+1))
		}
	}
	w.group.Records = records
	w.whole = privacy.NewPopulation(summarize(w.group))
	numbers := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}
	w.ordered = privacy.NewScale(dictionary, workload.Attribute("n", numbers).Hierarchy)
	w.tree = privacy.NewScale(dictionary, workload.Attribute("c", taxonomy).Hierarchy)
	return w
}

func first(columns [][]uint32) []uint32 {
	if len(columns) == 0 {
		return nil
	}
	return columns[0]
}

func summarize(g anonymizertest.Group) privacy.Summary {
	s := privacy.NewSummary(1)
	for i, code := range g.Sensitive[0] {
		if g.Subjects != nil {
			s.AddOf(g.Subjects[i], []uint32{code})
		} else {
			s.Add([]uint32{code})
		}
	}
	return s
}

// pick takes the records with such numbers.
func (w *world) pick(records []int) anonymizertest.Group {
	g := anonymizertest.Group{Records: len(records), Sensitive: [][]uint32{nil}}
	for _, r := range records {
		g.Sensitive[0] = append(g.Sensitive[0], w.group.Sensitive[0][r])
		if w.group.Subjects != nil {
			g.Subjects = append(g.Subjects, w.group.Subjects[r])
		}
	}
	return g
}

// oneOf draws a parameter; round ones are where classes stand at the bound.
func (w *world) oneOf(bounds ...float64) float64 { return bounds[w.random.IntN(len(bounds))] }

// constraints draws one of each model.
func (w *world) constraints() privacy.ConstraintSet {
	distance := func(d privacy.Distance, s *privacy.Scale) privacy.TCloseness {
		return privacy.TCloseness{T: w.oneOf(0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 1), Name: "s", Distance: d, Scale: s}
	}
	bounded := privacy.AlphaBound{Alpha: w.oneOf(0.1, 0.2, 0.25, 0.3, 0.5), Values: []uint32{1, w.null}, Name: "s"}
	return privacy.ConstraintSet{
		privacy.KAnonymity{K: w.random.IntN(8)},
		privacy.DistinctDiversity{L: w.random.IntN(5), Name: "s"},
		privacy.EntropyDiversity{L: w.oneOf(0.5, 1, 1.5, 2, 2.5, 3, 4), Name: "s"},
		privacy.RecursiveDiversity{C: w.oneOf(0.5, 1, 1.5, 2, 3), L: w.random.IntN(4), Name: "s"},
		privacy.AlphaBound{Alpha: w.oneOf(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 1), Name: "s"},
		bounded,
		distance(privacy.EqualDistance, nil), distance(privacy.OrderedDistance, w.ordered), distance(privacy.HierarchicalDistance, w.tree),
		privacy.BetaLikeness{Beta: w.oneOf(0.2, 0.5, 1, 1.5, 2), Name: "s"},
		privacy.BetaLikeness{Beta: w.oneOf(0.5, 1, 1.5, 4), Enhanced: true, Name: "s"},
		privacy.DeltaDisclosurePrivacy{Delta: w.oneOf(0.3, 0.5, 1, 2), Name: "s"},
	}
}

// TestAgreesWithDefinitions: the constraints decide as the definitions do.
func TestAgreesWithDefinitions(t *testing.T) {
	t.Parallel()
	satisfied, total := map[string]int{}, map[string]int{}
	for seed := range uint64(3000) {
		records := 1 + int(seed%40)
		w := newWorld(t, seed, records, 2+int(seed%6), seed%3 == 0)
		class := w.pick(w.random.Perm(records)[:w.random.IntN(records+1)])
		if seed%50 == 0 {
			class.Sensitive[0] = append(class.Sensitive[0], 1000+uint32(seed)) // the table lacks it
			class.Records++
			if class.Subjects != nil {
				class.Subjects = append(class.Subjects, 0)
			}
		}
		summary := summarize(class)
		whole := w.group
		if seed%2 == 1 {
			whole = whole.Counted()
		}
		for i, c := range w.constraints() {
			want := anonymizertest.CheckConstraints(class, whole, privacy.ConstraintSet{c}) == nil
			got := c.Satisfied(summary, w.whole)
			if got != want {
				t.Fatalf("seed %d: %v is %v for %v of %v, %v expected", seed, c, got, class, w.group, want)
			}
			if got && summary.Records < c.MinRecords() {
				t.Fatalf("seed %d: %v holds for %d records, below its %d", seed, c, summary.Records, c.MinRecords())
			}
			key := strconv.Itoa(i)
			total[key]++
			if got {
				satisfied[key]++
			}
		}
	}
	for key, n := range total {
		if share := float64(satisfied[key]) / float64(n); share < 0.02 || share > 0.98 {
			t.Errorf("constraint %s holds for a share of %v: nothing is tested", key, share)
		}
	}
}

// TestUnions: two classes without a common subject that satisfy a constraint do
// so together, and where no division can, Feasible says it.
func TestUnions(t *testing.T) {
	t.Parallel()
	both := 0
	for seed := range uint64(4000) {
		records := 2 + int(seed%30)
		w := newWorld(t, seed, records, 2+int(seed%6), seed%3 == 0)
		order := w.random.Perm(records)
		cut := 1 + w.random.IntN(records-1)
		left, right := w.pick(order[:cut]), w.pick(order[cut:])
		for i := range right.Subjects {
			right.Subjects[i] += 1000
		}
		everybody := anonymizertest.Group{
			Records: records, Sensitive: [][]uint32{append(append([]uint32{}, left.Sensitive[0]...), right.Sensitive[0]...)},
		}
		if w.group.Subjects != nil {
			everybody.Subjects = append(append([]uint32{}, left.Subjects...), right.Subjects...)
		}
		whole, union := privacy.NewPopulation(summarize(everybody)), summarize(left)
		union.Merge(summarize(right))
		for _, c := range w.constraints() {
			alone := c.Satisfied(summarize(left), whole) && c.Satisfied(summarize(right), whole)
			if !alone {
				continue
			}
			both++
			if !c.Satisfied(union, whole) {
				t.Fatalf("seed %d: %v holds for %v and %v, not together", seed, c, left, right)
			}
			if err := c.Feasible(whole.Summary); err != nil {
				t.Fatalf("seed %d: %v holds for %v and %v: %v", seed, c, left, right, err)
			}
		}
	}
	if both < 3000 {
		t.Errorf("%d pairs satisfied a constraint: nothing is tested", both)
	}
}

// TestFeasible: a table is infeasible exactly when it does not satisfy the
// constraint as one class.
func TestFeasible(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		w := newWorld(t, seed, 1+int(seed%20), 2+int(seed%6), seed%3 == 0)
		for _, c := range w.constraints() {
			if err := c.Feasible(w.whole.Summary); (err == nil) != c.Satisfied(w.whole.Summary, w.whole) {
				t.Fatalf("seed %d: %v over %v: %v", seed, c, w.group, err)
			}
			if c.Feasible(privacy.NewSummary(0)) != nil || c.Feasible(privacy.NewSummary(1)) != nil || c.Satisfied(privacy.NewSummary(1), w.whole) {
				t.Fatalf("%v: no records are infeasible, or a class", c)
			}
		}
	}
}

// TestNothingToCompare: what is missing is refused and does not crash.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 20, 5, false)
	class := summarize(w.pick([]int{0, 1, 2}))
	for _, c := range []privacy.Constraint{
		privacy.TCloseness{T: 1}, privacy.BetaLikeness{Beta: 100}, privacy.DeltaDisclosurePrivacy{Delta: 100},
	} {
		if c.Satisfied(class, nil) || c.Satisfied(class, privacy.NewPopulation(privacy.NewSummary(1))) || c.Satisfied(class, privacy.NewPopulation(privacy.NewSummary(0))) {
			t.Errorf("%v holds without a table to compare with", c)
		}
	}
	for _, attribute := range []int{-1, 1} {
		for _, c := range []privacy.Constraint{
			privacy.DistinctDiversity{Attribute: attribute},
			privacy.EntropyDiversity{Attribute: attribute},
			privacy.RecursiveDiversity{C: 9, Attribute: attribute},
			privacy.AlphaBound{Alpha: 1, Attribute: attribute},
			privacy.TCloseness{T: 1, Attribute: attribute},
			privacy.BetaLikeness{Beta: 100, Attribute: attribute},
			privacy.DeltaDisclosurePrivacy{Delta: 100, Attribute: attribute},
		} {
			if c.Satisfied(class, w.whole) || c.Feasible(w.whole.Summary) == nil {
				t.Errorf("%v holds without its attribute", c)
			}
		}
	}
	unordered := privacy.TCloseness{T: 1, Distance: privacy.OrderedDistance}
	if unordered.Satisfied(class, w.whole) || unordered.Feasible(w.whole.Summary) == nil {
		t.Error("an order is measured without an order")
	}
	for _, x := range []float64{math.NaN(), math.Inf(-1), -1, 0, 1e-300, 1e300, math.Inf(1)} {
		for _, c := range []privacy.Constraint{
			privacy.EntropyDiversity{L: x},
			privacy.RecursiveDiversity{C: x, L: 2},
			privacy.AlphaBound{Alpha: x},
			privacy.TCloseness{T: x},
			privacy.BetaLikeness{Beta: x, Enhanced: true},
			privacy.DeltaDisclosurePrivacy{Delta: x},
		} {
			_, _, _ = c.Satisfied(class, w.whole), c.Feasible(w.whole.Summary), c.MinRecords()
		}
	}
}

// BenchmarkSatisfied is the cost of a check of a small class, next to nothing
// beside the summary of its records.
func BenchmarkSatisfied(b *testing.B) {
	w := newWorld(b, 5, 1000, 6, false)
	class := summarize(w.pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))
	for i, c := range w.constraints() {
		b.Run(strconv.Itoa(i)+"/"+c.String()+"/class=10", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Satisfied(class, w.whole)
			}
		})
	}
}
