package privacy

import "slices"

// Implies reports whether classes that satisfy the constraint always satisfy another one: it is about
// the same attributes, by the same model, with parameters that are at least as strict. False says
// nothing; of models that bound each other, only one that is the same is compared.
func (s Spec) Implies(other Spec) bool {
	stricter := s.K >= other.K && s.L >= other.L && s.C <= other.C &&
		s.Alpha <= other.Alpha && s.T <= other.T && s.Beta <= other.Beta && s.Delta <= other.Delta
	return stricter && s.Model == other.Model && s.Of == other.Of && s.Distance == other.Distance && s.Enhanced == other.Enhanced &&
		sameNames(s.Over, other.Over) && sameNames(s.Values, other.Values)
}

// sameNames reports whether two lists, neither of which repeats a name, have the same ones.
func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}
