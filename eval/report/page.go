package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/kproxy/kproxy/eval"
	"github.com/kproxy/kproxy/eval/chart"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": percent, "seconds": seconds, "orDash": orDash, "bytes": bytesText,
}).Parse(pageText))

// WritePage writes one HTML page that contains everything it shows.
func (r *Report) WritePage(w io.Writer) error {
	charts, err := r.charts()
	if err != nil {
		return err
	}
	err = page.Execute(w, struct {
		*Report
		Charts     []picture
		Best       *eval.Measurement
		Labels     bool
		Population bool
	}{r, charts, r.best(), r.any(func(m eval.Measurement) bool { return m.Classification >= 0 }), r.any(func(m eval.Measurement) bool { return m.Journalist >= 0 })})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// picture is a chart with what it tells.
type picture struct {
	SVG     template.HTML
	Meaning string
}

// released are the measurements of runs that made a release.
func (r *Report) released() []eval.Measurement {
	return slices.DeleteFunc(slices.Clone(r.Measurements), func(m eval.Measurement) bool { return m.Refused != "" })
}

func (r *Report) any(holds func(eval.Measurement) bool) bool {
	return slices.ContainsFunc(r.released(), holds)
}

// shown are the runs with the policy's own parameters, or, where the grid does
// not have them, with those of the first run.
func (r *Report) shown() []eval.Measurement {
	released := r.released()
	at := func(k int, l, alpha float64) []eval.Measurement {
		return slices.DeleteFunc(slices.Clone(released), func(m eval.Measurement) bool {
			return m.K != k || m.L != l || m.Alpha != alpha
		})
	}
	own := at(r.PolicyK, r.PolicyL, r.PolicyAlpha)
	if len(own) == 0 && len(released) > 0 {
		own = at(released[0].K, released[0].L, released[0].Alpha)
	}
	return own
}

// best is the run with the least information loss among those shown; nil without
// a release.
func (r *Report) best() *eval.Measurement {
	shown := r.shown()
	if len(shown) == 0 {
		return nil
	}
	best := slices.MinFunc(shown, func(a, b eval.Measurement) int { return cmp.Compare(a.Loss, b.Loss) })
	return &best
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// figure is a chart to be drawn over the grid.
type figure struct {
	title, y, meaning string
	logY              bool
	value             func(eval.Measurement) float64
}

var figures = []figure{
	{
		"Information loss", "loss (%)",
		"How wide the published ranges and categories are, as a share of all that is possible: 0 % publishes every value as it is, 100 % publishes nothing. Lower is better.",
		false, func(m eval.Measurement) float64 { return 100 * m.Loss },
	},
	{
		"Risk of the record most at risk", "risk (%)",
		"How likely somebody who knows a person's quasi-identifying values picks the right record, at worst. k-anonymity promises at most 1/k.",
		false, func(m eval.Measurement) float64 { return 100 * m.Prosecutor },
	},
	{
		"Mean risk", "risk (%)",
		"The same risk, averaged over all records.",
		false, func(m eval.Measurement) float64 { return 100 * m.MeanRisk },
	},
	{
		"Mean class size", "records",
		"How many records are published alike. No class may have fewer than k; larger ones are lost precision.",
		true, func(m eval.Measurement) float64 { return m.Average },
	},
	{
		"Error of counting queries", "median error (%)",
		"How far counts over random ranges of the published table are off, by the median. Lower is better.",
		false, func(m eval.Measurement) float64 { return 100 * m.QueryError },
	},
	{
		"Time", "seconds",
		"Run time on the machine that made this report. It matters for the first publication; changes are followed incrementally.",
		true, func(m eval.Measurement) float64 { return m.Seconds },
	},
}

func (r *Report) charts() ([]picture, error) {
	released := r.released()
	x := axisOf(released)
	pictures := make([]picture, 0, len(figures))
	for _, f := range figures {
		svg, err := chart.Chart{
			Title: f.title + " over " + x.name, X: x.name, Y: f.y, LogX: x.logarithmic, LogY: f.logY,
			Lines: x.lines(released, f.value),
		}.SVG()
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, picture{template.HTML(svg), f.meaning}) //nolint:gosec // the chart escapes what it is given
	}
	sizes, err := sizeChart(r.shown())
	if err != nil {
		return nil, err
	}
	return append(pictures, sizes...), nil
}

// sizeChart draws for each method how many of the records are in classes up to
// some size.
func sizeChart(shown []eval.Measurement) ([]picture, error) {
	if len(shown) == 0 {
		return nil, nil
	}
	c := chart.Chart{
		Title: fmt.Sprintf("Class sizes at k = %d", shown[0].K), X: "records in a class", LogX: true,
		Y: "records in classes up to this size (%)",
	}
	for _, m := range shown {
		line, records := chart.Line{Name: m.Method}, 0
		for _, s := range m.Sizes {
			records += s.Size * s.Classes
			line.Points = append(line.Points, chart.Point{X: float64(s.Size), Y: 100 * float64(records) / float64(max(1, m.Records))})
		}
		c.Lines = append(c.Lines, line)
	}
	svg, err := c.SVG()
	if err != nil {
		return nil, err
	}
	const meaning = "How many of the records are in classes up to some size. The earlier a curve rises, the less precision is given away."
	return []picture{{template.HTML(svg), meaning}}, nil //nolint:gosec // the chart escapes what it is given
}
