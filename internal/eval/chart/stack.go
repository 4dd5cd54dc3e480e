package chart

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Heights of the charts of a stack, and of the title above them.
const (
	stackedHeight = 4.6 * vg.Centimeter
	titleHeight   = 0.9 * vg.Centimeter
)

// Stack is charts one below the other over one common X axis.
type Stack struct {
	Title string
	// X names the common axis, with its unit. The charts' own X and LogX are not looked at.
	X string
	// Marks are the places on it that are labeled, rising; it reaches from the first to the
	// last. There must be two at least.
	Marks []float64
	// Charts are one at least, from the top.
	Charts []Chart
}

// SVG draws the stack as an svg element, with the axis named below the last chart.
func (s Stack) SVG() ([]byte, error) {
	if len(s.Marks) < 2 || len(s.Charts) == 0 {
		return nil, fmt.Errorf("drawing %q: there is no chart, or no axis", s.Title)
	}
	var rows [][]*plot.Plot
	var legends []plot.Legend
	for i, c := range s.Charts {
		c.X, c.LogX = "", false
		if i == len(s.Charts)-1 {
			c.X = s.X
		}
		p, legend, err := c.plot()
		if err != nil {
			return nil, err
		}
		p.X.Min, p.X.Max = s.Marks[0], s.Marks[len(s.Marks)-1]
		p.X.Tick.Marker = placesOf(s.Marks)
		rows, legends = append(rows, []*plot.Plot{p}), append(legends, legend)
	}
	total := titleHeight + vg.Length(len(s.Charts))*stackedHeight
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, total))
	whole := draw.New(canvas)
	head := plot.New()
	dress(head, &plot.Legend{})
	head.Title.TextStyle.XAlign = draw.XLeft
	whole.FillText(head.Title.TextStyle, vg.Point{X: vg.Points(5), Y: total - vg.Points(10)}, s.Title)
	tiles := draw.Tiles{Rows: len(s.Charts), Cols: 1, PadTop: titleHeight, PadY: vg.Points(6)}
	aligned := plot.Align(rows, tiles, draw.Crop(whole, vg.Points(5), -legendWidth, vg.Points(4), 0))
	for i := range s.Charts {
		at := aligned[i][0]
		rows[i][0].Draw(at)
		legends[i].Draw(draw.Canvas{Canvas: whole.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: width - legendWidth + vg.Points(6), Y: at.Min.Y},
			Max: vg.Point{X: width, Y: at.Max.Y - vg.Points(20)},
		}})
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("drawing %q: %w", s.Title, err)
	}
	return embeddable(out.Bytes()), nil
}
