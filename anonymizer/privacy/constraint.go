package privacy

import (
	"errors"
	"strings"
)

// Constraint is what a class must satisfy to be published.
type Constraint interface {
	// Satisfied reports whether a class with this summary may be published;
	// whole is the distribution over the table that the class is of. A class
	// of no records satisfies nothing. Two classes that satisfy a constraint
	// satisfy it together, as long as no subject stands in both: with a person
	// in each of two classes, no rule that looks at one class at a time can
	// promise that for frequencies.
	Satisfied(class Summary, whole *Population) bool
	// String names the constraint with its parameters, for messages.
	String() string
	// MinRecords is the smallest size of a class that can satisfy it, at
	// least 1.
	MinRecords() int
	// Feasible returns nil, or why the table's records cannot all stand in
	// classes that satisfy the constraint, and what would help. That is so
	// where the whole table as one class does not. A table without records is
	// feasible: its release is empty.
	Feasible(table Summary) error
}

// ConstraintSet is the conjunction of its constraints; the empty set is always
// satisfied.
type ConstraintSet []Constraint

// Satisfied reports whether the class satisfies every constraint.
func (cs ConstraintSet) Satisfied(class Summary, whole *Population) bool {
	for _, c := range cs {
		if !c.Satisfied(class, whole) {
			return false
		}
	}
	return true
}

// K is the class size that the set demands: the largest MinRecords, at least 1.
func (cs ConstraintSet) K() int {
	k := 1
	for _, c := range cs {
		k = max(k, c.MinRecords())
	}
	return k
}

// Relative reports whether a constraint of the set compares a class with the
// whole table, so that a class may come to violate it by changes elsewhere.
// Constraints that are not of this package count as such.
func (cs ConstraintSet) Relative() bool {
	for _, c := range cs {
		switch bare(c).(type) {
		case KAnonymity, DistinctDiversity, EntropyDiversity, RecursiveDiversity, AlphaBound:
		default:
			return true
		}
	}
	return false
}

// Feasible joins the reasons of all constraints that the table cannot meet.
func (cs ConstraintSet) Feasible(table Summary) error {
	var errs []error
	for _, c := range cs {
		errs = append(errs, c.Feasible(table))
	}
	return errors.Join(errs...)
}

// String joins the names of the constraints.
func (cs ConstraintSet) String() string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.String()
	}
	return strings.Join(names, " and ")
}
