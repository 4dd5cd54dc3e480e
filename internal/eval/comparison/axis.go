package comparison

import (
	"fmt"

	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/eval/chart"
)

// axis is the parameter over which the charts are drawn.
type axis struct {
	name        string
	logarithmic bool
	at          func(eval.Measurement) float64
	// others names the other parameters that vary, for the curve of a measurement.
	others func(eval.Measurement) string
}

// axisOf draws over k where it varies, else over l or alpha; what else varies
// makes curves of their own.
func axisOf(ms []eval.Measurement) axis {
	k := distinct(ms, func(m eval.Measurement) float64 { return float64(m.K) })
	l := distinct(ms, func(m eval.Measurement) float64 { return m.L })
	alpha := distinct(ms, func(m eval.Measurement) float64 { return m.Alpha })
	named := func(withL, withAlpha bool) func(eval.Measurement) string {
		return func(m eval.Measurement) string {
			name := ""
			if withL {
				name += fmt.Sprintf(", l = %g", m.L)
			}
			if withAlpha {
				name += fmt.Sprintf(", α = %g", m.Alpha)
			}
			return name
		}
	}
	switch {
	case k > 1 || l == 1 && alpha == 1:
		return axis{"k", true, func(m eval.Measurement) float64 { return float64(m.K) }, named(l > 1, alpha > 1)}
	case l > 1:
		return axis{"l", false, func(m eval.Measurement) float64 { return m.L }, named(false, alpha > 1)}
	default:
		return axis{"α", false, func(m eval.Measurement) float64 { return m.Alpha }, named(false, false)}
	}
}

func distinct(ms []eval.Measurement, of func(eval.Measurement) float64) int {
	seen := map[float64]bool{}
	for _, m := range ms {
		seen[of(m)] = true
	}
	return max(1, len(seen))
}

// along reports whether two measurements differ in the axis' parameter alone.
func (a axis) along(m, other eval.Measurement) bool {
	switch a.name {
	case "k":
		m.K = other.K
	case "l":
		m.L = other.L
	default:
		m.Alpha = other.Alpha
	}
	return sameParameters(m, other)
}

// source is what one curve, or several, are drawn of.
type source struct {
	name string
	own  bool // the policy's method
	runs []eval.Measurement
}

// draw adds the curves in the order of the sources.
func (a axis) draw(c *chart.Chart, sources []source, value func(eval.Measurement) float64) {
	for _, s := range sources {
		for _, m := range s.runs {
			name := s.name + a.others(m)
			c.Line(name).Strong = s.own
			c.Add(name, a.at(m), value(m))
		}
	}
}
