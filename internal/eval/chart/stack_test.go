package chart_test

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

func TestStack(t *testing.T) {
	t.Parallel()
	charts := []chart.Chart{
		{Title: "Lag & more", Y: "s", LogY: true, Lines: []chart.Line{{Name: "lag", Plain: true, Points: []chart.Point{{1, 0.1}, {23, 10}, {7, math.NaN()}}}}},
		{Title: "Memory", Y: "GB", Lines: []chart.Line{{Name: "kproxy", Points: []chart.Point{{12, 3}}}, {Name: "nothing"}}},
		{Title: "Nothing"},
	}
	for n := 1; n <= len(charts); n++ {
		svg, err := chart.Stack{Title: "A <day>", X: "hour", Marks: []float64{0, 6, 24}, Charts: charts[:n]}.SVG()
		if err != nil {
			t.Fatalf("%d charts: %v", n, err)
		}
		text := string(svg)
		if err := xml.Unmarshal(svg, new(struct{})); err != nil {
			t.Errorf("%d charts: not well-formed: %v", n, err)
		}
		if strings.Contains(text, "NaN") {
			t.Errorf("%d charts: a coordinate is no number", n)
		}
		for i, c := range charts {
			if title := strings.ReplaceAll(c.Title, "&", "&amp;"); strings.Contains(text, ">"+title+"<") != (i < n) {
				t.Errorf("%d charts: the one of %q is where it should not be, or is not there", n, c.Title)
			}
		}
		if !strings.Contains(text, "A &lt;day&gt;") || strings.Count(text, ">hour<") != 1 {
			t.Errorf("%d charts: the title is missing, or the axis is not named once", n)
		}
	}
	for _, s := range []chart.Stack{{Charts: charts}, {Marks: []float64{0, 1}}} {
		if _, err := s.SVG(); err == nil {
			t.Error("nothing was drawn, or over no axis")
		}
	}
}
