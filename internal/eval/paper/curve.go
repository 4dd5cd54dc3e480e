package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

// curves collects the lines of one figure by name, in the order of their first
// points.
type curves struct{ chart.Chart }

// at is the curve's value at a place, which it must have.
func (c *curves) at(name string, x float64) float64 {
	for _, line := range c.Lines {
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
	for _, line := range c.Lines {
		if line.Name == name {
			for _, p := range line.Points {
				texts = append(texts, fmt.Sprintf(format, p.Y))
			}
		}
	}
	return strings.Join(texts, " / ")
}

// everywhere compares two curves at each place of the first, which must exist; the
// second must have all its places.
func (c *curves) everywhere(a, b string, holds func(a, b float64) bool) bool {
	for _, x := range c.places(a) {
		if !holds(c.at(a, x), c.at(b, x)) {
			return false
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

// places are the places of a curve, which must exist.
func (c *curves) places(name string) []float64 {
	for _, line := range c.Lines {
		if line.Name == name {
			places := make([]float64, len(line.Points))
			for i, p := range line.Points {
				places[i] = p.X
			}
			return places
		}
	}
	panic("no curve " + name)
}

// growth is the last value of a curve by its first one.
func (c *curves) growth(name string) float64 {
	x := c.places(name)
	return c.at(name, x[len(x)-1]) / c.at(name, x[0])
}

// peaks says whether a curve rises at its beginning and falls at its end.
func (c *curves) peaks(name string) bool {
	x := c.places(name)
	last := len(x) - 1
	return c.at(name, x[0]) < c.at(name, x[last/2]) && c.at(name, x[last/2]) > c.at(name, x[last])
}

// spread is the greatest value of a curve by its least.
func (c *curves) spread(name string) float64 {
	least, most := math.Inf(1), 0.0
	for _, x := range c.places(name) {
		least, most = min(least, c.at(name, x)), max(most, c.at(name, x))
	}
	return most / least
}

// named is a curve's name and values, for a claim.
func (c *curves) named(name string) string { return name + " " + c.row(name, "%.3f") }

// ratios are the least and the greatest value of a curve by that of another at the same place.
func (c *curves) ratios(a, b string) (least, most float64) {
	least = math.Inf(1)
	for _, x := range c.places(a) {
		ratio := c.at(a, x) / c.at(b, x)
		least, most = min(least, ratio), max(most, ratio)
	}
	return least, most
}

// times writes a range of factors.
func times(least, most float64) string { return fmt.Sprintf("%.2f to %.2f times", least, most) }

// firstOf and lastOf are the values of two curves at the first and at the last place of the
// first one.
func (c *curves) firstOf(a, b string) string { return c.pairAt(a, b, c.places(a)[0]) }

func (c *curves) lastOf(a, b string) string {
	x := c.places(a)
	return c.pairAt(a, b, x[len(x)-1])
}

func (c *curves) pairAt(a, b string, x float64) string {
	return fmt.Sprintf("%s %s, %s %s at %g", a, figureText(c.at(a, x)), b, figureText(c.at(b, x)), x)
}
