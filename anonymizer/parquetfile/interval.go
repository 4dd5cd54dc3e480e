package parquetfile

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// bounds are those of a range, "" for none.
type bounds struct{ lower, upper string }

var errRange = errors.New("a value is no range with inclusive bounds, as releases have them: choose CSV, which holds every value")

// parseRange reads a range in PostgreSQL's output form (PostgreSQL, "Range Types"). Those of whole
// numbers and dates exclude their upper bound there, and include it here.
func (c Column) parseRange(text string) (b bounds, err error) {
	if len(text) < len("(,)") {
		return b, errRange
	}
	inner := text[1 : len(text)-1]
	lower, upper, found := strings.Cut(inner, ",")
	if !found {
		return b, errRange
	}
	b = bounds{strings.Trim(lower, `"`), strings.Trim(upper, `"`)}
	if first, last := text[0], text[len(text)-1]; first != '[' && (first != '(' || b.lower != "") || last != ']' && last != ')' {
		return b, errRange
	}
	switch excluded := text[len(text)-1] == ')' && b.upper != ""; {
	case !excluded:
		return b, nil
	case c.Kind == Int32 || c.Kind == Int64 || c.Kind == Int16:
		n, err := strconv.ParseInt(b.upper, 10, 64)
		b.upper = strconv.FormatInt(n-1, 10)
		return b, notOf(c, err)
	case c.Kind == Date:
		day, err := time.Parse(time.DateOnly, b.upper)
		if b.upper == "10000-01-01" {
			day, err = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), nil
		}
		b.upper = day.AddDate(0, 0, -1).Format(time.DateOnly)
		return b, notOf(c, err)
	}
	return b, errRange
}

// rangeText is the inverse of parseRange.
func (c Column) rangeText(b bounds) string {
	closing := "]"
	if b.upper != "" {
		switch c.Kind {
		case Int16, Int32, Int64:
			if n, err := strconv.ParseInt(b.upper, 10, 64); err == nil {
				b.upper, closing = strconv.FormatInt(n+1, 10), ")"
			}
		case Date:
			if day, err := time.Parse(time.DateOnly, b.upper); err == nil {
				b.upper, closing = day.AddDate(0, 0, 1).Format(time.DateOnly), ")"
			}
		}
	}
	return RangeText(b.lower, b.upper, closing == ")")
}

// RangeText writes a range with these bounds, "" for none, as PostgreSQL does: from lower on, to upper or,
// where that is excluded, up to it.
func RangeText(lower, upper string, excluded bool) string {
	opening, closing := "[", "]"
	if lower == "" {
		opening = "("
	}
	if upper == "" || excluded {
		closing = ")"
	}
	return opening + quoted(lower) + "," + quoted(upper) + closing
}

// quoted quotes a bound with spaces in it, as PostgreSQL does.
func quoted(bound string) string {
	if strings.Contains(bound, " ") {
		return `"` + bound + `"`
	}
	return bound
}
