package comparison

import (
	"slices"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// drawing is a chart to be drawn over the grid.
type drawing struct {
	title, y, meaning string
	logY              bool
	value             func(eval.Measurement) float64
	given             func(eval.Measurement) bool // nil: of all runs
	each              bool                        // methods that are alike differ in it
}

var drawings = []drawing{
	{
		title: "Information loss", y: "loss (%)",
		meaning: "How much of what could be known of a value a live table does not say: 0% publishes every value as it is, 100% publishes nothing. Lower is better.",
		value:   func(m eval.Measurement) float64 { return 100 * m.Loss },
	},
	{
		title: "Risk of the record most at risk", y: "risk (%)",
		meaning: "How likely somebody who knows a person's quasi-identifying values picks the right record, at worst. k-anonymity promises at most 1/k.",
		value:   func(m eval.Measurement) float64 { return 100 * m.Prosecutor },
	},
	{
		title: "Joint risk", y: "risk (%)",
		meaning: "The same risk from somebody who knows the columns of all parts, which no constraint of the policy speaks of together.",
		value:   func(m eval.Measurement) float64 { return 100 * m.Joint }, given: func(m eval.Measurement) bool { return m.Joint != eval.None },
	},
	{
		title: "Error of counting queries", y: "median error (%)",
		meaning: "How far counts over random ranges, labels and sensitive values of the published table are off, by the median. Lower is better.",
		value:   func(m eval.Measurement) float64 { return 100 * m.QueryError }, given: func(m eval.Measurement) bool { return m.QueryError != eval.None },
	},
	{
		title: "Mean class size", y: "records", logY: true,
		meaning: "How many records are published alike. No class may have fewer than k; larger ones are lost precision.",
		value:   func(m eval.Measurement) float64 { return m.Average },
	},
	{
		title: "Time", y: "seconds", logY: true, each: true,
		meaning: "Run time on the machine that made this report. It matters for the first publication; changes are followed incrementally.",
		value:   func(m eval.Measurement) float64 { return m.Seconds },
	},
}

// sources are the curves of methods, those alike in one unless each is wanted. The
// first of those alike then has the look that all have elsewhere, and the others
// come last.
func (r *Report) sources(each bool) []source {
	var sources, others []source
	for _, g := range r.groups() {
		if !each {
			sources = append(sources, source{g.name(), g.has(r.PolicyMethod), released(g.runs)})
			continue
		}
		for i, method := range g.methods {
			runs := slices.DeleteFunc(released(r.Measurements), func(m eval.Measurement) bool { return m.Name() != method })
			one := source{method, method == r.PolicyMethod, runs}
			if i == 0 {
				sources = append(sources, one)
			} else {
				others = append(others, one)
			}
		}
	}
	return append(sources, others...)
}

func (r *Report) charts() []report.Figure {
	released := r.Released()
	x := axisOf(released)
	var figures []report.Figure
	for _, d := range drawings {
		if distinct(released, x.at) < 2 { // a point is no curve
			break
		}
		if d.given != nil && !slices.ContainsFunc(released, d.given) {
			continue
		}
		c := chart.Chart{Title: d.title + " over " + x.name, X: x.name, Y: d.y, LogX: x.logarithmic, LogY: d.logY}
		x.draw(&c, r.sources(d.each), d.value)
		figures = append(figures, report.Figure{Caption: d.meaning, Chart: c})
	}
	if sizes, ok := r.sizes(); ok {
		figures = append(figures, report.Figure{
			Caption: "How many of the records are in classes up to some size. The earlier a curve rises, the less precision is given away.",
			Chart:   sizes,
		})
	}
	return figures
}

// sizes draws for each method how many of the records are in classes up to some
// size. Of a table in several parts each record is in a class of each.
func (r *Report) sizes() (c chart.Chart, ok bool) {
	candidates := r.candidates()
	if len(candidates) == 0 {
		return c, false
	}
	c = chart.Chart{
		Title: "Class sizes with " + parameters(candidates[0].at), X: "records in a class", LogX: true,
		Y: "records in classes up to this size (%)",
	}
	parts := max(1, len(r.Parts))
	for _, g := range r.groups() {
		for _, m := range g.runs {
			if m.Refused != "" || !sameParameters(m, candidates[0].at) {
				continue
			}
			line, records := chart.Line{Name: g.name(), Strong: g.has(r.PolicyMethod)}, 0
			for _, s := range m.Sizes {
				records += s.Size * s.Classes
				line.Points = append(line.Points, chart.Point{X: float64(s.Size), Y: 100 * float64(records) / float64(max(1, m.Records*parts))})
			}
			c.Lines = append(c.Lines, line)
		}
	}
	return c, true
}
