package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colors are those of Okabe and Ito, "Color universal design" (2008), which
// people with any color vision can tell apart; the yellow is too pale for lines.
var colors = []color.RGBA{
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
	{0, 0, 0, 255},
}

var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

// dress sets fonts and distances.
func dress(p *plot.Plot, legend *plot.Legend) {
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
		style.Font.Size = vg.Points(9)
	}
	p.Title.TextStyle.Font.Size = vg.Points(11)
	p.Title.Padding = vg.Points(8)
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(2)
}

// addLine draws the curve of that number. Colors, marks and dashes repeat after
// different numbers, so that no two of the first 35 curves look alike.
func addLine(p *plot.Plot, legend *plot.Legend, number int, named Line, points plotter.XYs) error {
	if len(points) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = colors[number%len(colors)], vg.Points(1.5)
	if named.Strong {
		line.Width = vg.Points(3.5)
	}
	if turn := number / len(colors); turn > 0 {
		line.Dashes = []vg.Length{vg.Points(float64(2 + 3*turn)), vg.Points(3)}
	}
	marks.Color, marks.Shape, marks.Radius = line.Color, glyphs[number%len(glyphs)], vg.Points(2.5)
	if named.Plain {
		p.Add(line)
		legend.Add(named.Name, line)
		return nil
	}
	p.Add(line, marks)
	legend.Add(named.Name, line, marks)
	return nil
}
