package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// Names of the files that WriteFiles makes.
const (
	PageName     = "papers.html"
	JSONName     = "papers.json"
	MarkdownName = "papers.md"
)

// WriteFiles writes a page with charts, the figures as JSON, and tables as
// Markdown into the folder, which it makes where it is absent.
func WriteFiles(folder string, results []Result) error {
	_, err := report.WriteFiles(folder,
		report.File{Name: PageName, Write: func(w io.Writer) error { return writePage(w, results) }},
		report.JSONFile(JSONName, results),
		report.File{Name: MarkdownName, Write: func(w io.Writer) error { return writeMarkdown(w, results) }})
	return err
}

// verdict says whether a claim holds.
func (c Claim) verdict() string {
	if c.Holds {
		return "holds"
	}
	return "does not hold"
}

// WriteText writes the figures as tables, and the claims, for a terminal.
func (r Result) WriteText(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n%s\n", r.Name, r.Source, r.Circumstances())
	for _, f := range r.Figures {
		t := f.table()
		fmt.Fprintf(&text, "\n%s\n", t.Title)
		_ = t.WriteText(&text) // a strings.Builder takes everything
	}
	text.WriteByte('\n')
	for _, c := range r.Claims {
		fmt.Fprintf(&text, "%s: %s\n    measured: %s%s\n", strings.ToUpper(c.verdict()), c.Paper, c.Measured, c.reason())
	}
	text.WriteByte('\n')
	_, err := io.WriteString(w, text.String())
	return err
}

// table is the figure as a table.
func (f Figure) table() report.Table {
	return report.Table{Title: fmt.Sprintf("%s: %s, %s", f.Caption(), f.Chart.Title, f.Chart.Y), Rows: rows(f.Chart, f.Originals), Numbers: true}
}

// rows is a chart as a table: a header of places, and a line for each curve and each original.
func rows(c chart.Chart, originals []chart.Line) [][]string {
	var places []float64
	for _, line := range c.Lines {
		for _, p := range line.Points {
			if !slices.Contains(places, p.X) {
				places = append(places, p.X)
			}
		}
	}
	slices.Sort(places)
	table := [][]string{{c.X}}
	for _, x := range places {
		table[0] = append(table[0], fmt.Sprintf("%g", x))
	}
	for _, line := range slices.Concat(c.Lines, originals) {
		row := []string{line.Name}
		for _, x := range places {
			text := ""
			for _, p := range line.Points {
				if p.X == x {
					text = figureText(p.Y)
				}
			}
			row = append(row, text)
		}
		table = append(table, row)
	}
	return table
}

// figureText writes large numbers whole, others with four digits.
func figureText(y float64) string {
	if math.Abs(y) >= 1000 {
		return fmt.Sprintf("%.0f", y)
	}
	return fmt.Sprintf("%.4g", y)
}

func writePage(w io.Writer, results []Result) error {
	d := report.Document{Title: "The papers' experiments, measured again"}
	for _, r := range results {
		s := report.Section{Title: r.Name, Paragraphs: []string{r.Source, r.Circumstances()}, Tables: []report.Table{claimTable(r.Claims)}}
		for _, f := range r.Figures {
			s.Figures = append(s.Figures, report.Figure{Caption: f.Caption(), Chart: f.Chart})
		}
		d.Sections = append(d.Sections, s)
	}
	return d.WritePage(w)
}
