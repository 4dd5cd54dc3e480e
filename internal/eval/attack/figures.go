package attack

import (
	"fmt"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// Figure is a chart with the name of its file.
type Figure struct {
	Name  string      `json:"name"`
	Chart chart.Chart `json:"chart"`
}

// Figures draws what was measured: over the rates for each k, and over k.
func (o *Outcome) Figures() []Figure {
	var figures []Figure
	percent := func(x float64) float64 { return 100 * x }
	for _, k := range o.Setup.K {
		over := func(name, title, y string, figure func(Measurement) float64) *chart.Chart {
			figures = append(figures, Figure{fmt.Sprintf("%s-k%d", name, k), chart.Chart{
				Title: fmt.Sprintf("%s, k = %d", title, k), X: "changes within a tick (% of the records)", Y: y, LogX: true,
				Lines: o.lines(func(m Measurement) (chart.Point, bool) {
					return chart.Point{X: percent(m.Rate), Y: figure(m)}, m.K == k
				}),
			}})
			return &figures[len(figures)-1].Chart
		}
		c := over("success", "The best attacker's guesses", "right (%)", func(m Measurement) float64 { return percent(m.Best().Right) })
		c.Lines = append(c.Lines, o.bound(func(m Measurement) (float64, bool) { return percent(m.Rate), m.K == k }))
		over("exposed", "People known better than the constraints allow", "targets (%)", func(m Measurement) float64 { return percent(m.Exposed()) })
		over("waiting", "Waiting for the first publication", "ticks (mean)", func(m Measurement) float64 { return m.Cost.Waiting })
		over("loss", "Information loss", "lost (%)", func(m Measurement) float64 { return percent(m.Cost.Loss) })
		over("untrue", "Rows of nobody, or of former values", "rows (%)", func(m Measurement) float64 { return percent(m.Cost.Ghosts + m.Cost.Stale) })
	}
	rate := o.Setup.Rates[len(o.Setup.Rates)/2]
	success := chart.Chart{
		Title: fmt.Sprintf("The best attacker's guesses, %g %% changes within a tick", percent(rate)), X: "k", Y: "right (%)",
		Lines: o.lines(func(m Measurement) (chart.Point, bool) {
			return chart.Point{X: float64(m.K), Y: percent(m.Best().Right)}, m.Rate == rate
		}),
	}
	success.Lines = append(success.Lines, o.bound(func(m Measurement) (float64, bool) { return float64(m.K), m.Rate == rate }))
	return append(figures, Figure{"success-over-k", success})
}

// lines has one curve for each mode.
func (o *Outcome) lines(point func(Measurement) (chart.Point, bool)) []chart.Line {
	var lines []chart.Line
	place := map[string]int{}
	for _, m := range o.Runs {
		at, known := place[m.Mode]
		if !known {
			at = len(lines)
			place[m.Mode] = at
			lines = append(lines, chart.Line{Name: m.Mode})
		}
		if p, wanted := point(m); wanted {
			lines[at].Points = append(lines[at].Points, p)
		}
	}
	return lines
}

// bound is the curve of one static release.
func (o *Outcome) bound(place func(Measurement) (x float64, wanted bool)) chart.Line {
	line := chart.Line{Name: "one static release", Strong: true}
	for _, m := range o.Runs {
		if x, wanted := place(m); wanted && m.Mode == o.Runs[0].Mode {
			line.Points = append(line.Points, chart.Point{X: x, Y: 100 * m.Bound.Right})
		}
	}
	return line
}
