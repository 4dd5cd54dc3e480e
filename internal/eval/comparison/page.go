package comparison

import (
	_ "embed"
	"fmt"
	"io"
	"slices"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/report"
)

//go:embed page.html
var pageText string

var page = report.Page("comparison", pageText)

// content is what the page shows.
type content struct {
	*Report
	// Best has a header and a row for each of the parameters, nil of one method alone.
	Best [][]string
	// Same says which methods were not run.
	Same   []string
	Choice *choice
	Charts []report.Figure
	Titles []string
	Rows   []tableRow
	// Several says that runs differ in their parameters, so that there are curves.
	Several bool
	// Labels, Population, ByLevels and Split say which explanations are needed.
	Labels, Population, ByLevels, Split bool
}

// WritePage writes one HTML page that contains everything it shows.
func (r *Report) WritePage(w io.Writer) error {
	released := r.Released()
	some := func(given func(eval.Measurement) bool) bool { return slices.ContainsFunc(released, given) }
	c := content{
		Report: r, Charts: r.charts(), Choice: r.choose(), Best: r.best(), Same: r.same(),
		Several:    slices.ContainsFunc(released, func(m eval.Measurement) bool { return !sameParameters(m, released[0]) }),
		Labels:     some(func(m eval.Measurement) bool { return m.Classification != eval.None }),
		Population: some(func(m eval.Measurement) bool { return m.Journalist != eval.None }),
		ByLevels:   some(func(m eval.Measurement) bool { return m.LevelLoss != eval.None }),
		Split:      some(func(m eval.Measurement) bool { return m.Joint != eval.None }),
	}
	c.Titles, c.Rows = r.table()
	if err := page.Execute(w, c); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// tableRow is a run of methods that are alike.
type tableRow struct {
	Methods []string
	Own     bool // the policy's method
	Span    int  // of the first row of these methods how many they have, else 0
	Given   bool // at the policy's parameters
	Cells   []string
	// Reason says why there is no release; Cells are then the parameters alone.
	Reason string
}

// table are the columns' titles and the rows.
func (r *Report) table() (titles []string, rows []tableRow) {
	settings, quality := shown(parameterFigures, r.Measurements), shown(r.figures(), r.Released())
	for _, f := range slices.Concat(settings, quality) {
		titles = append(titles, f.title)
	}
	for _, g := range r.groups() {
		for i, m := range g.runs {
			row := tableRow{Methods: g.methods, Own: g.has(r.PolicyMethod), Given: r.atPolicy(m), Reason: m.Refused}
			if i == 0 {
				row.Span = len(g.runs)
			}
			for _, f := range settings {
				row.Cells = append(row.Cells, f.text(m))
			}
			if m.Refused == "" {
				for _, f := range quality {
					row.Cells = append(row.Cells, f.text(m))
				}
				row.Cells = append(row.Cells, between(g.fastest[i], g.slowest[i]), bytesText(g.growth[i]))
			}
			rows = append(rows, row)
		}
	}
	return append(titles, "time", "heap growth"), rows
}

func between(fastest, slowest float64) string {
	if fastest == slowest {
		return seconds(fastest)
	}
	return seconds(fastest) + " to " + seconds(slowest)
}

// Colspan is how many columns the reason of a row fills.
func (c content) Colspan(row tableRow) int { return len(c.Titles) - len(row.Cells) }
