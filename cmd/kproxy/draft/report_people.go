package draft

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/kproxy/kproxy/internal/eval/linked"
	"github.com/kproxy/kproxy/internal/propose"
)

// People is a kind of person of the outcome, whose tables are released together.
type People struct {
	Kind   string   `json:"kind"`
	Root   string   `json:"root"`
	Key    []string `json:"key"`
	Tables []string `json:"tables"`
	// Knows is what an outsider is taken to know, and Explained what that means.
	Knows     string `json:"knows"`
	Explained string `json:"explained"`
	// Persons is how many there are, Looked at how many were taken with all of their rows.
	Persons int64 `json:"persons"`
	Looked  int   `json:"persons_looked_at"`
	// Effects are what the draft makes of them, and what it would with other knowledge.
	Effects []linked.Measurement `json:"effects"`
}

func peopleOutcome(k propose.Kind, r *linked.Report) People {
	return People{
		Kind: k.Name, Root: k.Root.String(), Key: k.Key, Tables: r.Tables,
		Knows: k.Knows().String(), Explained: k.Knows().Explain(k.Name, k.K),
		Persons: k.Persons, Looked: r.Persons, Effects: r.Measurements,
	}
}

// people shows what a kind means, and what becomes of its persons' rows.
func (w *reporter) people(p People) {
	w.line("\nReleased together, since they are about the same persons (%s): %s", propose.OneLine(p.Kind), propose.OneLine(strings.Join(append([]string{p.Root}, p.Tables...), ", ")))
	w.line("    Their keys are published as pseudonyms, so that joins are written as for the source.")
	w.line("    %s", propose.OneLine(p.Explained))
	if p.Looked == 0 {
		w.line("    there are no persons: nothing can be shown of what this means")
		return
	}
	of := fmt.Sprintf("of all %d persons", p.Persons)
	if int64(p.Looked) < p.Persons {
		of = fmt.Sprintf("of a sample of %d of %d persons (all of them lose less)", p.Looked, p.Persons)
	}
	w.line("    What this makes %s, and what else knows would (1/1y is {rows: 1, per: 1y}):", of)
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "knows\tk\troot loss\trows' loss\twith keys\trisk 0\t1\t2\t3\tall rows\t\n")
	for _, e := range p.Effects {
		mark := ""
		if e.Knows == p.Knows {
			mark = "*"
		}
		if e.Refused != "" {
			fmt.Fprintf(table, "%s%s\t%d\tnone\t\t\t\t\t\t\t\t\n", mark, e.Knows, e.K)
			continue
		}
		fmt.Fprintf(table, "%s%s\t%d\t%s\t%s\t%s\t", mark, e.Knows, e.K, percent(e.Root.Loss), percent(e.Loss), percent(e.Linked))
		for _, r := range e.Risks {
			if r.Targets == 0 {
				fmt.Fprint(table, "-\t")
				continue
			}
			fmt.Fprintf(table, "%.3f\t", r.Mean)
		}
		fmt.Fprint(table, "\n")
	}
	_ = table.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		w.line("      %s", strings.TrimRight(line, " \n"))
	}
	for _, e := range p.Effects {
		if e.Knows == p.Knows && e.Refused == "" {
			w.threshold(e.K)
		}
	}
	w.line("    Risk is the mean of 1/persons left to whoever knows the root row and so many other rows of one window.")
	for _, e := range p.Effects {
		if e.Knows == p.Knows {
			w.proposedPeople(p.Root, e)
		}
	}
}

// proposedPeople shows the tables under the draft's own knowledge.
func (w *reporter) proposedPeople(root string, e linked.Measurement) {
	if e.Refused != "" {
		w.line("    nothing is published until there are more persons: %s", e.Refused)
		return
	}
	w.line("    %s: lost of each column: %s", propose.OneLine(root), losses(e.Root))
	for _, t := range e.Tables {
		line := fmt.Sprintf("%s: %s of %d rows keep their keys", propose.OneLine(t.Table), percent(t.Linked), t.Rows)
		if t.Orphans > 0 {
			line += fmt.Sprintf(", %d belong to nobody and are withheld", t.Orphans)
		}
		if len(t.Columns) > 0 {
			line += "; lost of each column: " + losses(t)
		}
		w.line("    %s", line)
	}
}

func losses(t linked.TableFigures) string {
	texts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		texts[i] = fmt.Sprintf("%s %s", propose.OneLine(c.Column), percent(c.Loss))
		if c.Days && c.Width > 0 {
			texts[i] += fmt.Sprintf(" (%.0f days)", c.Width)
		}
	}
	return strings.Join(texts, ", ")
}
