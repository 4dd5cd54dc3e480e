package catalog

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Bounds are those between which the members of a class lie. Bounds that are no
// numbers, or moments, bound nothing.
type Bounds struct {
	Lower, Upper string
	HalfOpen     bool // no member is equal to Upper
}

// BoundsOf are those of a generalization by a hierarchy. Fixed intervals of decimals
// share their bounds with their neighbors.
func BoundsOf(spec hierarchy.Spec, g hierarchy.Generalization) Bounds {
	return Bounds{g.Lower, g.Upper, len(spec.Steps) > 0 && spec.Domain == hierarchy.DomainDecimal}
}

// Representable brings the value that stands for a class into its column's type,
// in the text form of exactly what the server stores then: it rounds to the type's
// precision by itself, and classes of which the same is stored look alike to readers.
//
// The middle of a fixed interval can lie beyond the type, or be rounded out of the
// interval. The members are of the type and lie in the interval, so that a value of
// the type can take its place that does as well.
func Representable(sqlType, text string, within Bounds) string {
	switch sqlType {
	case "smallint":
		return decimals{least: big.NewInt(math.MinInt16), most: big.NewInt(math.MaxInt16)}.represent(text, within)
	case "integer":
		return decimals{least: big.NewInt(math.MinInt32), most: big.NewInt(math.MaxInt32)}.represent(text, within)
	case "real":
		return singlePrecision(text, within)
	}
	if !strings.Contains(sqlType, "(") {
		return text
	}
	var precision, scale int
	if _, err := fmt.Sscanf(sqlType, "numeric(%d,%d)", &precision, &scale); err == nil {
		most := new(big.Int).Sub(powerOfTen(precision), big.NewInt(1))
		return decimals{scale: scale, least: new(big.Int).Neg(most), most: most}.represent(text, within)
	}
	var digits int
	if _, err := fmt.Sscanf(sqlType, "timestamp(%d)", &digits); err == nil {
		return roundTimestamp(text, digits, within)
	}
	return text
}

// decimals are the multiples of 10^-scale, counted from least to most (PostgreSQL,
// "Numeric Types"). The scale can be negative, or greater than the precision.
type decimals struct {
	scale       int
	least, most *big.Int
}

// represent rounds half away from zero, as the server does. What is no number stays
// as it is.
func (d decimals) represent(text string, within Bounds) string {
	value, readable := d.count(text)
	if !readable {
		return text
	}
	number := floor(new(big.Rat).Add(new(big.Rat).Abs(value), big.NewRat(1, 2)))
	if value.Sign() < 0 {
		number.Neg(number)
	}
	if number.Cmp(d.most) > 0 {
		number = d.most
	}
	if number.Cmp(d.least) < 0 {
		number = d.least
	}
	if upper, readable := d.count(within.Upper); readable {
		last := floor(upper)
		if within.HalfOpen && upper.IsInt() {
			last.Sub(last, big.NewInt(1))
		}
		if number.Cmp(last) > 0 {
			number = last
		}
	}
	if lower, readable := d.count(within.Lower); readable {
		if first := new(big.Int).Neg(floor(lower.Neg(lower))); number.Cmp(first) < 0 {
			number = first
		}
	}
	if d.scale <= 0 {
		return number.Mul(number, powerOfTen(-d.scale)).String()
	}
	return new(big.Rat).SetFrac(number, powerOfTen(d.scale)).FloatString(d.scale)
}

// count gives a number in multiples of 10^-scale.
func (d decimals) count(text string) (multiples *big.Rat, readable bool) {
	number, readable := new(big.Rat).SetString(text)
	if !readable {
		return nil, false
	}
	if d.scale < 0 {
		return number.Quo(number, new(big.Rat).SetInt(powerOfTen(-d.scale))), true
	}
	return number.Mul(number, new(big.Rat).SetInt(powerOfTen(d.scale))), true
}

func powerOfTen(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// floor is the greatest whole number up to the number.
func floor(number *big.Rat) *big.Int { return new(big.Int).Div(number.Num(), number.Denom()) }

// singlePrecision rounds to the nearest real, or to one beside it where that one's
// shortest text, which is what readers see of it, lies among the members.
func singlePrecision(text string, within Bounds) string {
	number, err := strconv.ParseFloat(text, 32)
	if err != nil && !math.IsInf(number, 0) {
		return text
	}
	nearest := float32(max(-math.MaxFloat32, min(math.MaxFloat32, number)))
	below, above := nearest, nearest
	for range 3 {
		for _, f := range []float32{below, above} {
			if shown := realText(f); within.hold(shown) {
				return shown
			}
		}
		below = max(-math.MaxFloat32, math.Nextafter32(below, float32(math.Inf(-1))))
		above = min(math.MaxFloat32, math.Nextafter32(above, float32(math.Inf(1))))
	}
	return realText(nearest)
}

// realText is the text of a real that the server writes: the shortest that lies
// nearer to it than to any other real (PostgreSQL, "Floating-Point Types"). There is
// one zero for readers.
func realText(f float32) string {
	if f == 0 {
		return "0"
	}
	text := strconv.FormatFloat(float64(f), 'g', -1, 32)
	// Halfway to an even neighbor is near enough for Go, but not for the server.
	for digits := 1; !nearestTo(f, text); digits++ {
		text = strconv.FormatFloat(float64(f), 'e', digits, 64)
	}
	return text
}

// nearestTo reports whether a decimal lies nearer to a real than to any other.
func nearestTo(f float32, text string) bool {
	number, _ := new(big.Rat).SetString(text)
	for _, side := range []int{-1, 1} {
		neighbor := math.Nextafter32(f, float32(math.Inf(side)))
		halfway := new(big.Rat).SetFloat64(float64(f)/2 + float64(neighbor)/2)
		if halfway != nil && number.Cmp(halfway) != -side { // nil beside infinity
			return false
		}
	}
	return true
}

// hold reports whether a number lies within the bounds.
func (b Bounds) hold(text string) bool {
	number, readable := new(big.Rat).SetString(text)
	if !readable {
		return true
	}
	if lower, readable := new(big.Rat).SetString(b.Lower); readable && number.Cmp(lower) < 0 {
		return false
	}
	if upper, readable := new(big.Rat).SetString(b.Upper); readable {
		side := number.Cmp(upper)
		return side < 0 || side == 0 && !b.HalfOpen
	}
	return true
}
