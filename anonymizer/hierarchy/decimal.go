package hierarchy

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// decimals is the Numeric hierarchy over numeric, real and double precision.
//
// A float64 cannot hold every decimal, yet published bounds must be honest for
// all. A cell is called plain if its shortest decimal form has at most 15
// significant digits, and this is kept true:
//
//   - a plain cell stands for exactly its shortest decimal form;
//   - any other cell stands for some decimal between the shortest forms of its
//     two neighbors, which become its bounds.
//
// A decimal of up to 15 digits rounds to a float64 whose shortest form it is
// (DBL_DIG), so it gets a plain cell. A longer one that would round to a plain
// cell without being equal to it takes the neighbor on its side. Neighbors are
// never both plain, because decimals of 15 digits lie further apart than
// float64s. Rounding is monotone, hence every decimal that rounds to a lesser
// float64 is a lesser decimal, and the neighbors' shortest forms enclose.
type decimals struct{}

// plainDigits is how many significant decimal digits always survive a float64.
const plainDigits = 15

// plainFloor is the least magnitude of a plain cell other than zero; float64s
// lose precision near their smallest magnitude.
const plainFloor = 1e-300

func (decimals) Kind() Kind { return Numeric }

func (decimals) Encode(value string) Cell {
	if strings.Trim(value, "+-.0123456789eE") != "" {
		return OffScale()
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.Abs(f) >= math.MaxFloat64 {
		return OffScale()
	}
	if math.Abs(f) >= plainFloor && countDigits(value) <= plainDigits {
		return f
	}
	if !plain(f) {
		return f
	}
	switch side := compareDecimals(value, strconv.FormatFloat(f, 'e', -1, 64)); {
	case side > 0:
		return math.Nextafter(f, math.Inf(1))
	case side < 0:
		return math.Nextafter(f, math.Inf(-1))
	default:
		return f + 0 // turns negative zero into zero
	}
}

func (decimals) Position(c Cell) float64 { return c }

func (decimals) Generalize(cells []Cell) Generalization {
	low, high, ok := extent(cells)
	if !ok || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return Generalization{Hidden: true}
	}
	g := Generalization{Value: formatDecimal(low), Lower: formatDecimal(low), Upper: formatDecimal(high)}
	if !plain(low) {
		g.Lower = formatDecimal(math.Nextafter(low, math.Inf(-1)))
	}
	if !plain(high) {
		g.Upper = formatDecimal(math.Nextafter(high, math.Inf(1)))
	}
	if low < high {
		g.Value = formatDecimal(middle(low, high))
	}
	return g
}

// middle is the midpoint, rounded to plainDigits where that stays between the
// two.
func middle(low, high float64) float64 {
	mid := low/2 + high/2
	if span := high - low; !math.IsInf(span, 0) {
		mid = low + span/2
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(mid, 'e', plainDigits-1, 64), 64)
	if err != nil || rounded < low || rounded > high {
		return mid
	}
	return rounded
}

func plain(f float64) bool {
	if f == 0 {
		return true
	}
	return math.Abs(f) >= plainFloor && countDigits(strconv.FormatFloat(f, 'e', -1, 64)) <= plainDigits
}

// countDigits counts the digits of the text before its exponent, of which
// significant ones are a part.
func countDigits(text string) int {
	count := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == 'e' || c == 'E':
			return count
		case c >= '0' && c <= '9':
			count++
		}
	}
	return count
}

// formatDecimal writes the shortest form that reads back as f, without exponent
// where that stays short. PostgreSQL reads both.
func formatDecimal(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// compareDecimals compares the true values of two well-formed decimal texts.
func compareDecimals(a, b string) int {
	aSign, aDigits, aScale := splitDecimal(a)
	bSign, bDigits, bScale := splitDecimal(b)
	if aSign != bSign || aSign == 0 {
		return cmp.Compare(aSign, bSign)
	}
	return aSign * cmp.Or(cmp.Compare(aScale, bScale), cmp.Compare(aDigits, bDigits))
}

// splitDecimal reads a decimal as sign * 0.digits * 10^scale, with neither
// leading nor trailing zeros in digits; the sign of zero is 0.
func splitDecimal(text string) (sign int, digits string, scale int) {
	sign = 1
	if text[0] == '-' {
		sign = -1
	}
	mantissa := strings.TrimLeft(text, "+-")
	if e := strings.IndexAny(mantissa, "eE"); e >= 0 {
		// Atoi gives the nearest int for what is out of range.
		scale, _ = strconv.Atoi(mantissa[e+1:])
		mantissa = mantissa[:e]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	scale = clampScale(scale) + len(whole) - (len(whole) + len(fraction) - len(digits))
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return 0, "", 0
	}
	return sign, digits, scale
}

// clampScale keeps sums with text lengths from overflowing; a magnitude of
// 10^(2^40) is as far outside float64 as any other.
func clampScale(scale int) int {
	const limit = 1 << 40
	return max(-limit, min(limit, scale))
}
