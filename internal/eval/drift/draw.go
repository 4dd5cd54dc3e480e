package drift

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// figures draws the loss of each method and k, and for each k the drift, the classes and
// the largest class of all methods.
func (r Report) figures() []report.Figure {
	var figures []report.Figure
	for _, s := range r.Summary {
		figures = append(figures, report.Figure{Name: fmt.Sprintf("loss-%s-k%d", s.Method, s.K), Chart: s.lossChart()})
	}
	var drawn []int
	for _, k := range r.Setup.K {
		if slices.Contains(drawn, k) {
			continue
		}
		drawn = append(drawn, k)
		for _, f := range compared {
			c := chart.Chart{Title: fmt.Sprintf("%s, k = %d", f.title, k), X: "operations", Y: f.unit}
			for _, s := range r.Summary {
				if s.K == k {
					c.Lines = append(c.Lines, s.line(s.Method, f.of))
				}
			}
			figures = append(figures, report.Figure{Name: fmt.Sprintf("%s-k%d", f.name, k), Chart: c})
		}
	}
	return figures
}

// compared are figures that are drawn for all methods together, of the release that is only
// maintained.
var compared = []struct {
	name, title, unit string
	of                func(MeanOfSeeds) float64
}{
	{"drift", "Drift of the maintained release", "loss by that of a release made afresh", func(p MeanOfSeeds) float64 { return p.Maintained.Drift }},
	{"drift-renewed", "Drift with renewal at the threshold", "loss by that of a release made afresh", func(p MeanOfSeeds) float64 { return p.Renewed.Drift }},
	{"classes", "Classes of the maintained release", "classes", func(p MeanOfSeeds) float64 { return p.Maintained.Classes }},
	{"largest", "Largest class of the maintained release", "records", func(p MeanOfSeeds) float64 { return p.Maintained.Largest }},
}

func (s Summary) lossChart() chart.Chart {
	return chart.Chart{
		Title: fmt.Sprintf("Information loss, %s, k = %d", s.Method, s.K), X: "operations", Y: "loss (%)",
		Lines: []chart.Line{
			s.line("maintained", func(p MeanOfSeeds) float64 { return 100 * p.Maintained.Loss }),
			s.line("with renewal", func(p MeanOfSeeds) float64 { return 100 * p.Renewed.Loss }),
			s.line("made afresh", func(p MeanOfSeeds) float64 { return 100 * p.Afresh }),
		},
	}
}

func (s Summary) line(name string, of func(MeanOfSeeds) float64) chart.Line {
	line := chart.Line{Name: name}
	for _, p := range s.Points {
		line.Points = append(line.Points, chart.Point{X: float64(p.Operations), Y: of(p)})
	}
	return line
}
