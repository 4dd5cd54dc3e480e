package attack

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/internal/eval/report"
)

// Names of the files that WriteFiles makes besides the charts.
const (
	PageName     = "attack.html"
	JSONName     = "attack.json"
	MarkdownName = "attack.md"
)

// WriteFiles writes a page with charts, each chart as SVG, the figures as JSON, and a
// table as Markdown into the folder, which it makes where it is absent.
func (o *Outcome) WriteFiles(folder string) error {
	files := []report.File{{Name: PageName, Write: o.writePage}, report.JSONFile(JSONName, o), {Name: MarkdownName, Write: o.WriteMarkdown}}
	for _, f := range o.figures() {
		files = append(files, f.File())
	}
	_, err := report.WriteFiles(folder, files...)
	return err
}

// WriteJSON writes all that was measured.
func (o *Outcome) WriteJSON(w io.Writer) error { return report.WriteJSON(w, o) }

// Circumstances says what the experiment was.
func (s Setup) Circumstances() string {
	constraints := "k-anonymity"
	if s.Alpha > 0 {
		constraints += fmt.Sprintf(", alpha = %g", s.Alpha)
	}
	if s.L > 1 {
		constraints += fmt.Sprintf(", l = %d", s.L)
	}
	about := "each about a different person"
	if s.Repeats > 0 {
		about = fmt.Sprintf("%g %% about a person who already has one", 100*s.Repeats)
	}
	return fmt.Sprintf("%d records at the start, %s; %d ticks; %s. Guarded publication in batches of %d times crowd times k records, or after %d ticks. Seed %d.",
		s.Records, about, s.Steps, constraints, s.Batch, s.Within, s.Seed)
}

// columns of the table.
var columns = []struct {
	name string
	text func(Measurement) string
}{
	{"changes %", func(m Measurement) string { return percent(m.Rate) }},
	{"k", func(m Measurement) string { return strconv.Itoa(m.K) }},
	{"published", func(m Measurement) string { return m.Mode }},
	{"versions", func(m Measurement) string { return strconv.Itoa(m.Versions) }},
	{"static %", func(m Measurement) string { return percent(m.Bound.Right) }},
	{"best %", func(m Measurement) string { return percent(m.best().Right) }},
	{"by", func(m Measurement) string { return m.best().Attacker }},
	{"exposed %", func(m Measurement) string { return percent(m.Exposed()) }},
	{"surest %", func(m Measurement) string { return percent(m.Greatest()) }},
	{"certain %", func(m Measurement) string { return percent(m.Certain()) }},
	{"unsafe sets %", func(m Measurement) string { return percent(m.Atoms.People) }},
	{"waiting", func(m Measurement) string { return fmt.Sprintf("%.1f", m.Cost.Waiting) }},
	{"95 %", func(m Measurement) string { return fmt.Sprintf("%.0f", m.Cost.Waiting95) }},
	{"ghosts %", func(m Measurement) string { return percent(m.Cost.Ghosts) }},
	{"stale %", func(m Measurement) string { return percent(m.Cost.Stale) }},
	{"loss %", func(m Measurement) string { return percent(m.Cost.Loss) }},
	{"afresh %", func(m Measurement) string { return percent(m.Cost.FreshLoss) }},
	{"counts off %", func(m Measurement) string { return percent(m.Cost.CountError) }},
	{"total off %", func(m Measurement) string { return percent(m.Cost.TotalError) }},
	{"unweighted %", func(m Measurement) string { return percent(m.Cost.RawCountError) }},
}

func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

// legend explains the columns.
const legend = `changes: share of the records that change in a tick. static: correct guesses of someone
who has one release of all these people and knows everybody's class. best: correct
guesses of the best attacker on all versions. exposed: people whose value an attacker
proved with more certainty than the constraints allow; surest: the greatest certainty of
a proved value, true or not; certain: people whose value was proved. unsafe sets: values
in sets that can be distinguished by comparing versions and violate the constraints.
waiting: ticks until a new record was published, mean and 95th percentile. ghosts, stale:
rows of deleted records, rows with former values. loss: information lost; afresh: in a new
release of the final records. counts off: error of counts over ranges, with and without
the published weights. total off: difference of the sum of the weights to the number of
the published people who are still there.
`

// WriteText writes the table for a terminal.
func (o *Outcome) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", o.Setup.Circumstances()); err != nil {
		return err
	}
	if err := o.tables()[0].WriteText(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", legend)
	return err
}

func (o *Outcome) rows() [][]string {
	rows := [][]string{nil}
	for _, c := range columns {
		rows[0] = append(rows[0], c.name)
	}
	for _, m := range o.Runs {
		var row []string
		for _, c := range columns {
			row = append(row, c.text(m))
		}
		rows = append(rows, row)
	}
	return rows
}

// attackerRows lists how often each attacker guessed right.
func (o *Outcome) attackerRows() [][]string {
	rows := [][]string{{"changes %", "k", "published"}}
	place := map[string]int{}
	for _, m := range o.Runs {
		for _, a := range m.Attackers {
			if _, known := place[a.Attacker]; !known {
				place[a.Attacker] = len(rows[0])
				rows[0] = append(rows[0], a.Attacker)
			}
		}
	}
	for _, m := range o.Runs {
		row := make([]string, len(rows[0]))
		row[0], row[1], row[2] = percent(m.Rate), strconv.Itoa(m.K), m.Mode
		for _, a := range m.Attackers {
			row[place[a.Attacker]] = percent(a.Right)
		}
		rows = append(rows, row)
	}
	return rows
}

// kindRows lists how often the best attacker guessed right, by what the target underwent.
func (o *Outcome) kindRows() [][]string {
	var attacked []string
	for _, kind := range kindNames {
		if slices.ContainsFunc(o.Runs, func(m Measurement) bool { _, is := m.best().Kinds[kind]; return is }) {
			attacked = append(attacked, kind)
		}
	}
	rows := [][]string{append([]string{"changes %", "k", "published"}, attacked...)}
	for _, m := range o.Runs {
		row := []string{percent(m.Rate), strconv.Itoa(m.K), m.Mode}
		for _, kind := range attacked {
			text := ""
			if right, attacked := m.best().Kinds[kind]; attacked {
				text = percent(right)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// tables are all of them; the first one is the one for the terminal.
func (o *Outcome) tables() []report.Table {
	return []report.Table{
		{Title: "What was published, what it revealed and what it cost", Rows: o.rows()},
		{Title: "Correct guesses by attacker (%)", Rows: o.attackerRows()},
		{Title: "Correct guesses of the best attacker by what happened to the target (%)", Rows: o.kindRows()},
	}
}

// WriteMarkdown writes the tables.
func (o *Outcome) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintln(w, o.Setup.Circumstances()); err != nil {
		return err
	}
	for _, t := range o.tables() {
		t.Title += ":"
		if err := t.WriteMarkdown(w); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outcome) writePage(w io.Writer) error {
	return report.Document{
		Title: "What a reader who polls can guess",
		Sections: []report.Section{
			{Paragraphs: []string{o.Setup.Circumstances(), legend}, Figures: o.figures(), Tables: o.tables()},
		},
	}.WritePage(w)
}
