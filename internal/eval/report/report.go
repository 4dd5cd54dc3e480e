// Package report is what evaluations have in common to show what they measured: a model of
// text, tables and charts, and writers of it for the terminal, as Markdown, JSON, CSV, and
// as HTML pages that need nothing else.
package report

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// Document is an HTML page.
type Document struct {
	Title    string
	Sections []Section
}

// Section is a part of a page; what is empty is left out.
type Section struct {
	Title      string
	Paragraphs []string
	Figures    []Figure
	Tables     []Table
}

// Figure is a chart with what is said below it.
type Figure struct {
	Name    string // of its file, without the extension
	Caption string
	Chart   chart.Chart
}

// SVG draws the chart for a page.
func (f Figure) SVG() (template.HTML, error) {
	svg, err := f.Chart.SVG()
	return template.HTML(svg), err //nolint:gosec // the chart escapes what it is given
}

// File is the drawing as a file of its own.
func (f Figure) File() File {
	return File{f.Name + ".svg", func(w io.Writer) error {
		svg, err := f.Chart.SVG()
		if err == nil {
			_, err = w.Write(append(svg, '\n'))
		}
		return err
	}}
}

// Table has a header as its first row.
type Table struct {
	Title string
	Rows  [][]string
	// Numbers says that all columns but the first are numbers; it matters to Markdown.
	Numbers bool
}

// WriteText writes the rows for a terminal, aligned to the right.
func (t Table) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range t.Rows {
		fmt.Fprintln(table, strings.Join(row, "\t")+"\t") // Flush returns the error
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return nil
}

// WriteMarkdown writes the title, if any, and the rows.
func (t Table) WriteMarkdown(w io.Writer) error {
	var text strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&text, "\n%s\n", t.Title)
	}
	text.WriteByte('\n')
	for i, row := range t.Rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		switch {
		case i > 0:
		case t.Numbers:
			fmt.Fprintf(&text, "|---|%s\n", strings.Repeat("---:|", len(row)-1))
		default:
			fmt.Fprintf(&text, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteCSV writes rows, the first of which is a header.
func WriteCSV(w io.Writer, rows [][]string) error {
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

// WriteJSON writes what was measured for programs, indented.
func WriteJSON(w io.Writer, measured any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(measured); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

var (
	//go:embed style.css
	style string
	//go:embed page.html
	pageText string

	page = Page("document", pageText)
)

// Page parses the text of a page, which has the common style as {{style}}.
func Page(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{
		"join":  strings.Join,
		"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // it is our own
	}).Parse(text))
}

// WritePage writes the document as a page that contains everything it shows.
func (d Document) WritePage(w io.Writer) error {
	if err := page.Execute(w, d); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// File is one that WriteFiles makes.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// JSONFile is a file of all that was measured.
func JSONFile(name string, measured any) File {
	return File{name, func(w io.Writer) error { return WriteJSON(w, measured) }}
}

// Prepare makes the folder for WriteFiles where it is absent and tries to write
// into it, so that long runs do not end in vain.
func Prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the report's folder: %w; name one that you may write to with --out", err)
	}
	f, err := os.CreateTemp(folder, ".kproxy-")
	if err != nil {
		return fmt.Errorf("the report cannot be written: %w; name a folder that you may write to with --out", err)
	}
	err = errors.Join(f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("trying to write the report: %w", err)
	}
	return nil
}

// WriteFiles writes files into the folder, which it makes where it is absent, and returns
// their names. Files of an earlier report are replaced.
func WriteFiles(folder string, files ...File) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the report's folder: %w", err)
	}
	var names []string
	for _, file := range files {
		if err := writeFile(filepath.Join(folder, file.Name), file.Write); err != nil {
			return nil, fmt.Errorf("writing the report's %s: %w", file.Name, err)
		}
		names = append(names, file.Name)
	}
	return names, nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
