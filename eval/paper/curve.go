package paper

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/eval/chart"
)

// curves collects the lines of one figure by name, in the order of their first
// points.
type curves struct{ lines []chart.Line }

func (c *curves) add(name string, x, y float64) {
	for i := range c.lines {
		if c.lines[i].Name == name {
			c.lines[i].Points = append(c.lines[i].Points, chart.Point{X: x, Y: y})
			return
		}
	}
	c.lines = append(c.lines, chart.Line{Name: name, Points: []chart.Point{{X: x, Y: y}}})
}

// at is the curve's value at a place, which it must have.
func (c *curves) at(name string, x float64) float64 {
	for _, line := range c.lines {
		for _, p := range line.Points {
			if line.Name == name && p.X == x {
				return p.Y
			}
		}
	}
	panic(fmt.Sprintf("no point of %s at %g", name, x))
}

// row writes a curve's values for a claim.
func (c *curves) row(name, format string) string {
	var texts []string
	for _, line := range c.lines {
		if line.Name == name {
			for _, p := range line.Points {
				texts = append(texts, fmt.Sprintf(format, p.Y))
			}
		}
	}
	return strings.Join(texts, " / ")
}

// everywhere compares two curves at each place of the first; the second must
// have them all.
func (c *curves) everywhere(a, b string, holds func(a, b float64) bool) bool {
	for _, line := range c.lines {
		if line.Name != a {
			continue
		}
		for _, p := range line.Points {
			if !holds(p.Y, c.at(b, p.X)) {
				return false
			}
		}
	}
	return true
}

// lastLess and firstLess compare two curves at the last and at the first place of
// the first one.
func (c *curves) lastLess(a, b string) bool {
	x := c.places(a)
	return c.at(a, x[len(x)-1]) < c.at(b, x[len(x)-1])
}

func (c *curves) firstLess(a, b string) bool {
	x := c.places(a)
	return c.at(a, x[0]) < c.at(b, x[0])
}

func (c *curves) places(name string) []float64 {
	var places []float64
	for _, line := range c.lines {
		if line.Name == name {
			for _, p := range line.Points {
				places = append(places, p.X)
			}
		}
	}
	return places
}

// growth is the last value of a curve by its first one.
func (c *curves) growth(name string) float64 {
	x := c.places(name)
	return c.at(name, x[len(x)-1]) / c.at(name, x[0])
}
