// Package anonymizer turns a table of records into a release of equivalence
// classes that satisfy a set of privacy constraints.
//
// Table is what a Method reads, Release what it gives. The methods stand in
// families, each a package of its own below this one, and package methods lists
// them all. Anonymize runs one on a constraint set and is the usual entry point.
// Nothing here knows of databases, clocks or files: randomness comes in by a
// seed and the same seed gives the same release.
package anonymizer

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// EquivalenceClass holds the indexes into the table of the records that are
// published with the same quasi-identifying values; at least one, no order.
type EquivalenceClass []int32

// Release divides the records of a table: each is in exactly one class or is
// withheld.
type Release struct {
	// Classes satisfy the constraint set, each for itself, unless Levels says
	// otherwise.
	Classes []EquivalenceClass
	// Withheld are the records that no class could take, for example all of a
	// table with fewer than k records.
	Withheld []int32
	// Levels is nil for a method that publishes of each class what its members
	// cover (Hierarchy.Generalize). A method that recodes by levels of value
	// generalization hierarchies (hierarchy.LevelsOf) gives here, for each class
	// and attribute, the level to which its members are generalized. Classes
	// are then the records alike at these levels in all attributes, and a
	// constraint <QI, K> holds over the records that are alike in QI alone, which
	// can lie in several classes.
	Levels [][]uint8
}

// WithholdAll is the release of a table for which the constraints are infeasible.
func WithholdAll(t *Table) *Release {
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return &Release{Withheld: all}
}

// Options of a run; the zero value is valid.
type Options struct {
	// Seed decides which of several indistinguishable records goes where. The
	// same seed, table and constraints give the same release.
	Seed uint64
	// Progress, if not nil, is called from time to time with how many of the records
	// have a class. It is called by one goroutine at a time, with
	// done never falling, and must be quick.
	Progress func(done, total int)
	// Suppression is the share of the records, 0 to 1, that a method that generalizes all records
	// in the same way may withhold instead of generalizing further; other methods ignore it.
	Suppression float64
}

// Effort is how long a method looks for classes that lose less. The work depends only on the table,
// not on a clock, so the same seed gives the same release.
type Effort int

// The efforts.
const (
	Fast Effort = iota // one look at each class
	Good               // some ten times as much work
	Best               // some hundred times as much
)

var effortNames = [...]string{Fast: "fast", Good: "good", Best: "best"}

// String returns the effort's name as configurations spell it.
func (e Effort) String() string {
	if e < 0 || int(e) >= len(effortNames) {
		return fmt.Sprintf("Effort(%d)", int(e))
	}
	return effortNames[e]
}

// ParseEffort is the effort of the name. The error lists the known ones.
func ParseEffort(name string) (Effort, error) {
	for e, known := range effortNames {
		if name == known {
			return Effort(e), nil
		}
	}
	return Fast, fmt.Errorf("unknown effort %q: known are fast, good and best", name)
}

// Method is an algorithm that anonymizes a table.
type Method interface {
	// Name is the method's name in configurations.
	Name() string
	// Accepts returns nil, or why the method cannot honor the constraints over
	// these attributes, as the end of a sentence that starts with its name:
	// "honors k alone".
	Accepts(attributes []Attribute, c privacy.ConstraintSet) error
	// Anonymize divides the table's records into classes that satisfy c, which
	// the method accepts. A table for which c is infeasible is withheld as a
	// whole and is no error; the error is the context's.
	Anonymize(ctx context.Context, t *Table, c privacy.ConstraintSet, o Options) (*Release, error)
}
