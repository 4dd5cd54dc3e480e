package propose

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// YAML is the section "tables" of a configuration or a policy file, with comments
// that say why.
func (d Draft) YAML() string {
	w := writer{shown: make(map[hierarchy.Kind]bool)}
	w.line(0, "# A draft from %d records: read every line, and decide who could know what.", d.Records)
	w.line(0, "# %.1f %% of the records are alone with their quasi-identifying values.", 100*d.Unique)
	w.line(0, "tables:")
	w.table(d)
	return w.String()
}

// Section are the sections of a configuration that protects these tables: "tables" and, where
// some are released together, "people".
func Section(drafts []Draft, kinds ...Kind) string {
	w := writer{shown: make(map[hierarchy.Kind]bool), settled: true}
	w.line(0, "tables:")
	for i, d := range drafts {
		if i > 0 {
			w.line(0, "")
		}
		w.comment(1, d.Why)
		switch {
		case d.Records == 0:
			w.line(1, "# The table is empty: these are guesses by names and types alone. Run init again when it has records.")
		case d.Kind != "":
			w.line(1, "# Looked at %d of %d records.", d.Records, d.Total)
		default:
			w.line(1, "# Looked at %d of %d records: %.1f %% are alone with their quasi-identifying values.", d.Records, d.Total, 100*d.Unique)
		}
		for _, note := range d.Notes {
			w.comment(1, note)
		}
		if d.Kind != "" {
			w.together(d)
			continue
		}
		w.table(d)
	}
	if len(kinds) > 0 {
		w.people(kinds)
	}
	return w.String()
}

// writer writes YAML line by line.
type writer struct {
	strings.Builder
	shown   map[hierarchy.Kind]bool // whose options have been written
	settled bool
}

// line writes one line, whatever names of the database have in them.
func (w *writer) line(indent int, format string, arguments ...any) {
	text := OneLine(fmt.Sprintf(format, arguments...))
	if text != "" {
		w.WriteString(strings.Repeat("  ", indent))
	}
	w.WriteString(text)
	w.WriteByte('\n')
}

func (w *writer) table(d Draft) {
	w.line(1, "%s:", Quote(d.Table.Schema+"."+d.Table.Relation))
	w.line(2, "method: lookahead-partition")
	w.constraints(d)
	if d.Subject != nil {
		sign := ""
		if !d.Settled {
			sign = "# "
		}
		w.line(2, "%ssubject: %s   # %s", sign, Quote(d.Subject.Column), d.Subject.Why)
	}
	w.comment(2, "comparing versions tells no more than one release does; with immediate, "+catalog.Immediate.GivesAway())
	w.line(2, "updates: guarded")
	w.line(2, "columns:")
	for _, c := range d.Choices {
		w.column(c)
	}
}

// together writes a table that is released with others: all but its columns stands in people.
func (w *writer) together(d Draft) {
	w.line(1, "%s:", Quote(d.Table.Schema+"."+d.Table.Relation))
	if len(d.Keys) > 0 {
		w.comment(2, "released with the tables of "+d.Kind+" in people, where its keys are published as pseudonyms: "+strings.Join(d.Keys, ", "))
	}
	if len(d.Choices) == 0 {
		w.line(2, "columns: {}")
		return
	}
	w.line(2, "columns:")
	for _, c := range d.Choices {
		w.column(c)
	}
}

func (w *writer) constraints(d Draft) {
	w.line(2, "constraints:")
	what := "records"
	if d.Subject != nil && d.Settled {
		what = "persons"
	}
	if d.Settled {
		w.line(3, "- k: %d   # every class has as many %s or more, alike in all quasi-identifying columns", d.K, what)
	} else {
		w.line(3, "- k: %d", d.K)
	}
	for _, l := range d.Diversities {
		switch {
		case l.L == 0:
			w.comment(3, fmt.Sprintf("no l for %s: %s", Quote(l.Column), l.Why))
		case d.Settled:
			w.comment(3, l.Why)
			w.line(3, "- {l: %d, of: %s}", l.L, Quote(l.Column))
		default:
			w.line(3, "# - {l: %d, of: %s}   # %s", l.L, Quote(l.Column), l.Why)
		}
	}
}

func (w *writer) column(c Choice) {
	why := c.Why
	if c.Unsure {
		why = "READ THIS ONE: " + why
	}
	w.comment(3, why)
	if c.Note != "" {
		w.line(3, "# %s", c.Note)
	}
	if c.Role == 0 {
		w.line(3, "# %s: not named, and so not published", Quote(c.Column))
		return
	}
	if c.Role != catalog.QuasiIdentifying {
		w.line(3, "%s: %v", Quote(c.Column), c.Role)
		return
	}
	arranged := len(c.Spec.Order)+len(c.Spec.Taxonomy) > 0
	if !arranged {
		w.option(c)
	}
	if len(c.Labels) > 2 {
		w.line(3, "# put similar values under a common label: taxonomy: {LABEL: [...], LABEL: [...]}")
		w.line(3, "# the frequent ones: %s", quoteAll(c.Labels))
	}
	if !arranged {
		w.line(3, "%s: {role: %v, hierarchy: %v}", Quote(c.Column), c.Role, c.Spec.Kind)
		return
	}
	w.line(3, "%s:", Quote(c.Column))
	w.line(4, "role: %v", c.Role)
	w.line(4, "hierarchy:")
	w.line(5, "kind: %v", c.Spec.Kind)
	if len(c.Spec.Order) > 0 {
		w.line(5, "values: %s", quoteAll(c.Spec.Order))
		return
	}
	w.line(5, "taxonomy:")
	for _, node := range c.Spec.Taxonomy {
		if len(node.Children) == 0 {
			w.line(6, "%s:", Quote(node.Label))
			continue
		}
		children := make([]string, len(node.Children))
		for i, child := range node.Children {
			children[i] = child.Label
		}
		w.line(6, "%s: %s", Quote(node.Label), quoteAll(children))
	}
}

// option writes a comment on other hierarchies of a kind: in full at the first column of the kind,
// and in a draft that is in force, for each column, those that would fit its values.
func (w *writer) option(c Choice) {
	switch first := !w.shown[c.Spec.Kind]; {
	case first && c.Option != "":
		w.line(3, "# %s", explained[c.Spec.Kind])
		w.line(3, "#   %s", c.Option)
	case w.settled && c.Option != "":
		w.line(3, "# or %s", c.Option)
	case first:
		for _, option := range options[c.Spec.Kind] {
			w.line(3, "# %s", option)
		}
	}
	w.shown[c.Spec.Kind] = true
}

// comment writes a comment, in several lines where it is long.
func (w *writer) comment(indent int, text string) {
	const width = 98
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && 2*indent+2+len(line)+1+len(word) > width {
			w.line(indent, "# %s", line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	w.line(indent, "# %s", line)
}

// OneLine puts spaces in place of what could end a comment, such as a line break in a
// name of the database.
func OneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, text)
}

// Quote writes a text as a YAML scalar in double quotes, unless it is a plain
// word, which configurations take as it is.
func Quote(text string) string {
	plain := text != ""
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		inner := i > 0 && i < len(text)-1 && (c == '.' || c == '-')
		plain = plain && (letter || inner || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return text
	}
	// Go's escapes of what cannot be printed, line breaks of every kind among it,
	// are YAML's as well.
	return strconv.Quote(text)
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = Quote(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
