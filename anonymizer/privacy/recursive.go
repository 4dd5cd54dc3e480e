package privacy

import (
	"fmt"
	"math"
	"sort"
)

// RecursiveDiversity demands r1 < C * (r_L + r_(L+1) + ... + r_m) of every class,
// where r1 >= r2 >= ... >= r_m are the counts of one sensitive attribute's values
// (Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006, recursive
// (c,l)-diversity): the most frequent value is not too frequent, even when L-2
// others have been ruled out.
//
// With subjects it demands this of every choice of one value for each person from
// those that she has: of no L-1 values is one had by C times as many persons, or more,
// as have none of them. See DESIGN.md.
//
// C counts as the decimal that it is written as, and is compared exactly.
type RecursiveDiversity struct {
	C         float64 // above 0
	L         int     // at least 1; below counts as 1
	Attribute int     // index into Summary.Sensitive
	Name      string  // the attribute's name, for messages
}

// Satisfied reports whether r1 < C * (r_L + ... + r_m); a summary of no records
// or without the attribute satisfies nothing.
func (c RecursiveDiversity) Satisfied(class Summary, _ *Population) bool {
	// No choice is harder to satisfy than this.
	if most, tail := c.mostAndTail(class); c.below(most, tail) {
		return true
	}
	if counts, _ := class.counts(c.Attribute); class.subjects == nil || len(counts) < c.values() {
		return false
	}
	return !c.exceeded(class.holdings(c.Attribute), 0)
}

// below reports whether most < C * tail.
func (c RecursiveDiversity) below(most, tail int) bool {
	bound := decimalOf(c.C)
	return product(uint64(most), bound.den).less(product(uint64(tail), bound.num))
}

// values is L: fewer different values satisfy nothing.
func (c RecursiveDiversity) values() int { return max(1, c.L) }

// exceeded reports whether L-1 values leave too few persons who have none of them
// beside those who have one of them; with a reserve, whether they would after changes of
// so many persons. There are L values at least.
func (c RecursiveDiversity) exceeded(h *holdings, reserve int) bool {
	others := c.values() - 1
	if others == 0 {
		return !c.below(h.counts[0]+reserve, h.persons-reserve)
	}
	for value, most := range h.counts {
		slack := c.tail(most+reserve, h.persons) + reserve
		together := most
		for _, other := range h.counts[:others] {
			together += other
		}
		if together < h.persons-slack {
			return false // nor do rarer ones, which also leave less slack
		}
		if h.coveredWith(int32(value), others, slack) {
			return true
		}
	}
	return false
}

// tail is the greatest number of persons up to n with most >= C * tail.
func (c RecursiveDiversity) tail(most, n int) int {
	return sort.Search(n, func(tail int) bool { return c.below(most, tail+1) })
}

// mostAndTail are r1 and r_L + ... + r_m.
func (c RecursiveDiversity) mostAndTail(s Summary) (most, tail int) {
	for i, count := range s.descending(c.Attribute) {
		most = max(most, count)
		if i >= c.values()-1 {
			tail += count
		}
	}
	return most, tail
}

// String returns for example "recursive (2,3)-diversity of diagnosis".
func (c RecursiveDiversity) String() string { return recursiveName(c.C, float64(c.L), c.Name) }

func recursiveName(c, l float64, of string) string {
	return fmt.Sprintf("recursive (%s,%s)-diversity of %s", number(c), number(l), of)
}

// MinRecords is L + 1/C, rounded down: n records have r1 of at least 1 and at
// most n-L+1 beyond the L-1 most frequent values.
func (c RecursiveDiversity) MinRecords() int {
	return min(min(c.values(), math.MaxInt32)+decimalOf(c.C).reciprocal(), math.MaxInt32)
}

// Feasible demands that the whole table satisfies the constraint.
func (c RecursiveDiversity) Feasible(table Summary) error {
	if table.Records == 0 || c.Satisfied(table, nil) {
		return nil
	}
	counts, ok := table.counts(c.Attribute)
	if !ok {
		return missing(c)
	}
	if len(counts) < c.values() {
		return fmt.Errorf("%v cannot hold: it needs %d distinct values and the whole table has %d; l can be that at the most",
			c, c.values(), len(counts))
	}
	if table.subjects != nil {
		if h := table.holdings(c.Attribute); c.exceeded(h, 0) && h.work < 0 {
			return undecided(c)
		}
		return fmt.Errorf("%v cannot hold: the table has %d values of %d persons, %s; those who have none of these are too few compared with those who have one of them",
			c, len(counts), table.Records, table.together(c.Attribute, c.values()-1))
	}
	most, tail := c.mostAndTail(table)
	return fmt.Errorf("%v cannot hold: the most frequent value of the whole table is too frequent compared with the rarer ones; c must be above %s",
		c, number(roundedUp(most, tail)))
}
