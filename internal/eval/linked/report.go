package linked

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// Report is an evaluation and what it was made of.
type Report struct {
	Kind    string   `json:"kind"`
	Persons int      `json:"persons"`
	Root    string   `json:"root"`
	Tables  []string `json:"tables"`
	// PolicyKnows is what the policy says, which measurements need not be of.
	PolicyKnows  string        `json:"policy_knows"`
	Targets      int           `json:"targets"`
	Seed         uint64        `json:"seed"`
	Measurements []Measurement `json:"measurements"`
}

func newReport(kind catalog.People, e Evaluation) *Report {
	return &Report{Kind: kind.Kind, Root: kind.Root.String(), PolicyKnows: kind.Knows.String(), Targets: e.Targets, Seed: e.Seed}
}

func (r *Report) describe(d *people.Data) {
	r.Persons = d.Root.Len()
	r.Tables = []string{}
	for _, t := range d.Tables {
		r.Tables = append(r.Tables, t.Name)
	}
}

// Names of the files that WriteFiles makes.
const (
	PageName = "report.html"
	JSONName = "people.json"
)

// WriteJSON writes all figures.
func (r *Report) WriteJSON(w io.Writer) error { return report.WriteJSON(w, r) }

// WriteFiles writes a page, the figures as JSON and the charts into the folder, which it
// makes where it is absent.
func (r *Report) WriteFiles(folder string) error {
	files := []report.File{{Name: PageName, Write: r.document().WritePage}, report.JSONFile(JSONName, r)}
	for _, f := range r.figures() {
		files = append(files, f.File())
	}
	_, err := report.WriteFiles(folder, files...)
	return err
}

// Refusals say why runs made no release.
func (r *Report) Refusals() []string {
	var lines []string
	for _, m := range r.Measurements {
		if m.Refused != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", m.name(), m.Refused))
		}
	}
	return lines
}

// Released reports whether there is any release.
func (r *Report) Released() bool { return len(r.Refusals()) < len(r.Measurements) }

func (m Measurement) name() string { return fmt.Sprintf("knows %s, k = %d", m.Knows, m.K) }

const (
	aboutFrontier = "Loss is the share of the information that generalization removes, of root rows and of the rows of all other tables. " +
		"Linked is the share of these rows that keep their keys. Risk is the mean of 1/candidates for outsiders who know the root row and so many other rows " +
		"in one window: 1/k is what k persons leave. Errors are medians over the questions, relative to the true answers: as typed for the source and, " +
		"in brackets, weighted by how much of a range is meant."
	aboutTables = "Pooled rows are published without keys; withheld ones are not published, among them orphans, which belong to nobody."
)

// WriteText writes the figures for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	document := r.document()
	for i, section := range document.Sections {
		title := section.Title
		if i == 0 {
			title = document.Title
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", title); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		for _, paragraph := range section.Paragraphs {
			if _, err := fmt.Fprintf(w, "%s\n\n", wrapped(paragraph)); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
		}
		for _, t := range section.Tables {
			if _, err := fmt.Fprintf(w, "%s\n", t.Title); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
			if err := t.WriteText(w); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	return nil
}

// document is what the page and the terminal show.
func (r *Report) document() report.Document {
	first := report.Section{Paragraphs: []string{aboutFrontier}, Figures: r.figures(), Tables: []report.Table{r.frontier(), r.errors()}}
	d := report.Document{Title: fmt.Sprintf("%d persons (%s) with the rows of %s", r.Persons, r.Kind, counted(len(r.Tables), "table")), Sections: []report.Section{first}}
	for _, m := range r.Measurements {
		section := report.Section{Title: m.name(), Paragraphs: []string{m.Explained}}
		if m.Refused != "" {
			section.Paragraphs = append(section.Paragraphs, "There is no release: "+m.Refused+".")
		} else {
			section.Paragraphs = append(section.Paragraphs, fmt.Sprintf("%s of %d to %d persons, %.1f on average. %s", counted(m.Classes, "class"), m.Smallest, m.Largest, m.Average, aboutTables))
			section.Tables = []report.Table{r.tables(m), r.columns(m), risks(m), questions(m)}
		}
		d.Sections = append(d.Sections, section)
	}
	return d
}

// frontier has a row for each release: loss and error against risk.
func (r *Report) frontier() report.Table {
	t := report.Table{Title: "What is lost, and what outsiders achieve", Numbers: true, Rows: [][]string{{"knows", "k", "root loss", "rows' loss", "linked", "risk 0", "1", "2", "3", "all rows"}}}
	for _, m := range r.Measurements {
		row := []string{m.Knows, strconv.Itoa(m.K)}
		if m.Refused != "" {
			t.Rows = append(t.Rows, append(row, "no release"))
			continue
		}
		row = append(row, fraction(m.Root.Loss), fraction(m.Loss), percent(m.Linked))
		for _, risk := range m.Risks {
			row = append(row, risk.mean())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// errors has a column for each release: how far its answers are off.
func (r *Report) errors() report.Table {
	t := report.Table{Title: "Median errors of answers: as typed (weighted)", Numbers: true, Rows: [][]string{{"questions", "number"}}}
	for _, m := range r.Measurements {
		if m.Refused != "" {
			continue
		}
		t.Rows[0] = append(t.Rows[0], m.name())
		for i, s := range m.Queries { // all releases are asked the same
			if i+1 == len(t.Rows) {
				t.Rows = append(t.Rows, []string{s.Family + ", " + s.Time, strconv.Itoa(s.Questions)})
			}
			t.Rows[i+1] = append(t.Rows[i+1], fmt.Sprintf("%s (%s)", percent(s.PlainMedian), percent(s.WeightedMedian)))
		}
	}
	return t
}

func (r *Report) tables(m Measurement) report.Table {
	t := report.Table{Title: "Tables", Numbers: true, Rows: [][]string{{"table", "rows", "orphans", "linked", "pooled", "withheld", "classes or cells", "loss"}}}
	root := m.Root
	root.Table = r.Root
	for _, f := range append([]TableFigures{root}, m.Tables...) {
		t.Rows = append(t.Rows, []string{
			f.Table, strconv.Itoa(f.Rows), strconv.Itoa(f.Orphans), percent(f.Linked), percent(f.Pooled), percent(f.Withheld), strconv.Itoa(f.Cells), fraction(f.Loss),
		})
	}
	return t
}

func (r *Report) columns(m Measurement) report.Table {
	t := report.Table{Title: "Quasi-identifying columns", Numbers: true, Rows: [][]string{{"column", "loss", "mean width"}}}
	for _, f := range append([]TableFigures{m.Root}, m.Tables...) {
		for _, c := range f.Columns {
			width := "-"
			switch {
			case c.Days:
				width = fmt.Sprintf("%.1f days", c.Width)
			case c.Ordered:
				width = fmt.Sprintf("%.4g", c.Width)
			}
			t.Rows = append(t.Rows, []string{cmp.Or(f.Table, r.Root) + "." + c.Column, fraction(c.Loss), width})
		}
	}
	return t
}

func risks(m Measurement) report.Table {
	t := report.Table{Title: "Outsiders who know the root row and more", Numbers: true, Rows: [][]string{{"known rows", "targets", "risk", "fewest candidates", "below k"}}}
	for _, risk := range m.Risks {
		t.Rows = append(t.Rows, []string{risk.Known, strconv.Itoa(risk.Targets), risk.mean(), strconv.Itoa(risk.Fewest), percent(risk.Below)})
	}
	return t
}

// mean is the risk, which nobody is at who is no target.
func (f RiskFigures) mean() string {
	if f.Targets == 0 {
		return "-"
	}
	return fraction(f.Mean)
}

func questions(m Measurement) report.Table {
	t := report.Table{Title: "Questions, with errors relative to the truth", Numbers: true, Rows: [][]string{{"questions", "number", "as typed: median", "worst", "weighted: median", "worst"}}}
	for _, s := range m.Queries {
		t.Rows = append(t.Rows, []string{s.Family + ", " + s.Time, strconv.Itoa(s.Questions), percent(s.PlainMedian), percent(s.PlainWorst), percent(s.WeightedMedian), percent(s.WeightedWorst)})
	}
	return t
}

// figures are the charts of all releases.
func (r *Report) figures() []report.Figure {
	risk := chart.Chart{Title: "Risk by what is known", X: "known rows (4 = all)", Y: "mean of 1/candidates"}
	frontier := chart.Chart{Title: "Loss against risk", X: "risk for two known rows", Y: "loss of rows"}
	for _, m := range r.Measurements {
		if m.Refused != "" {
			continue
		}
		for i, f := range m.Risks {
			if f.Targets > 0 {
				risk.Add(m.name(), float64(i), f.Mean)
			}
		}
		if two := m.Risks[2]; two.Targets > 0 {
			frontier.Add(m.name(), two.Mean, m.Loss)
		}
	}
	var figures []report.Figure
	if len(risk.Lines) > 0 {
		figures = append(figures, report.Figure{Name: "risk", Chart: risk, Caption: "What is granted by knows leaves at least k candidates; what is beyond it does not."})
	}
	if len(frontier.Lines) > 1 {
		figures = append(figures, report.Figure{Name: "frontier", Chart: frontier, Caption: "The lower a point, the sharper the rows; the further left, the less finds who knows two rows in a window."})
	}
	return figures
}

func fraction(x float64) string { return fmt.Sprintf("%.3f", x) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func counted(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "class":
		return fmt.Sprintf("%d classes", n)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// lineLength is that of paragraphs on a terminal.
const lineLength = 90

// wrapped breaks a paragraph into lines.
func wrapped(text string) string {
	var b strings.Builder
	length := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case length == 0:
		case length+1+len(word) > lineLength:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}
