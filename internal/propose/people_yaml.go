package propose

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// Knows is what an outsider is taken to know of a person.
func (k Kind) Knows() catalog.Knowledge {
	knows := catalog.Knowledge{Rows: 1, Crowd: people.DefaultCrowd}
	if k.Yearly {
		knows.Per = 12
	}
	return knows
}

// people writes the section of the kinds of persons.
func (w *writer) people(kinds []Kind) {
	w.line(0, "")
	w.comment(0, "Tables about the same persons, which are released together: keys are published as pseudonyms under their own names, so that joins are written as for the source.")
	w.line(0, "people:")
	for _, k := range kinds {
		w.line(1, "%s:", Quote(k.Name))
		w.line(2, "root: %s", Quote(k.Root.String()))
		w.line(2, "key: %s", columns(k.Key))
		w.knows(k)
		w.comment(2, "comparing versions tells no more than one release does, and new rows wait for others: about a month where persons have one a year. With {mode: guarded, pace: weeks} or days they wait less, and the columns of "+k.Root.String()+" lose more, and new persons wait for more others; with immediate they do not wait, and "+catalog.Immediate.GivesAway())
		w.line(2, "updates: guarded")
		w.comment(2, "known: false, written into a table without quasi-identifying columns, says that no outsider knows rows of it, such as laboratory values: all of them then keep their keys")
		w.line(2, "tables:")
		for _, m := range k.Members {
			w.member(m)
		}
		w.line(2, "constraints:")
		w.line(3, "- k: %d   # every class has as many persons or more", k.K)
		for _, b := range k.Bounds {
			of := Quote(catalog.QualifiedColumn(b.Table, b.Column))
			if b.Alpha == 0 {
				w.comment(3, fmt.Sprintf("no alpha for %s: %s", of, b.Why))
				continue
			}
			w.comment(3, b.Why+": no class has it more often than this")
			w.line(3, "- {alpha: %g, of: %s}", b.Alpha, of)
		}
	}
}

// knows writes what an outsider may know, with what it means and the alternatives.
func (w *writer) knows(k Kind) {
	w.comment(2, "READ THIS ONE: "+k.Knows().Explain(k.Name, k.K))
	if k.Yearly {
		w.comment(2, "Instead: all, where an outsider may know all rows (dates blur to months, and rows that fit no other person's lose their keys); or {rows: 1}, where joins have to follow a "+k.Name+" through all years (two known rows of any time can single somebody out)")
		w.line(2, "knows: {rows: 1, per: 1y}")
		return
	}
	w.comment(2, "Instead: all, where an outsider may know all rows (rows that fit no other person's lose their keys). Windows such as {rows: 1, per: 1y} need a date in every table whose rows belong to persons directly, and there is none")
	w.line(2, "knows: {rows: 1}")
}

func (w *writer) member(m Member) {
	var parts []string
	add := func(key, value string) { parts = append(parts, key+": "+value) }
	if len(m.Person) > 0 {
		add("person", columns(m.Person))
	} else {
		add("through", Quote(m.Through.String()))
		add("by", columns(m.By))
	}
	if len(m.Key) > 0 {
		add("key", columns(m.Key))
	}
	if m.Order != "" {
		add("order", Quote(m.Order))
	}
	w.line(3, "%s: {%s}", Quote(m.Table.String()), strings.Join(parts, ", "))
}

// columns is one column, or a list of several.
func columns(names []string) string {
	if len(names) == 1 {
		return Quote(names[0])
	}
	return quoteAll(names)
}
