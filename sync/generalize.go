package sync

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// published appends the generalizations of a class, in the text form of the part's
// generalized columns, to some texts.
func (p *part) published(generalizations []hierarchy.Generalization, to []value) []value {
	for i := range p.generalized {
		c := &p.generalized[i]
		g := &generalizations[c.attribute]
		text, shown := c.Text(c.spec, *g)
		to = append(to, value{text: text, null: !shown})
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
