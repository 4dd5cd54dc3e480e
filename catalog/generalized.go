package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Text is the value of a generalized column for a class, in a text form that PostgreSQL reads; false
// where it is NULL. Spec is the attribute's.
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

// Output is the value of a generalized column for a class, in the text form that PostgreSQL writes; false
// where it is NULL. Spec is the attribute's.
func (c PublishedColumn) Output(spec hierarchy.Spec, g hierarchy.Generalization) (text string, shown bool) {
	if text, shown = c.Text(spec, g); !shown || c.Part != Range {
		return text, shown
	}
	return rangeOutput(c.Type, text), true
}

// rangeOutput is what the server makes of a RangeText: ranges of whole numbers and days end before
// their upper bound, and bounds are quoted where they need it (PostgreSQL, "Range Types").
func rangeOutput(rangeType, text string) string {
	lower, upper, _ := strings.Cut(text[1:len(text)-1], ",")
	lower, upper = strings.Trim(lower, `"`), strings.Trim(upper, `"`)
	closing := text[len(text)-1:]
	if upper != "" {
		switch rangeType {
		case "int4range", "int8range":
			if n, err := strconv.ParseInt(upper, 10, 64); err == nil {
				upper, closing = strconv.FormatInt(n+1, 10), ")"
			}
		case "daterange":
			if day, _, readable := parseTimestamp(strings.Replace(upper+" 00:00:00", " BC 00:00:00", " 00:00:00 BC", 1)); readable {
				moment := formatTimestamp(day+24*60*60*microsPerSecond, "")
				upper, closing = strings.Replace(moment, " 00:00:00", "", 1), ")"
			}
		}
	}
	return text[:1] + quotedBound(lower) + "," + quotedBound(upper) + closing
}

func quotedBound(bound string) string {
	if strings.Contains(bound, " ") {
		return `"` + bound + `"`
	}
	return bound
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
