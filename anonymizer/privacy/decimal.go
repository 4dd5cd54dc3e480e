package privacy

import (
	"math/big"
	"math/bits"
	"strconv"
)

// decimal is a constraint's bound as a fraction of whole numbers. A float64
// stands for its shortest decimal form, what a person wrote: 3 of 10 records are
// within 0.3, although the nearest float64 lies below.
type decimal struct{ num, den uint64 }

// decimalPlaces is the precision of a bound, and 10^decimalPlaces the largest.
// Further places are cut off, which makes an upper bound stricter.
const decimalPlaces = 18

// decimalOf takes a negative number and NaN as 0.
func decimalOf(x float64) decimal {
	switch {
	case !(x > 0):
		return decimal{0, 1}
	case x >= 1e18:
		return decimal{power10(decimalPlaces), 1}
	}
	var buffer [32]byte
	var num uint64
	places, exponent := -1, 0
	text := strconv.AppendFloat(buffer[:0], x, 'e', -1, 64)
	for i, c := range text {
		if c == 'e' {
			exponent, _ = strconv.Atoi(string(text[i+1:]))
			break
		}
		if c != '.' {
			num, places = num*10+uint64(c-'0'), places+1
		}
	}
	switch places -= exponent; {
	case places <= 0:
		return decimal{num * power10(-places), 1}
	case places <= decimalPlaces:
		return decimal{num, power10(places)}
	default:
		return decimal{num / power10(min(places-decimalPlaces, decimalPlaces)), power10(decimalPlaces)}
	}
}

func power10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// of is the greatest whole number that is at most the fraction of n.
func (d decimal) of(n int) int {
	if n <= 0 || d.num >= d.den {
		return max(0, n)
	}
	high, low := bits.Mul64(d.num, uint64(n))
	whole, _ := bits.Div64(high, low, d.den)
	return int(whole)
}

// reciprocal is 1/d, rounded down; at most the largest int32, which stands for
// more than any class has.
func (d decimal) reciprocal() int {
	if d.num == 0 || d.den/d.num > 1<<31-1 {
		return 1<<31 - 1
	}
	return int(d.den / d.num)
}

func (d decimal) rat() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(d.num), new(big.Int).SetUint64(d.den))
}

// wide is a number of 128 bits, enough for a product of two counts with another
// or with a bound's denominator.
type wide struct{ high, low uint64 }

func product(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	return wide{high, low}
}

func (w wide) plus(v wide) wide {
	low, carry := bits.Add64(w.low, v.low, 0)
	high, _ := bits.Add64(w.high, v.high, carry)
	return wide{high, low}
}

// minus is w - v for v at most w.
func (w wide) minus(v wide) wide {
	low, borrow := bits.Sub64(w.low, v.low, 0)
	high, _ := bits.Sub64(w.high, v.high, borrow)
	return wide{high, low}
}

func (w wide) less(v wide) bool {
	return w.high < v.high || w.high == v.high && w.low < v.low
}

func (w wide) float() float64 { return float64(w.high)*(1<<64) + float64(w.low) }

func (w wide) big() *big.Int {
	high := new(big.Int).SetUint64(w.high)
	return high.Lsh(high, 64).Or(high, new(big.Int).SetUint64(w.low))
}
