package sync

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// published appends the generalizations of a class, in the text form of the part's
// generalized columns, to some texts.
func (p *part) published(generalizations []hierarchy.Generalization, to []value) []value {
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
			text = representable(c.Type, text, boundsOf(c.spec, *g))
		}
		to = append(to, value{text: text})
	}
	return to
}

// displayedTexts joins what readers see of a class: two classes that look different have
// different texts. The server stores the texts as they are, or brings different texts to
// different forms.
func (p *part) displayedTexts(generalizations []hierarchy.Generalization) string {
	var b strings.Builder
	for _, v := range p.published(generalizations, nil) {
		if v.null {
			b.WriteString("NULL,")
		} else {
			b.WriteString(strconv.Quote(v.text) + ",")
		}
	}
	return b.String()
}

// classRow is a class of a part with what is published for it, for a COPY.
func (p *part) classRow(class incremental.ClassID, generalizations []hierarchy.Generalization) []any {
	row := []any{int64(class)}
	for _, v := range p.published(generalizations, nil) {
		row = append(row, v.pointer())
	}
	return row
}

// shown gives what is published for some classes of a part, an array of texts for each
// generalized column.
func (p *part) shown(classes []int64, generalize func(incremental.ClassID) []hierarchy.Generalization) []any {
	columns := make([]*array, len(p.generalized))
	for i := range columns {
		columns[i] = newTexts(len(classes))
	}
	var texts []value
	for _, class := range classes {
		texts = p.published(generalize(incremental.ClassID(class)), texts[:0])
		for i, v := range texts {
			columns[i].add(v)
		}
	}
	arguments := make([]any, len(columns))
	for i, column := range columns {
		arguments[i] = column
	}
	return arguments
}

// castList are a part's class and its generalized columns g0, g1, ... of their types.
func (p *part) castList() string {
	list := []string{p.column}
	for i, c := range p.generalized {
		list = append(list, fmt.Sprintf("g%[1]d::%[2]s AS g%[1]d", i, c.Type))
	}
	return strings.Join(list, ", ")
}

// generalizedNames are the names g0, g1, ... of a part's generalized columns on
// their way into the server, each behind prefix and before suffix.
func (p *part) generalizedNames(prefix, suffix string) []string {
	names := make([]string, len(p.generalized))
	for i := range names {
		names[i] = fmt.Sprintf("%sg%d%s", prefix, i, suffix)
	}
	return names
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
