package sync

import (
	"math"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// generalizedColumns are the published columns that show a class instead of a
// record, in the publication's order.
func (t *table) generalizedColumns() []catalog.PublishedColumn {
	var columns []catalog.PublishedColumn
	for _, c := range t.publication.Columns {
		if c.Generalized() {
			columns = append(columns, c)
		}
	}
	return columns
}

// published puts a class's generalizations into the text form of the
// generalized columns; nil is NULL.
func (t *table) published(generalizations []hierarchy.Generalization) []*string {
	columns := t.generalizedColumns()
	texts := make([]*string, len(columns))
	for i, c := range columns {
		g := generalizations[c.Attribute]
		if g.Hidden {
			continue
		}
		text := g.Value
		switch {
		case c.Part == catalog.Range:
			text = rangeText(c.Type, g.Lower, g.Upper)
		case c.Part == catalog.Representative && c.Type == "real":
			text = singlePrecision(text)
		}
		texts[i] = &text
	}
	return texts
}

// singlePrecision rounds a number to the nearest real: the middle between two
// reals may be too small to be one, which the server refuses to read.
func singlePrecision(text string) string {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(float64(float32(number)), 'g', -1, 32)
}

// lastDateYear is a year below the end of PostgreSQL's calendar (5874897).
const lastDateYear = 5874896

// rangeText writes an inclusive range in PostgreSQL's text form (PostgreSQL,
// "Range Types"). Discrete ranges are brought to the form [a,b) by the server,
// which adds one to the upper bound: a bound at the end of its type is left out
// instead, as is one beyond it. An absent bound is honest, only less precise.
func rangeText(rangeType, lower, upper string) string {
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
