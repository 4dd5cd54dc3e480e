package privacy

import (
	"fmt"
	"math"
	"math/big"
)

// EntropyDiversity demands that the entropy of one sensitive attribute's values
// in every class is at least log L (Machanavajjhala, Gehrke, Kifer and
// Venkitasubramaniam 2006, entropy l-diversity).
//
// With subjects it demands this of every choice of one value for each person from
// those that she has. See DESIGN.md.
//
// The comparison is exact up to counts that add up to 4096 when divided by their
// greatest common divisor, so L equally frequent values satisfy it. Beyond that
// an entropy within 1e-9 of log L does not satisfy.
type EntropyDiversity struct {
	L         float64 // at least 1; below counts as 1
	Attribute int     // index into Summary.Sensitive
	Name      string  // the attribute's name, for messages
}

// Satisfied reports whether the entropy is at least log L; a summary of no
// records or without the attribute satisfies nothing.
func (c EntropyDiversity) Satisfied(class Summary, _ *Population) bool {
	if _, ok := class.counts(c.Attribute); !ok || class.Records < 1 {
		return false
	}
	// No choice has less entropy than this.
	if c.holds(class.descending(c.Attribute)) {
		return true
	}
	return class.subjects != nil && !class.holdings(c.Attribute).undercut(c.holds, math.Log(c.l()))
}

// holds reports whether counts have an entropy of log L.
func (c EntropyDiversity) holds(counts []int) bool {
	excess := entropy(counts) - math.Log(c.l())
	if math.Abs(excess) > entropyTolerance {
		return excess > 0
	}
	return c.exactly(counts)
}

// entropyTolerance is far above the rounding error of entropy, which is below
// 1e-10 for 2^31 records: these have at most 2^16 different counts.
const entropyTolerance = 1e-9

// exactLimit bounds the sum of the counts, divided by their divisor, for which
// powers with such exponents are computed.
const exactLimit = 4096

// entropy of sorted counts in nats, one term for a run of equal ones.
func entropy(counts []int) float64 {
	n, sum := 0, 0.0
	for _, count := range counts {
		n += count
	}
	for i := 0; i < len(counts); {
		run := i
		for i < len(counts) && counts[i] == counts[run] {
			i++
		}
		p := float64(counts[run]) / float64(n)
		sum -= float64(i-run) * p * math.Log(p)
	}
	return sum
}

// exactly decides sum(c ln c) + n ln L <= n ln n by the powers of whole numbers:
// the product of c^c times L^n is at most n^n.
func (c EntropyDiversity) exactly(counts []int) bool {
	divisor := 0
	for _, count := range counts {
		divisor = gcd(count, divisor)
	}
	n := 0
	for _, count := range counts {
		n += count / divisor
	}
	if n > exactLimit {
		return false
	}
	l, size := decimalOf(c.l()), big.NewInt(int64(n))
	left := new(big.Int).Exp(new(big.Int).SetUint64(l.num), size, nil)
	for _, count := range counts {
		reduced := big.NewInt(int64(count / divisor))
		left.Mul(left, reduced.Exp(reduced, reduced, nil))
	}
	right := new(big.Int).Exp(new(big.Int).SetUint64(l.den), size, nil)
	right.Mul(right, new(big.Int).Exp(size, size, nil))
	return left.Cmp(right) <= 0
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (c EntropyDiversity) l() float64 {
	if !(c.L > 1) {
		return 1
	}
	return c.L
}

// String returns for example "entropy 3-diversity of diagnosis".
func (c EntropyDiversity) String() string {
	return fmt.Sprintf("entropy %s-diversity of %s", number(c.L), c.Name)
}

// MinRecords is L, rounded up: n records have an entropy of at most log n.
func (c EntropyDiversity) MinRecords() int {
	return int(min(math.Ceil(c.l()), math.MaxInt32))
}

// Feasible demands that the entropy of the whole table is at least log L.
func (c EntropyDiversity) Feasible(table Summary) error {
	if table.Records == 0 || c.Satisfied(table, nil) {
		return nil
	}
	if _, ok := table.counts(c.Attribute); !ok {
		return missing(c)
	}
	if table.subjects != nil {
		if h := table.holdings(c.Attribute); h.undercut(c.holds, math.Log(c.l())) && h.work < 0 {
			return undecided(c)
		}
		return fmt.Errorf("%v cannot hold: the table has %d values of %d persons, %s; some choice of one value for each has less entropy than log %s",
			c, len(table.Sensitive[c.Attribute]), table.Records, table.mostShared(c.Attribute), number(c.l()))
	}
	most := math.Floor(math.Exp(entropy(table.descending(c.Attribute)))*1000-1e-6) / 1000
	return fmt.Errorf("%v cannot hold: the values of the whole table are less diverse than that; l can be %s at the most",
		c, number(max(1, most)))
}
