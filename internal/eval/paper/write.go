package paper

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/kproxy/kproxy/internal/eval/chart"
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
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w", err)
	}
	for name, write := range map[string]func(io.Writer, []Result) error{
		PageName: writePage, JSONName: writeJSON, MarkdownName: writeMarkdown,
	} {
		var text strings.Builder
		if err := write(&text, results); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text.String()), 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}

func writeJSON(w io.Writer, results []Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(results)
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
		fmt.Fprintf(&text, "\n%s: %s, %s\n", f.Caption(), f.Chart.Title, f.Chart.Y)
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range rows(f.Chart) {
			fmt.Fprintln(table, strings.Join(row, "\t")+"\t")
		}
		_ = table.Flush() // a strings.Builder takes everything
	}
	text.WriteByte('\n')
	for _, c := range r.Claims {
		fmt.Fprintf(&text, "%s: %s\n    measured: %s\n", strings.ToUpper(c.verdict()), c.Paper, c.Measured)
	}
	text.WriteByte('\n')
	_, err := io.WriteString(w, text.String())
	return err
}

// rows is a chart as a table: a header of places, and a line for each curve.
func rows(c chart.Chart) [][]string {
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
	for _, line := range c.Lines {
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

func writeMarkdown(w io.Writer, results []Result) error {
	for _, r := range results {
		fmt.Fprintf(w, "## %s\n\n%s\n\n%s\n", r.Name, r.Source, r.Circumstances())
		for _, f := range r.Figures {
			fmt.Fprintf(w, "\n%s: %s, %s\n\n", f.Caption(), f.Chart.Title, f.Chart.Y)
			for i, row := range rows(f.Chart) {
				fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
				if i == 0 {
					fmt.Fprintf(w, "|---|%s\n", strings.Repeat("---:|", len(row)-1))
				}
			}
		}
		fmt.Fprint(w, "\n| The paper | Measured | |\n|---|---|---|\n")
		for _, c := range r.Claims {
			fmt.Fprintf(w, "| %s | %s | %s |\n", c.Paper, c.Measured, c.verdict())
		}
		fmt.Fprintln(w)
	}
	return nil
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg": func(c chart.Chart) (template.HTML, error) {
		svg, err := c.SVG()
		return template.HTML(svg), err //nolint:gosec // the chart escapes what it is given
	},
}).Parse(pageText))

func writePage(w io.Writer, results []Result) error { return page.Execute(w, results) }
