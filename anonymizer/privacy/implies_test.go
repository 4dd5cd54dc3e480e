package privacy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// randomSpec is a constraint of a model over the attributes of a small table.
func randomSpec(r *rand.Rand, model privacy.Model) privacy.Spec {
	s := privacy.Spec{Model: model, Of: "diagnosis"}
	share := float64(1+r.IntN(9)) / 10
	switch model {
	case privacy.K:
		s.Of, s.K = "", 1+r.IntN(6)
	case privacy.DistinctL, privacy.EntropyL:
		s.L = float64(1 + r.IntN(4))
	case privacy.RecursiveCL:
		s.L, s.C = float64(1+r.IntN(3)), 4*share
	case privacy.AlphaK:
		s.Alpha = share
	case privacy.TClose:
		s.T = share
	case privacy.BetaLike:
		s.Beta, s.Enhanced = 4*share, r.IntN(2) == 0
	case privacy.DeltaDisclosure:
		s.Delta = 4 * share
	}
	return s
}

// TestImpliedConstraintsHold: in whatever class a constraint holds, so do those that it implies, and
// what is stricter in any respect is not implied.
func TestImpliedConstraintsHold(t *testing.T) {
	t.Parallel()
	implied := map[privacy.Model]int{}
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 1))
		model := privacy.Model(r.IntN(int(privacy.DeltaDisclosure) + 1))
		one, other := randomSpec(r, model), randomSpec(r, model)
		if !one.Implies(other) {
			continue
		}
		values := privacy.NewDictionary()
		schema := privacy.Schema{Attributes: []string{"age"}, Sensitive: []privacy.Sensitive{{Name: "diagnosis", Values: values}}}
		all, class := privacy.NewSummary(1), privacy.NewSummary(1)
		for range 2 + r.IntN(12) {
			code := []uint32{values.Code(string(rune('a' + r.IntN(1+r.IntN(5)))))}
			all.Add(code)
			if r.IntN(3) > 0 {
				class.Add(code)
			}
		}
		holds := func(s privacy.Spec) bool {
			c, err := privacy.New(s, schema)
			if err != nil {
				t.Fatal(err)
			}
			return class.Records > 0 && c.Satisfied(class, privacy.NewPopulation(all))
		}
		if !holds(one) {
			continue
		}
		implied[model]++
		if !holds(other) {
			t.Fatalf("seed %d: %v holds in %v of %v, and %v, which it implies, does not", seed, one, class, all, other)
		}
	}
	for model := privacy.K; model <= privacy.DeltaDisclosure; model++ {
		if implied[model] < 20 {
			t.Errorf("%v was compared %d times", model, implied[model])
		}
	}
}

func TestImplicationNeedsTheSameSubject(t *testing.T) {
	t.Parallel()
	base := privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "diagnosis", Over: []string{"age", "zip"}, Values: []string{"flu"}}
	for name, test := range map[string]struct {
		change func(*privacy.Spec)
		want   bool
	}{
		"the same":           {func(*privacy.Spec) {}, true},
		"in another order":   {func(s *privacy.Spec) { s.Over = []string{"zip", "age"} }, true},
		"looser":             {func(s *privacy.Spec) { s.Alpha = 0.6 }, true},
		"stricter":           {func(s *privacy.Spec) { s.Alpha = 0.4 }, false},
		"of another column":  {func(s *privacy.Spec) { s.Of = "drug" }, false},
		"over fewer columns": {func(s *privacy.Spec) { s.Over = []string{"age"} }, false},
		"over all columns":   {func(s *privacy.Spec) { s.Over = nil }, false},
		"of other values":    {func(s *privacy.Spec) { s.Values = []string{"gout"} }, false},
		"of all values":      {func(s *privacy.Spec) { s.Values = nil }, false},
		"another model":      {func(s *privacy.Spec) { *s = privacy.Spec{Model: privacy.K, K: 1} }, false},
		"another distance":   {func(s *privacy.Spec) { s.Distance = privacy.OrderedDistance }, false},
	} {
		other := base
		test.change(&other)
		if got := base.Implies(other); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
