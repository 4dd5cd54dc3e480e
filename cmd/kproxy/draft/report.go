package draft

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/propose"
)

// Report writes the proposal, its effect on the sampled records, and the next steps. It contains
// counts and names of columns, but no values of records.
func (o *Outcome) Report(out io.Writer) error {
	w := &reporter{out: out}
	w.line("Looked at %d tables of database %s.", len(o.Tables), o.Database)
	if tables := o.byVerdict(propose.Protect); len(tables) > 0 {
		w.line("\nTo be protected:")
		for _, t := range tables {
			w.table(t)
		}
	}
	for _, k := range o.People {
		w.people(k)
	}
	if tables := o.byVerdict(propose.Readable); len(tables) > 0 {
		w.line("\nReadable as they are:")
		for _, t := range tables {
			w.line("  %s: %s", propose.OneLine(t.Table), propose.OneLine(t.Why))
		}
	}
	if tables := o.byVerdict(propose.LeaveOut); len(tables) > 0 {
		w.line("\nLeft out, so that clients see nothing of them:")
		for _, t := range tables {
			w.line("  %s: %s", propose.OneLine(t.Table), propose.OneLine(t.Why))
		}
	}
	return w.err
}

// Written writes the names of the files, the password and the next steps.
func (o *Outcome) Written(out io.Writer) error {
	w := &reporter{out: out}
	w.line("\nWritten, for your eyes only:")
	w.line("  %s", o.File)
	for _, p := range o.Passwords {
		note := ""
		if p.Existed {
			note = " was there, and is used as it is"
		}
		w.line("  %s: the password of role %s%s", p.File, p.Role, note)
	}
	w.line("\nThe password of %s, shown this once: %s", o.User, o.Password)
	w.line("\nNext:")
	for i, s := range o.Next {
		w.line("  %d. %s", i+1, s.What)
		w.line("       %s", s.Command)
	}
	return w.err
}

type reporter struct {
	out io.Writer
	err error
}

func (w *reporter) line(format string, arguments ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format+"\n", arguments...)
	}
}

func (w *reporter) table(t Table) {
	w.line("\n  %s: %s", propose.OneLine(t.Table), propose.OneLine(t.Why))
	for _, note := range t.Notes {
		w.line("    %s", propose.OneLine(note))
	}
	if t.Subject != "" {
		w.line("    persons are told apart by %s", propose.OneLine(t.Subject))
	}
	if t.Kind != "" {
		w.line("    released with the tables of %s, as said below", propose.OneLine(t.Kind))
		w.line("    %-18s %s", "pseudonyms", propose.OneLine(strings.Join(t.Keys, ", ")))
	}
	for _, role := range []catalog.Role{catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive} {
		w.columns(t, role.String())
	}
	w.columns(t, "not named")
	for _, c := range t.Columns {
		if c.Unsure {
			w.line("    read this one: %s: %s", propose.OneLine(c.Column), propose.OneLine(c.Why))
		}
	}
	if t.Looked == 0 {
		w.line("    it is empty: nothing can be shown of what this means")
		return
	}
	if t.Kind == "" {
		w.effects(t)
	}
}

func (w *reporter) columns(t Table, role string) {
	var names []string
	for _, c := range t.Columns {
		if c.Role != role {
			continue
		}
		name := propose.OneLine(c.Column)
		if c.Hierarchy != "" {
			name += " (" + c.Hierarchy + ")"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		w.line("    %-18s %s", role, strings.Join(names, ", "))
	}
}

// effects shows what the draft makes of the sample for several k.
func (w *reporter) effects(t Table) {
	of := fmt.Sprintf("of all %d records", t.Records)
	if int64(t.Looked) < t.Records {
		of = fmt.Sprintf("of a sample of %d of %d records (all of them lose less)", t.Looked, t.Records)
	}
	w.line("    What this makes %s, of which %.1f %% are alone as they are:", of, 100*t.Unique)
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "k\tclasses\tsmallest\tmedian\tlargest\tloss\thighest risk\tmean risk\twithheld\t\n")
	for _, e := range t.Effects {
		mark := ""
		if e.Proposed {
			mark = "*"
		}
		if e.Refused != "" {
			fmt.Fprintf(table, "%s%d\tnone\t\t\t\t\t\t\tall\t\n", mark, e.K)
			continue
		}
		fmt.Fprintf(table, "%s%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%d\t\n", mark, e.K, e.Classes, e.Smallest, e.Median, e.Largest, percent(e.Loss), percent(e.Risk), percent(e.MeanRisk), e.Withheld)
	}
	_ = table.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		w.line("      %s", strings.TrimRight(line, " \n"))
	}
	for _, e := range t.Effects {
		if e.Proposed {
			w.proposed(e)
		}
	}
}

// proposed shows the columns with the draft's own k.
func (w *reporter) proposed(e Effect) {
	if e.Refused != "" {
		w.line("      with k = %d all is withheld until there are more records: %s", e.K, e.Refused)
		return
	}
	w.threshold(e.K)
	var losses []string
	for _, c := range e.Columns {
		losses = append(losses, fmt.Sprintf("%s %s%s", propose.OneLine(c.Column), percent(c.Loss), silent(c)))
	}
	w.line("      with k = %d, lost of each column: %s", e.K, strings.Join(losses, ", "))
	for _, r := range e.Reached {
		w.line("      with k = %d, every class has %d values of %s at least; the same one %s of a class at most; t is %.2f",
			e.K, r.Values, propose.OneLine(r.Column), percent(r.Share), r.Closeness)
	}
}

// threshold compares the risk that k leaves with what practice asks for.
func (w *reporter) threshold(k int) {
	if risk := 1 / float64(k); risk > metric.UsualThreshold {
		w.line("      k = %d leaves a risk of up to %.2f that who knows all of this identifies a person; where data are made public, practice asks for %.2f: k = %d",
			k, risk, metric.UsualThreshold, metric.LeastK(metric.UsualThreshold))
	}
}

func silent(c eval.ColumnLoss) string {
	if c.Suppressed < 0.005 {
		return ""
	}
	return fmt.Sprintf(" (nothing is said for %s)", percent(c.Suppressed))
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

var plain = regexp.MustCompile(`^[A-Za-z0-9@%_+=:,./-]+$`)

// shell quotes a word for a POSIX shell where it needs it.
func shell(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
