package people

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Knows is what the operator allows an outsider to know of a person, besides the quasi-identifying
// values of the root record.
type Knows struct {
	// All grants the quasi-identifying values of all rows of the person; otherwise
	// those of one row of any table in each window, with the rows that it hangs on.
	All bool
	// Crowd is how many times k persons a class has where not all is known; at
	// least 1. More persons make the rows more precise and the root less. 0 stands for
	// DefaultCrowd.
	Crowd int
}

// DefaultCrowd makes rows about as precise, in shares of their domains, as root
// records of some ten thousand persons with a few rows a window.
const DefaultCrowd = 8

// Options of a run.
type Options struct {
	anonymizer.Options
	// Method makes the classes of persons where not all is known, and blocks of near
	// persons where it is. It has to accept k-anonymity over the root's attributes.
	Method anonymizer.Method
	// RootWeight is how much the loss of the root counts relative to that of each other table, if
	// everything is known; 0 stands for DefaultRootWeight.
	RootWeight float64
}

// DefaultRootWeight makes root records, which most questions group by, more precise
// than rows.
const DefaultRootWeight = 2

func (o Options) rootWeight() float64 {
	if o.RootWeight == 0 {
		return DefaultRootWeight
	}
	return o.RootWeight
}

// Release divides persons into classes, and their rows into cells.
type Release struct {
	// Classes of persons, published with the same root values.
	Classes []anonymizer.EquivalenceClass
	// Withheld are all persons where there are too few, or their values too much
	// alike, for one class; else none.
	Withheld []int32
	// Tables are in the order of Data.Tables.
	Tables []TableRelease
	// Aliases gives for each window and person the person whose pseudonym that
	// person's rows carry there, another member of the class or the same one. The root
	// record of a person carries the person's own pseudonym. With a single window, and
	// with Knows.All, which makes one window of all, so do the rows.
	Aliases [][]int32
}

// TableRelease divides the rows of a table.
type TableRelease struct {
	// Cells hold rows that are published with the same values and keep their keys.
	Cells []Cell
	// Pooled rows are published in these classes of at least k persons, without keys.
	Pooled []anonymizer.EquivalenceClass
	// Withheld rows are not published: those of nobody and of withheld persons, and
	// those in a pool of too few persons.
	Withheld []int32
}

// Cell holds rows of one class of persons, window and, below other tables, of
// parents in one cell.
type Cell struct {
	Rows   anonymizer.EquivalenceClass
	Class  int32 // index in Release.Classes
	Window int32
}

// Anonymize releases the data. Constraints hold for the persons of each class with all values of
// all their rows and, unless everything is known, for the persons of each cell with those of the
// cell's window; constraints only on attributes of the root and privacy.Restricted are not
// supported. Errors: invalid data, unsupported constraints, and the context's. Persons whose
// constraints cannot be met are withheld, which is no error.
//
// Time with Knows.All, for n persons with r rows each: O(n B r^2), where B persons are compared
// with each other (blockClasses); otherwise O(n r log(n r)).
func Anonymize(ctx context.Context, d *Data, c privacy.ConstraintSet, knows Knows, o Options) (*Release, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if err := supported(c); err != nil {
		return nil, err
	}
	r := &releasing{forest: newForest(d), constraints: c, k: c.K(), o: o}
	r.release.Tables = make([]TableRelease, len(d.Tables))
	switch satisfied, err := r.feasible(); {
	case err != nil:
		return nil, err
	case !satisfied:
		r.withholdAll()
		return &r.release, nil
	}
	make := r.cells
	if knows.All {
		make = r.trees
	}
	if err := make(ctx, max(1, knows.crowd())); err != nil {
		return nil, fmt.Errorf("releasing tables of persons: %w", err)
	}
	r.pool()
	r.aliases(knows)
	return &r.release, ctx.Err()
}

func (k Knows) crowd() int {
	if k.Crowd == 0 {
		return DefaultCrowd
	}
	return k.Crowd
}

func supported(c privacy.ConstraintSet) error {
	for _, constraint := range c {
		switch x := constraint.(type) {
		case privacy.Restricted:
			return fmt.Errorf("%v: constraints over some attributes are not supported for several tables", x)
		case privacy.KAnonymity:
			if x.Over != nil {
				return fmt.Errorf("%v: constraints over some attributes are not supported for several tables", x)
			}
		}
	}
	return nil
}

// releasing is one run of Anonymize.
type releasing struct {
	*forest
	constraints privacy.ConstraintSet
	k           int
	o           Options
	whole       *privacy.Population
	release     Release
}

// feasible reports whether all persons together satisfy the constraints.
func (r *releasing) feasible() (bool, error) {
	all := make([]int32, r.data.Root.Len())
	for p := range all {
		all[p] = int32(p)
	}
	s := r.summarize(all, -1)
	r.whole = privacy.NewPopulation(s)
	return len(all) > 0 && r.constraints.Satisfied(s, r.whole), nil
}

// holds reports whether persons may be a class or, with a window of 0 or more, those of a cell. The
// caller has checked that there are at least k.
func (r *releasing) holds(persons []int32, window int32) bool {
	return r.sizeDecides() || r.constraints.Satisfied(r.summarize(persons, window), r.whole)
}

// sizeDecides reports whether every class of at least k persons satisfies the
// constraints.
func (r *releasing) sizeDecides() bool {
	for _, c := range r.constraints {
		if _, ok := c.(privacy.KAnonymity); !ok {
			return false
		}
	}
	return true
}

func (r *releasing) withholdAll() {
	for p := range r.data.Root.Len() {
		r.release.Withheld = append(r.release.Withheld, int32(p))
	}
	for i := range r.tables {
		for row := range r.tables[i].Rows.Len() {
			r.release.Tables[i].Withheld = append(r.release.Tables[i].Withheld, int32(row))
		}
	}
	r.aliases(Knows{All: true})
}

// pool divides the rows of each table that stand in no cell.
func (r *releasing) pool() {
	for i := range r.tables {
		b, out := &r.tables[i], &r.release.Tables[i]
		inCell := make([]bool, b.Rows.Len())
		for _, cell := range out.Cells {
			for _, row := range cell.Rows {
				inCell[row] = true
			}
		}
		var rows []int32
		for row, done := range inCell {
			switch {
			case done:
			case b.person[row] == Nobody:
				out.Withheld = append(out.Withheld, int32(row))
			default:
				rows = append(rows, int32(row))
			}
		}
		divided := newDivider(r, b, -1).divide(rows)
		if divided == nil {
			out.Withheld = append(out.Withheld, rows...)
			slices.Sort(out.Withheld)
		}
		for _, class := range divided {
			out.Pooled = append(out.Pooled, class)
		}
	}
}

// aliases exchanges the pseudonyms of the members of each class in each window.
func (r *releasing) aliases(knows Knows) {
	windows := r.windows()
	if knows.All {
		windows = 1
	}
	random := rand.New(rand.NewPCG(r.o.Seed, 2))
	for range windows {
		of := make([]int32, r.data.Root.Len())
		for p := range of {
			of[p] = int32(p)
		}
		if windows > 1 {
			for _, class := range r.release.Classes {
				for i, other := range random.Perm(len(class)) {
					of[class[i]] = class[other]
				}
			}
		}
		r.release.Aliases = append(r.release.Aliases, of)
	}
}
