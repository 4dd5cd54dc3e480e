package privacy

import (
	"fmt"
	"strconv"
)

// AlphaBound is the alpha of (alpha,k)-anonymity (Wong, Li, Fu and Wang 2006):
// in every class the relative frequency of each bounded value is at most Alpha.
// The k is a KAnonymity of its own. NULL is a value like others.
//
// With subjects the frequency of a value is the number of persons who have it,
// of all persons in the class, so a person with two values counts for both and
// the frequencies may add up to more than 1.
//
// Alpha counts as the decimal that it is written as, and is compared exactly.
type AlphaBound struct {
	Alpha     float64 // 0 to 1
	Attribute int     // index into Summary.Sensitive
	Name      string  // the attribute's name, for messages
	Values    []uint32
	// Values are the codes of the bounded values; nil = every value.
}

// Satisfied reports whether no bounded value is more frequent than Alpha; a
// summary of no records or without the attribute satisfies nothing.
func (c AlphaBound) Satisfied(class Summary, _ *Population) bool {
	counts, ok := class.counts(c.Attribute)
	return ok && class.Records > 0 && c.mostFrequent(counts) <= c.Most(class.Records)
}

// Most is how many records of a class of that size may have the same bounded
// value: Alpha times the size, rounded down.
func (c AlphaBound) Most(records int) int { return decimalOf(c.Alpha).of(records) }

// Binds reports whether the constraint bounds the frequency of the value.
func (c AlphaBound) Binds(code uint32) bool {
	if c.Values == nil {
		return true
	}
	for _, bound := range c.Values {
		if bound == code {
			return true
		}
	}
	return false
}

func (c AlphaBound) mostFrequent(counts map[uint32]int) int {
	most := 0
	if c.Values == nil {
		for _, count := range counts {
			most = max(most, count)
		}
	}
	for _, code := range c.Values {
		most = max(most, counts[code])
	}
	return most
}

// String returns for example "(0.2,k)-anonymity of diagnosis", or "... of 3
// values of diagnosis": what a policy calls worth protecting is not named.
func (c AlphaBound) String() string {
	return alphaName(c.Alpha, len(c.Values), c.Name)
}

func alphaName(alpha float64, values int, of string) string {
	switch values {
	case 0:
	case 1:
		of = "one value of " + of
	default:
		of = fmt.Sprintf("%d values of %s", values, of)
	}
	return fmt.Sprintf("(%s,k)-anonymity of %s", number(alpha), of)
}

// number is the shortest decimal form.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// MinRecords is 1/Alpha, rounded up, where every value is bounded: in a smaller
// class one record is already too much. Else a class of other values may have
// one record.
func (c AlphaBound) MinRecords() int {
	if c.Values != nil {
		return 1
	}
	alpha := decimalOf(c.Alpha)
	least := alpha.reciprocal()
	if least < 1<<31-1 && uint64(least)*alpha.num < alpha.den {
		least++
	}
	return max(1, least)
}

// Feasible demands that no bounded value is more frequent in the whole table.
func (c AlphaBound) Feasible(table Summary) error {
	if table.Records == 0 {
		return nil
	}
	counts, ok := table.counts(c.Attribute)
	if !ok {
		return missing(c)
	}
	most := c.mostFrequent(counts)
	if most <= c.Most(table.Records) {
		return nil
	}
	what := "the most frequent value"
	if c.Values != nil {
		what = "the most frequent of the bounded values"
	}
	share := float64(most) / float64(table.Records)
	return fmt.Errorf("%v cannot hold: %s makes up %.4g %% of the whole table, so some class must exceed alpha; alpha can be %s at the least",
		c, what, 100*share, number(roundedUp(most, table.Records)))
}

// roundedUp is a fraction rounded up to four decimals.
func roundedUp(num, den int) float64 {
	const unit = 10_000
	return float64((uint64(num)*unit+uint64(den)-1)/uint64(den)) / unit
}
