package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/chart"
)

func TestSVG(t *testing.T) {
	t.Parallel()
	lines := []chart.Line{
		{Name: "rounded <partition>", Points: []chart.Point{{2, 0.01}, {50, 0.15}, {5, 0.04}}},
		{Name: "with gaps", Points: []chart.Point{{2, math.NaN()}, {5, math.Inf(1)}, {10, 0}, {25, 0.2}}},
		{Name: "nothing"},
	}
	for name, c := range map[string]chart.Chart{
		"linear":      {Title: "Loss & k", X: "k", Y: "loss", Lines: lines},
		"logarithmic": {Title: "Loss & k", X: "k", Y: "loss", LogX: true, LogY: true, Lines: lines},
		"empty":       {Title: "Loss & k"},
		"one point":   {Title: "Loss & k", LogX: true, Lines: []chart.Line{{Name: "one", Points: []chart.Point{{3, 4}}}}},
	} {
		svg, err := c.SVG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := string(svg)
		if !strings.HasPrefix(text, "<svg") || !strings.Contains(text, "Loss &amp; k") {
			t.Errorf("%s: no svg element with the title", name)
		}
		if len(c.Lines) > 1 && (!strings.Contains(text, "rounded &lt;partition&gt;") || strings.Contains(text, ">nothing<")) {
			t.Errorf("%s: the legend does not name exactly the drawn curves", name)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: a coordinate is no number", name)
		}
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: not well-formed: %v", name, err)
			}
		}
	}
}
