package attack

import (
	"fmt"

	"github.com/kproxy/kproxy/internal/eval/chart"
	"github.com/kproxy/kproxy/internal/eval/report"
)

// figures draws what was measured: over the rates for each k, and over k.
func (o *Outcome) figures() []report.Figure {
	var figures []report.Figure
	percent := func(x float64) float64 { return 100 * x }
	for _, k := range o.Setup.K {
		over := func(name, title, y string, figure func(Measurement) float64) *chart.Chart {
			c := chart.Chart{Title: fmt.Sprintf("%s, k = %d", title, k), X: "changes within a tick (% of the records)", Y: y, LogX: true}
			o.draw(&c, func(m Measurement) (x, y float64, wanted bool) { return percent(m.Rate), figure(m), m.K == k })
			figures = append(figures, report.Figure{Name: fmt.Sprintf("%s-k%d", name, k), Chart: c})
			return &figures[len(figures)-1].Chart
		}
		c := over("success", "The best attacker's guesses", "right (%)", func(m Measurement) float64 { return percent(m.best().Right) })
		o.drawBound(c, func(m Measurement) (float64, bool) { return percent(m.Rate), m.K == k })
		over("exposed", "People known better than the constraints allow", "targets (%)", func(m Measurement) float64 { return percent(m.Exposed()) })
		over("waiting", "Waiting for the first publication", "ticks (mean)", func(m Measurement) float64 { return m.Cost.Waiting })
		over("loss", "Information loss", "lost (%)", func(m Measurement) float64 { return percent(m.Cost.Loss) })
		over("untrue", "Rows of nobody, or of former values", "rows (%)", func(m Measurement) float64 { return percent(m.Cost.Ghosts + m.Cost.Stale) })
	}
	rate := o.Setup.Rates[len(o.Setup.Rates)/2]
	success := chart.Chart{Title: fmt.Sprintf("The best attacker's guesses, %g %% changes within a tick", percent(rate)), X: "k", Y: "right (%)"}
	o.draw(&success, func(m Measurement) (x, y float64, wanted bool) {
		return float64(m.K), percent(m.best().Right), m.Rate == rate
	})
	o.drawBound(&success, func(m Measurement) (float64, bool) { return float64(m.K), m.Rate == rate })
	return append(figures, report.Figure{Name: "success-over-k", Chart: success})
}

// draw adds a curve for each mode.
func (o *Outcome) draw(c *chart.Chart, point func(Measurement) (x, y float64, wanted bool)) {
	for _, m := range o.Runs {
		c.Line(m.Mode)
		if x, y, wanted := point(m); wanted {
			c.Add(m.Mode, x, y)
		}
	}
}

// drawBound adds the curve of one static release.
func (o *Outcome) drawBound(c *chart.Chart, place func(Measurement) (x float64, wanted bool)) {
	const name = "one static release"
	c.Line(name).Strong = true
	for _, m := range o.Runs {
		if x, wanted := place(m); wanted && m.Mode == o.Runs[0].Mode {
			c.Add(name, x, 100*m.Bound.Right)
		}
	}
}
