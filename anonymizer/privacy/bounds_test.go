package privacy_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// complete are valid specifications, one of each model.
func complete() map[privacy.Model]privacy.Spec {
	const of = "diagnosis"
	return map[privacy.Model]privacy.Spec{
		privacy.K:               {Model: privacy.K, K: 2},
		privacy.DistinctL:       {Model: privacy.DistinctL, L: 2, Of: of},
		privacy.EntropyL:        {Model: privacy.EntropyL, L: 2, Of: of},
		privacy.RecursiveCL:     {Model: privacy.RecursiveCL, L: 2, C: 2, Of: of},
		privacy.AlphaK:          {Model: privacy.AlphaK, Alpha: 0.5, Of: of},
		privacy.TClose:          {Model: privacy.TClose, T: 0.5, Of: of},
		privacy.BetaLike:        {Model: privacy.BetaLike, Beta: 1, Of: of},
		privacy.DeltaDisclosure: {Model: privacy.DeltaDisclosure, Delta: 1, Of: of},
	}
}

// TestParametersOfOtherModels are refused by each model that does not use them.
func TestParametersOfOtherModels(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]struct {
		set    func(*privacy.Spec)
		models []privacy.Model
	}{
		"k":        {func(s *privacy.Spec) { s.K = 3 }, []privacy.Model{privacy.K}},
		"l":        {func(s *privacy.Spec) { s.L = 3 }, []privacy.Model{privacy.DistinctL, privacy.EntropyL, privacy.RecursiveCL}},
		"c":        {func(s *privacy.Spec) { s.C = 3 }, []privacy.Model{privacy.RecursiveCL}},
		"alpha":    {func(s *privacy.Spec) { s.Alpha = 0.3 }, []privacy.Model{privacy.AlphaK}},
		"values":   {func(s *privacy.Spec) { s.Values = []string{"flu"} }, []privacy.Model{privacy.AlphaK}},
		"t":        {func(s *privacy.Spec) { s.T = 0.3 }, []privacy.Model{privacy.TClose}},
		"distance": {func(s *privacy.Spec) { s.Distance = privacy.OrderedDistance }, []privacy.Model{privacy.TClose}},
		"beta":     {func(s *privacy.Spec) { s.Beta = 3 }, []privacy.Model{privacy.BetaLike}},
		"enhanced": {func(s *privacy.Spec) { s.Enhanced = true }, []privacy.Model{privacy.BetaLike}},
		"delta":    {func(s *privacy.Spec) { s.Delta = 3 }, []privacy.Model{privacy.DeltaDisclosure}},
	} {
		for model, spec := range complete() {
			if err := spec.Validate(); err != nil {
				t.Fatalf("%v: %v", model, err)
			}
			p.set(&spec)
			want := model.String() + " takes no " + name + ", which belongs to " + p.models[0].String()
			if err := spec.Validate(); (err == nil) != slices.Contains(p.models, model) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %v: %v", name, model, err)
			}
		}
	}
}

// TestBoundsOfParameters: the least and the greatest value of each are taken, and what is just
// beyond them is not.
func TestBoundsOfParameters(t *testing.T) {
	t.Parallel()
	above := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	below := func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	const least = math.SmallestNonzeroFloat64
	for _, p := range []struct {
		models      []privacy.Model
		set         func(*privacy.Spec, float64)
		taken, left []float64
	}{
		{
			[]privacy.Model{privacy.K},
			func(s *privacy.Spec, x float64) { s.K = int(x) },
			[]float64{1, 2, math.MaxInt32},
			[]float64{-1, 0, math.MaxInt32 + 1},
		},
		{
			[]privacy.Model{privacy.DistinctL, privacy.RecursiveCL},
			func(s *privacy.Spec, x float64) { s.L = x },
			[]float64{1, 2, math.MaxInt32},
			[]float64{-1, 0, below(1), above(1), 2.5, math.MaxInt32 + 1, math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.EntropyL},
			func(s *privacy.Spec, x float64) { s.L = x },
			[]float64{1, above(1), 2.5, math.MaxInt32},
			[]float64{-1, 0, below(1), above(math.MaxInt32), math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.RecursiveCL},
			func(s *privacy.Spec, x float64) { s.C = x },
			[]float64{least, 1, math.MaxFloat64},
			[]float64{-1, 0, math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.AlphaK},
			func(s *privacy.Spec, x float64) { s.Alpha = x },
			[]float64{least, 0.5, 1},
			[]float64{-1, 0, above(1), math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.TClose},
			func(s *privacy.Spec, x float64) { s.T = x },
			[]float64{least, 0.5, 1},
			[]float64{-1, 0, above(1), math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.BetaLike},
			func(s *privacy.Spec, x float64) { s.Beta = x },
			[]float64{least, 1, math.MaxFloat64},
			[]float64{-1, 0, math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.DeltaDisclosure},
			func(s *privacy.Spec, x float64) { s.Delta = x },
			[]float64{least, 1, math.MaxFloat64},
			[]float64{-1, 0, math.NaN(), math.Inf(1)},
		},
		{
			[]privacy.Model{privacy.TClose},
			func(s *privacy.Spec, x float64) { s.Distance = privacy.Distance(x) },
			[]float64{0, 1, 2},
			[]float64{-1, 3},
		},
	} {
		for _, model := range p.models {
			for _, x := range append(p.taken, p.left...) {
				spec := complete()[model]
				p.set(&spec, x)
				if err := spec.Validate(); (err == nil) != slices.Contains(p.taken, x) {
					t.Errorf("%v of %v: %v", x, model, err)
				}
			}
		}
	}
}

// TestModels are those that have a name, and all but one protect a sensitive attribute.
func TestModels(t *testing.T) {
	t.Parallel()
	for model := privacy.Model(-1); model < 9; model++ {
		spec, known := complete()[model]
		spec.Model = model
		if err := spec.Validate(); (err == nil) != known || strings.HasPrefix(model.String(), "Model(") == known {
			t.Errorf("%v: %v", model, err)
		}
		if spec.Of == "" {
			spec.Of = "diagnosis"
		} else {
			spec.Of = ""
		}
		if spec.Validate() == nil {
			t.Errorf("%v of %q is valid", model, spec.Of)
		}
	}
}
