// Package chart draws line charts as SVG that can stand inside an HTML page: no
// script, no file or font from elsewhere.
package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a set of curves over one axis.
type Chart struct {
	Title string `json:"title"`
	// X and Y name the axes, with their units.
	X string `json:"x"`
	Y string `json:"y"`
	// LogX and LogY ask for logarithmic axes; points that are not positive are
	// then left out.
	LogX  bool   `json:"-"`
	LogY  bool   `json:"-"`
	Lines []Line `json:"lines"`
}

// Line is a named curve.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
	// Strong draws a thicker line.
	Strong bool `json:"-"`
	// Plain draws no marks at the points, of which there are many.
	Plain bool `json:"-"`
}

// Point is one place on a curve. A point that is not finite is left out.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Line is the curve of that name, which is added where there is none.
func (c *Chart) Line(name string) *Line {
	i := slices.IndexFunc(c.Lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i = len(c.Lines)
		c.Lines = append(c.Lines, Line{Name: name})
	}
	return &c.Lines[i]
}

// Add adds a point to the curve of that name.
func (c *Chart) Add(name string, x, y float64) {
	line := c.Line(name)
	line.Points = append(line.Points, Point{x, y})
}

// Size of a drawing, with the legend in a column on the right.
const (
	width       = 17 * vg.Centimeter
	height      = 9.5 * vg.Centimeter
	legendWidth = 4.6 * vg.Centimeter
)

// SVG draws the chart as an svg element.
func (c Chart) SVG() ([]byte, error) {
	p, legend, err := c.plot()
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	whole := draw.New(canvas)
	p.Draw(draw.Crop(whole, vg.Points(5), -legendWidth, vg.Points(4), -vg.Points(4)))
	legend.Draw(draw.Crop(whole, width-legendWidth+vg.Points(6), 0, 0, -vg.Points(24)))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("drawing %q: %w", c.Title, err)
	}
	return embeddable(out.Bytes()), nil
}

// plot makes the drawing, with its legend.
func (c Chart) plot() (*plot.Plot, plot.Legend, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	legend := plot.NewLegend()
	dress(p, &legend)
	p.Add(plotter.NewGrid())
	ticks := map[float64]bool{}
	for i, line := range c.Lines {
		points := c.drawable(line.Points)
		for _, point := range points {
			ticks[point.X] = true
		}
		if err := addLine(p, &legend, i, line, points); err != nil {
			return nil, legend, fmt.Errorf("drawing %q: %w", c.Title, err)
		}
	}
	c.scale(p, ticks)
	return p, legend, nil
}

func (c Chart) drawable(points []Point) plotter.XYs {
	var kept plotter.XYs
	for _, p := range points {
		finite := !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) && !math.IsNaN(p.X) && !math.IsInf(p.X, 0)
		if finite && (!c.LogX || p.X > 0) && (!c.LogY || p.Y > 0) {
			kept = append(kept, plotter.XY(p))
		}
	}
	slices.SortStableFunc(kept, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return kept
}

// scale sets the axes; few places on the X axis are all written out.
func (c Chart) scale(p *plot.Plot, at map[float64]bool) {
	p.X.Tick.Marker, p.Y.Tick.Marker = linear{}, linear{}
	if len(at) == 0 { // an empty chart has no range of its own
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 1, 2, 1, 2
	}
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logarithmic{}
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logarithmic{}
	} else {
		p.Y.Min = min(0, p.Y.Min)
	}
	if p.Y.Min == p.Y.Max {
		p.Y.Max++
	}
	if p.X.Min == p.X.Max {
		p.X.Max++
	}
	const few = 12
	if len(at) > 0 && len(at) <= few {
		p.X.Tick.Marker = placesOf(slices.Sorted(maps.Keys(at)))
	}
}

// embeddable leaves out what only a file of its own needs, and lets the reader's
// own font take the place of the one that was measured with.
func embeddable(svg []byte) []byte {
	if start := bytes.Index(svg, []byte("<svg")); start > 0 {
		svg = svg[start:]
	}
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,sans-serif"))
}
