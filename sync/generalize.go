package sync

import (
	"math"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// published puts the generalizations of a class of the part into the text form of its
// generalized columns, and appends these to some texts.
func (t *layout) published(p *part, generalizations []hierarchy.Generalization, to []value) []value {
	for i := range p.generalized {
		c := &p.generalized[i]
		g := &generalizations[c.attribute]
		if g.Hidden {
			to = append(to, value{null: true})
			continue
		}
		text := g.Value
		switch c.Part {
		case catalog.Range:
			text = rangeText(c.Type, g.Lower, g.Upper)
		case catalog.Representative:
			text = representable(c.Type, text, boundsOf(t.publication.Attributes[c.Attribute].Spec, *g))
		}
		to = append(to, value{text: text})
	}
	return to
}

// displayedTexts joins what readers see of a class, so that different looks differ. The
// server stores the texts as they are, or brings different ones to different forms.
func (t *layout) displayedTexts(p *part, generalizations []hierarchy.Generalization) string {
	var b strings.Builder
	for _, v := range t.published(p, generalizations, nil) {
		if v.null {
			b.WriteString("NULL,")
		} else {
			b.WriteString(strconv.Quote(v.text) + ",")
		}
	}
	return b.String()
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
