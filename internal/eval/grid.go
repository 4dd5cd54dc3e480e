// Package eval measures what anonymization methods do to a table: it runs them
// over a grid of parameters and measures each release, so that an operator can
// choose a method and its parameters. Sub-packages draw and write the outcome and
// re-run the experiments of the papers.
package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Grid is what is run: every method with every combination of the parameters.
type Grid struct {
	// Methods are names of methods.Names; empty = all that accept the policy's
	// constraints.
	Methods []string
	// K, L and Alpha take the place of the policy's k over all quasi-identifiers,
	// of the l of all its diversity constraints, and of its alphas. Empty leaves
	// the policy's own. What is listed twice is run once.
	K     []int
	L     []float64
	Alpha []float64
	// Efforts take the place of the policy's own, of methods that make several.
	Efforts []anonymizer.Effort
	// Seed decides ties and query workloads.
	Seed uint64
	// Seeds is how many seeds from Seed on every case is run with; 0 means 1.
	Seeds int
}

// Case is one run.
type Case struct {
	Method string
	Effort anonymizer.Effort
	// SameAs is the method of an earlier case that makes the same release with the same
	// parameters; "" where the case has to be run.
	SameAs string
	// K, L and Alpha are the parameters in force; 0 where the policy has no
	// constraint of that kind.
	K           int
	L           float64
	Alpha       float64
	constraints privacy.ConstraintSet
}

// Constraints is the constraint set in the field's notation.
func (c Case) Constraints() []string {
	texts := make([]string, len(c.constraints))
	for i, constraint := range c.constraints {
		texts[i] = constraint.String()
	}
	return texts
}

// ErrNoMethod says that no method can honor the policy's constraints.
var ErrNoMethod = errors.New("no method can honor the policy's constraints: loosen them")

// Cases lists the runs on the table, method by method, k rising. The error is
// ErrNoMethod, or joins what of the grid cannot be run: parameters that the policy
// has no constraint for, unknown methods, and methods that cannot honor the
// constraints, with the reason and those that can.
func (g Grid) Cases(t *dataset.Table) ([]Case, error) {
	variants, err := g.variants(t)
	if err != nil {
		return nil, err
	}
	names, err := g.methods(t, variants[0].constraints)
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		for _, effort := range g.efforts(t, name) {
			for _, variant := range variants {
				variant.Method, variant.Effort = name, effort
				same := methods.SameAs(name, len(t.Records.Attributes()), variant.constraints)
				i := slices.IndexFunc(cases, func(c Case) bool {
					return c.SameAs == "" && c.sameParameters(variant) && methods.SameAs(c.Method, len(t.Records.Attributes()), c.constraints) == same
				})
				if i >= 0 && cases[i].Method != name {
					variant.SameAs = cases[i].Method
				}
				cases = append(cases, variant)
			}
		}
	}
	return cases, nil
}

func (c Case) sameParameters(o Case) bool { return c.K == o.K && c.L == o.L && c.Alpha == o.Alpha }

// efforts are those that a method is run with, each once.
func (g Grid) efforts(t *dataset.Table, method string) []anonymizer.Effort {
	switch {
	case !methods.Varies(method):
		return []anonymizer.Effort{anonymizer.Fast}
	case len(g.Efforts) == 0:
		return []anonymizer.Effort{t.Publication.Policy.Effort}
	default:
		return orOwn(g.Efforts)
	}
}

// variants are the constraint sets, without a method.
func (g Grid) variants(t *dataset.Table) ([]Case, error) {
	own := t.Publication.Policy.Constraints
	if err := errors.Join(g.check(own), g.Validate()); err != nil {
		return nil, err
	}
	var variants []Case
	for _, l := range orOwn(g.L) {
		for _, alpha := range orOwn(g.Alpha) {
			for _, k := range orOwn(g.K) {
				publication := t.Publication
				publication.Policy.Constraints = slices.Clone(own)
				for i := range own {
					replace(&publication.Policy.Constraints[i], k, l, alpha)
				}
				set, err := publication.ConstraintSet(t.Schema)
				if err != nil {
					return nil, err
				}
				variants = append(variants, caseOf(publication.Policy.Constraints, set))
			}
		}
	}
	return variants, nil
}

// orOwn is the list ascending, each value once, or a zero that leaves the policy's
// own value.
func orOwn[T cmp.Ordered](list []T) []T {
	if len(list) == 0 {
		return make([]T, 1)
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// replace sets the parameters that a grid can change; 0 leaves the policy's own.
// A k over some attributes only stays.
func replace(s *privacy.Spec, k int, l, alpha float64) {
	switch {
	case variesK(*s) && k != 0:
		s.K = k
	case variesL(*s) && l != 0:
		s.L = l
	case variesAlpha(*s) && alpha != 0:
		s.Alpha = alpha
	}
}

func variesK(s privacy.Spec) bool { return s.Model == privacy.K && len(s.Over) == 0 }

func variesL(s privacy.Spec) bool {
	return s.Model == privacy.DistinctL || s.Model == privacy.EntropyL || s.Model == privacy.RecursiveCL
}

func variesAlpha(s privacy.Spec) bool { return s.Model == privacy.AlphaK }

func caseOf(specs []privacy.Spec, set privacy.ConstraintSet) Case {
	c := Case{constraints: set}
	c.K, c.L, c.Alpha = Parameters(specs)
	return c
}

// Parameters are the largest k, the largest l and the smallest alpha of a policy's
// constraints, 0 where there is none.
func Parameters(specs []privacy.Spec) (k int, l, alpha float64) {
	for _, s := range specs {
		switch {
		case s.Model == privacy.K:
			k = max(k, s.K)
		case variesL(s):
			l = max(l, s.L)
		case variesAlpha(s) && (alpha == 0 || s.Alpha < alpha):
			alpha = s.Alpha
		}
	}
	return k, l, alpha
}

// check refuses parameters that would change nothing.
func (g Grid) check(own []privacy.Spec) error {
	var errs []error
	need := func(given bool, varies func(privacy.Spec) bool, flag, constraint string) {
		if given && !slices.ContainsFunc(own, varies) {
			errs = append(errs, fmt.Errorf("--%s changes nothing: the policy has no constraint like %s", flag, constraint))
		}
	}
	need(len(g.K) > 0, variesK, "k", "{k: 5} without over")
	need(len(g.L) > 0, variesL, "l", "{l: 2, of: COLUMN}")
	need(len(g.Alpha) > 0, variesAlpha, "alpha", "{alpha: 0.5, of: COLUMN}")
	return errors.Join(errs...)
}

// Validate returns all that is wrong with the grid whatever the table is, joined:
// unknown methods, and parameters out of their ranges.
func (g Grid) Validate() error {
	var errs []error
	for _, name := range g.Methods {
		_, err := methods.Named(name)
		errs = append(errs, err)
	}
	if g.Seeds < 0 {
		errs = append(errs, errors.New("--seeds must be at least 1"))
	}
	if slices.ContainsFunc(g.K, func(k int) bool { return k < 1 }) {
		errs = append(errs, errors.New("--k must be at least 1"))
	}
	if slices.ContainsFunc(g.L, func(l float64) bool { return !(l >= 1) }) {
		errs = append(errs, errors.New("--l must be at least 1"))
	}
	if slices.ContainsFunc(g.Alpha, func(a float64) bool { return !(a > 0 && a <= 1) }) {
		errs = append(errs, errors.New("--alpha must be above 0 and at most 1"))
	}
	return errors.Join(errs...)
}

func (g Grid) methods(t *dataset.Table, set privacy.ConstraintSet) ([]string, error) {
	accepting := methods.Accepting(t.Records.Attributes(), set)
	if len(accepting) == 0 {
		return nil, ErrNoMethod
	}
	if len(g.Methods) == 0 {
		return accepting, nil
	}
	var names []string
	var errs []error
	for _, name := range g.Methods {
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		m, err := methods.Named(name)
		if err == nil {
			err = methods.Refusal(m, t.Records.Attributes(), set)
			if err != nil {
				err = fmt.Errorf("method %s %w; methods that can: %s", name, err, strings.Join(accepting, ", "))
			}
		}
		errs = append(errs, err)
	}
	return names, errors.Join(errs...)
}
