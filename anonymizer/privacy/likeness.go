package privacy

import (
	"fmt"
	"math"
)

// BetaLikeness demands of every class that no value of one sensitive attribute
// gains too much on its frequency in the whole table: (q-p)/p <= Beta for every
// value with q > p, where q is its relative frequency in the class and p that
// in the table. This is basic beta-likeness (Cao and Karras 2012); Enhanced also
// demands (q-p)/p <= -ln p, which keeps a value that is frequent anyway from
// becoming certain. A value that the table does not have gains without bound
// and is refused.
//
// With subjects a frequency is the number of persons with the value, of all
// persons, in class and table alike.
//
// Beta counts as the decimal that it is written as, and is compared exactly; so
// is q > p. A gain within 1e-12 of -ln p is refused.
type BetaLikeness struct {
	Beta      float64 // above 0
	Enhanced  bool
	Attribute int    // index into Summary.Sensitive
	Name      string // the attribute's name, for messages
}

// Satisfied reports whether no value gains too much; a summary of no records or
// without the attribute satisfies nothing, nor does any without a population.
func (c BetaLikeness) Satisfied(class Summary, whole *Population) bool {
	counts, all, ok := compare(class, whole, c.Attribute)
	if !ok {
		return false
	}
	beta := decimalOf(c.Beta)
	for code, count := range counts {
		overall := all[code]
		// q and p over their common denominator; p is 0 of a value that the table
		// lacks.
		q, p := uint64(count)*uint64(whole.Records), uint64(overall)*uint64(class.Records)
		if q <= p {
			continue
		}
		if product(p, beta.num).less(product(q-p, beta.den)) {
			return false
		}
		if c.Enhanced && float64(q-p)/float64(p) > -math.Log(float64(overall)/float64(whole.Records))-1e-12 {
			return false
		}
	}
	return true
}

// compare gives the counts of an attribute in a class and in the whole table;
// not ok where there is nothing to compare.
func compare(class Summary, whole *Population, attribute int) (counts, all map[uint32]int, ok bool) {
	if whole == nil || class.Records < 1 || whole.Records < 1 {
		return nil, nil, false
	}
	counts, ok = class.counts(attribute)
	if !ok {
		return nil, nil, false
	}
	all, ok = whole.counts(attribute)
	return counts, all, ok
}

// String returns for example "1.5-likeness of diagnosis" or "enhanced
// 1.5-likeness of diagnosis".
func (c BetaLikeness) String() string {
	if c.Enhanced {
		return fmt.Sprintf("enhanced %s-likeness of %s", number(c.Beta), c.Name)
	}
	return fmt.Sprintf("%s-likeness of %s", number(c.Beta), c.Name)
}

// MinRecords is 1: how many records a class needs depends on the table.
func (c BetaLikeness) MinRecords() int { return 1 }

// Feasible holds for every table with the attribute: as one class it is like
// itself.
func (c BetaLikeness) Feasible(table Summary) error {
	if _, ok := table.counts(c.Attribute); !ok && table.Records > 0 {
		return missing(c)
	}
	return nil
}
