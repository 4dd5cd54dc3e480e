package sync

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// representable brings the value that stands for a class into its column's type.
// The middle of a fixed interval can lie beyond the type, and the middle between
// two reals be too small to be one, both of which the server refuses to read. The
// end of the type takes its place: the members are of the type and lie in the
// interval, so that the end lies between them and the middle.
func representable(sqlType, text string) string {
	switch sqlType {
	case "smallint":
		return clamp(text, strconv.Itoa(math.MinInt16), strconv.Itoa(math.MaxInt16))
	case "integer":
		return clamp(text, strconv.Itoa(math.MinInt32), strconv.Itoa(math.MaxInt32))
	case "real":
		return singlePrecision(text)
	}
	var precision, scale int
	if n, err := fmt.Sscanf(sqlType, "numeric(%d,%d)", &precision, &scale); err != nil || n != 2 || scale < 0 || scale > precision {
		return text
	}
	most := strings.Repeat("9", precision-scale) + "." + strings.Repeat("9", scale)
	if precision == scale {
		most = "0" + most
	}
	most = strings.TrimSuffix(most, ".")
	return clamp(text, "-"+most, most)
}

// clamp returns the nearest number to text between the two; what is no number
// stays as it is.
func clamp(text, least, most string) string {
	value, readable := new(big.Rat).SetString(text)
	if !readable {
		return text
	}
	for _, end := range []struct {
		text string
		sign int
	}{{least, -1}, {most, 1}} {
		if bound, _ := new(big.Rat).SetString(end.text); value.Cmp(bound) == end.sign {
			return end.text
		}
	}
	return text
}

// singlePrecision rounds a number to the nearest real.
func singlePrecision(text string) string {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	number = max(-math.MaxFloat32, min(math.MaxFloat32, number))
	return strconv.FormatFloat(float64(float32(number)), 'g', -1, 32)
}
