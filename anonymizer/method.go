// Package anonymizer turns a table of records into a release of equivalence
// classes that satisfy a set of privacy constraints.
//
// One algorithm stands in one file, behind the interface Method; Table is what
// they read, Release what they give. The package knows nothing of databases,
// clocks or files: randomness comes in by a seed and the same seed gives the
// same release.
package anonymizer

import (
	"context"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// EquivalenceClass holds the indexes into the table of the records that are
// published with the same quasi-identifying values; at least one, no order.
type EquivalenceClass []int32

// Release divides the records of a table: each is in exactly one class or is
// withheld.
type Release struct {
	// Classes satisfy the constraint set, each for itself.
	Classes []EquivalenceClass
	// Withheld are the records that no class could take, for example all of a
	// table with fewer than k records.
	Withheld []int32
}

// Options of a run; the zero value is valid.
type Options struct {
	// Seed decides which of several indistinguishable records goes where. The
	// same seed, table and constraints give the same release.
	Seed uint64
	// Progress, if not nil, is told from time to time how many of the records
	// have found their class. It is called by one goroutine at a time, with
	// done never falling, and must be quick.
	Progress func(done, total int)
}

// Method is an algorithm that anonymizes a table.
type Method interface {
	// Name is the method's name in configurations.
	Name() string
	// Anonymize divides the table's records into classes that satisfy c. A
	// table for which c is infeasible is withheld as a whole and is no error;
	// the error is the context's.
	Anonymize(ctx context.Context, t *Table, c privacy.ConstraintSet, o Options) (*Release, error)
}

var methods = []Method{RoundedPartition{}}

// Methods lists the names of all methods, the recommended one first.
func Methods() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name()
	}
	return names
}

// MethodNamed returns the method with the name.
func MethodNamed(name string) (Method, error) {
	for _, m := range methods {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("unknown anonymization method %q: known are %s", name, strings.Join(Methods(), ", "))
}
