package privacy

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Spec describes a constraint as a policy writes it. Fields that the model does
// not use stay at their zero values.
type Spec struct {
	Model Model
	// K is the k of k-anonymity, at least 1.
	K int
	// Over names the quasi-identifying attributes that the constraint is over:
	// records alike in these are at least K, or have so many values of Of, and so on.
	// Empty = all of them.
	Over []string
	// L is the l of the three diversities, at least 1; whole for DistinctL and
	// RecursiveCL.
	L float64
	// C is the c of recursive (c,l)-diversity, above 0.
	C float64
	// Alpha and T are the bounds of the models of their names, above 0 and at
	// most 1. Beta and Delta are above 0.
	Alpha, T, Beta, Delta float64
	// Enhanced has BetaLike bound the relative gain by -ln of the value's overall
	// frequency as well.
	Enhanced bool
	// Of names the sensitive attribute; all models but K.
	Of string
	// Values are the values that AlphaK bounds; empty = every value.
	Values []string
	// Distance is that of t-closeness.
	Distance Distance
}

// Validate returns all that is wrong with the specification, joined: an unknown
// model, a parameter that is missing, out of range or of another model.
func (s Spec) Validate() error {
	if s.Model < 0 || int(s.Model) >= len(modelNames) {
		return fmt.Errorf("unknown privacy model %v", s.Model)
	}
	errs := append(s.validateParameters(), s.validateForeign()...)
	switch {
	case s.Model == K && s.Of != "":
		errs = append(errs, fmt.Errorf("%v takes no sensitive attribute; write the attributes it is about, if not all, under over", s.Model))
	case s.Model != K && s.Of == "":
		errs = append(errs, fmt.Errorf("%v needs the sensitive attribute it protects: of", s.Model))
	}
	if s.Model == TClose && (s.Distance < 0 || int(s.Distance) >= len(distanceNames)) {
		errs = append(errs, fmt.Errorf("unknown ground distance %v: equal, ordered and hierarchical are known", s.Distance))
	}
	errs = append(errs, repeatedNames("over", s.Over), repeatedNames("values", s.Values))
	return errors.Join(errs...)
}

// validateParameters checks the ranges of what the model uses.
func (s Spec) validateParameters() (errs []error) {
	check := func(ok bool, name string, got any, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%v: %s is %v and must be %s", s.Model, name, got, want))
		}
	}
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	share := func(x float64) bool { return x > 0 && x <= 1 }
	switch s.Model {
	case K:
		check(s.K >= 1 && s.K <= math.MaxInt32, "k", s.K, "a whole number of at least 1, better 5 or more")
	case DistinctL, RecursiveCL:
		check(s.L >= 1 && s.L <= math.MaxInt32 && s.L == math.Trunc(s.L), "l", s.L, "a whole number of at least 1, better 2 or more")
	case EntropyL:
		check(s.L >= 1 && s.L <= math.MaxInt32, "l", s.L, "a number of at least 1, better 2 or more")
	case AlphaK:
		check(share(s.Alpha), "alpha", s.Alpha, "above 0 and at most 1, such as 0.2")
	case TClose:
		check(share(s.T), "t", s.T, "above 0 and at most 1, such as 0.2")
	case BetaLike:
		check(positive(s.Beta), "beta", s.Beta, "above 0, such as 1: no value more than twice as frequent as overall")
	case DeltaDisclosure:
		check(positive(s.Delta), "delta", s.Delta, "above 0, such as 1: no value more than 2.7 times as frequent as overall or rarer than a 2.7th")
	}
	if s.Model == RecursiveCL {
		check(positive(s.C), "c", s.C, "above 0, such as 2")
	}
	return errs
}

// validateForeign refuses parameters that the model would pass over.
func (s Spec) validateForeign() (errs []error) {
	for _, p := range []struct {
		name   string
		given  bool
		models []Model
	}{
		{"k", s.K != 0, []Model{K}},
		{"l", s.L != 0, []Model{DistinctL, EntropyL, RecursiveCL}},
		{"c", s.C != 0, []Model{RecursiveCL}},
		{"alpha", s.Alpha != 0, []Model{AlphaK}},
		{"values", len(s.Values) > 0, []Model{AlphaK}},
		{"t", s.T != 0, []Model{TClose}},
		{"distance", s.Distance != EqualDistance, []Model{TClose}},
		{"beta", s.Beta != 0, []Model{BetaLike}},
		{"enhanced", s.Enhanced, []Model{BetaLike}},
		{"delta", s.Delta != 0, []Model{DeltaDisclosure}},
	} {
		uses := false
		for _, m := range p.models {
			uses = uses || m == s.Model
		}
		if p.given && !uses {
			errs = append(errs, fmt.Errorf("%v takes no %s, which belongs to %v; write a constraint of its own for that", s.Model, p.name, p.models[0]))
		}
	}
	return errs
}

// repeatedNames does not quote: values may be somebody's.
func repeatedNames(what string, names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("%s holds one entry twice", what)
		}
		seen[name] = true
	}
	return nil
}

// String is the constraint in the field's notation, for example "5-anonymity",
// "5-anonymity over age, zip" or "distinct 3-diversity of diagnosis".
func (s Spec) String() string {
	if len(s.Over) == 0 {
		return s.bound()
	}
	return s.bound() + " over " + strings.Join(s.Over, ", ")
}

// bound names the constraint but for the attributes that it is over.
func (s Spec) bound() string {
	switch s.Model {
	case K:
		return fmt.Sprintf("%d-anonymity", s.K)
	case DistinctL:
		return fmt.Sprintf("distinct %s-diversity of %s", number(s.L), s.Of)
	case EntropyL:
		return EntropyDiversity{L: s.L, Name: s.Of}.String()
	case RecursiveCL:
		return recursiveName(s.C, s.L, s.Of)
	case AlphaK:
		return alphaName(s.Alpha, len(s.Values), s.Of)
	case TClose:
		return TCloseness{T: s.T, Name: s.Of, Distance: s.Distance}.String()
	case BetaLike:
		return BetaLikeness{Beta: s.Beta, Enhanced: s.Enhanced, Name: s.Of}.String()
	case DeltaDisclosure:
		return DeltaDisclosurePrivacy{Delta: s.Delta, Name: s.Of}.String()
	default:
		return s.Model.String()
	}
}
