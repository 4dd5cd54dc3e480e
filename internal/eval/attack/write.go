package attack

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// Names of the files that WriteFiles makes beside the charts.
const (
	PageName     = "attack.html"
	JSONName     = "attack.json"
	MarkdownName = "attack.md"
)

// WriteFiles writes a page with charts, each chart as SVG, the figures as JSON, and a
// table as Markdown into the folder, which it makes where it is absent.
func (o *Outcome) WriteFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	write := func(name string, content []byte) error {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	for _, file := range []struct {
		name string
		make func(io.Writer) error
	}{{PageName, o.writePage}, {JSONName, o.WriteJSON}, {MarkdownName, o.WriteMarkdown}} {
		var text strings.Builder
		if err := file.make(&text); err != nil {
			return fmt.Errorf("writing %s: %w", file.name, err)
		}
		if err := write(file.name, []byte(text.String())); err != nil {
			return err
		}
	}
	for _, f := range o.Figures() {
		svg, err := f.Chart.SVG()
		if err != nil {
			return err
		}
		if err := write(f.Name+".svg", svg); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes all that was measured.
func (o *Outcome) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(o)
}

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
	{"best %", func(m Measurement) string { return percent(m.Best().Right) }},
	{"by", func(m Measurement) string { return m.Best().Attacker }},
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
the published weights.
`

// WriteText writes the table for a terminal.
func (o *Outcome) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", o.Setup.Circumstances()); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range o.rows() {
		fmt.Fprintln(table, strings.Join(row, "\t")+"\t")
	}
	if err := table.Flush(); err != nil {
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
		if slices.ContainsFunc(o.Runs, func(m Measurement) bool { _, is := m.Best().Kinds[kind]; return is }) {
			attacked = append(attacked, kind)
		}
	}
	rows := [][]string{append([]string{"changes %", "k", "published"}, attacked...)}
	for _, m := range o.Runs {
		row := []string{percent(m.Rate), strconv.Itoa(m.K), m.Mode}
		for _, kind := range attacked {
			text := ""
			if right, attacked := m.Best().Kinds[kind]; attacked {
				text = percent(right)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// tables are all of them, with what they show.
func (o *Outcome) tables() []table {
	return []table{
		{"What was published, what it revealed and what it cost", o.rows()},
		{"Correct guesses by attacker (%)", o.attackerRows()},
		{"Correct guesses of the best attacker by what happened to the target (%)", o.kindRows()},
	}
}

// table has a header and lines.
type table struct {
	Title string
	Rows  [][]string
}

// WriteMarkdown writes the tables.
func (o *Outcome) WriteMarkdown(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", o.Setup.Circumstances())
	for _, t := range o.tables() {
		for i, row := range t.Rows {
			if i == 0 {
				fmt.Fprintf(&text, "\n%s:\n\n| %s |\n|%s\n", t.Title, strings.Join(row, " | "), strings.Repeat("---|", len(row)))
				continue
			}
			fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg": func(c chart.Chart) (template.HTML, error) {
		svg, err := c.SVG()
		return template.HTML(svg), err //nolint:gosec // the chart escapes what it is given
	},
}).Parse(pageText))

func (o *Outcome) writePage(w io.Writer) error {
	return page.Execute(w, struct {
		Circumstances, Legend string
		Figures               []Figure
		Tables                []table
	}{o.Setup.Circumstances(), legend, o.Figures(), o.tables()})
}
