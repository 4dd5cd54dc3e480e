package privacy

import (
	"fmt"
	"math"
)

// DeltaDisclosurePrivacy demands of every class that |ln(q/p)| < Delta for every
// value that one sensitive attribute has in the whole table, where q is the
// value's relative frequency in the class and p that in the table (Brickell and
// Shmatikov 2008). A value that the class lacks has q = 0 and violates it, so
// every class must have every value; one that the table lacks violates it, too.
//
// With subjects a frequency is the number of persons with the value, of all
// persons, in class and table alike.
//
// |ln(q/p)| cannot equal a decimal other than 0; within 1e-12 of Delta it is
// refused.
type DeltaDisclosurePrivacy struct {
	Delta     float64 // above 0
	Attribute int     // index into Summary.Sensitive
	Name      string  // the attribute's name, for messages
}

// Satisfied reports whether every value is about as frequent as in the table; a
// summary of no records or without the attribute satisfies nothing, nor does any
// without a population.
func (c DeltaDisclosurePrivacy) Satisfied(class Summary, whole *Population) bool {
	counts, all, ok := compare(class, whole, c.Attribute)
	if !ok || len(counts) != len(all) {
		return false
	}
	for code, count := range counts {
		overall := all[code]
		q, p := uint64(count)*uint64(whole.Records), uint64(overall)*uint64(class.Records)
		if !(math.Abs(math.Log(float64(q)/float64(p))) < c.Delta-1e-12) {
			return false
		}
	}
	return true
}

// String returns for example "0.5-disclosure privacy of diagnosis".
func (c DeltaDisclosurePrivacy) String() string {
	return fmt.Sprintf("%s-disclosure privacy of %s", number(c.Delta), c.Name)
}

// MinRecords is 1: how many records a class needs depends on the table.
func (c DeltaDisclosurePrivacy) MinRecords() int { return 1 }

// Feasible holds for every table with the attribute, for a Delta above 0: as one
// class it discloses nothing of itself.
func (c DeltaDisclosurePrivacy) Feasible(table Summary) error {
	if table.Records == 0 {
		return nil
	}
	if _, ok := table.counts(c.Attribute); !ok {
		return missing(c)
	}
	if !(c.Delta > 1e-12) {
		return fmt.Errorf("%v cannot hold: delta must be above 0", c)
	}
	return nil
}
