package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Text is what a generalized column shows of a class, in a text form of its type that PostgreSQL
// reads; false where it shows NULL. Spec is the attribute's.
func (c PublishedColumn) Text(spec hierarchy.Spec, g hierarchy.Generalization) (text string, shown bool) {
	switch {
	case g.Hidden:
		return "", false
	case c.Part == Range:
		return RangeText(c.Type, g.Lower, g.Upper), true
	case c.Part == Representative:
		return Representable(c.Type, g.Value, BoundsOf(spec, g)), true
	}
	return g.Value, true
}

// lastDateYear is a year below the end of PostgreSQL's calendar (5874897).
const lastDateYear = 5874896

// RangeText writes an inclusive range in PostgreSQL's text form (PostgreSQL,
// "Range Types"). Discrete ranges are brought to the form [a,b) by the server,
// which adds one to the upper bound: a bound at the end of its type is left out
// instead, as is one beyond it. An absent bound is honest, only less precise.
func RangeText(rangeType, lower, upper string) string {
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	switch rangeType {
	case "int4range":
		least, most = math.MinInt32, math.MaxInt32
		fallthrough
	case "int8range":
		if n, err := strconv.ParseInt(lower, 10, 64); err != nil || n < least {
			lower = ""
		}
		if n, err := strconv.ParseInt(upper, 10, 64); err != nil || n >= most {
			upper = ""
		}
	case "daterange":
		if year, _, dashed := strings.Cut(upper, "-"); dashed && !strings.HasSuffix(upper, "BC") {
			if n, err := strconv.Atoi(year); err != nil || n > lastDateYear {
				upper = ""
			}
		}
	}
	opening, closing := `["`+lower+`"`, `"`+upper+`"]`
	if lower == "" {
		opening = "("
	}
	if upper == "" {
		closing = ")"
	}
	return opening + "," + closing
}
