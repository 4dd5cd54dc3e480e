package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// chart is a picture together with a table of its figures, for screen readers. Coordinates are in the
// units of the picture, from the upper left corner.
type chart struct {
	ID, Title, Description string
	XTitle, YTitle         string
	XTicks, YTicks         []tick
	Bars                   []bar
	Lines                  []line
	// Mark is a vertical line at a value that is in force, with its label.
	Mark *tick
	// Head and Figures are the table. They are empty if the page has a table of its own.
	Head    []string
	Figures [][]string
}

// tick is a position on an axis with its label.
type tick struct {
	At   float64
	Text string
}

type bar struct {
	X, Y, Width, Height float64
	Text                string // what it stands for
	Below               bool   // less than is allowed
}

// line is a sequence of points. Number selects its style.
type line struct {
	Name   string
	Number int
	Points []point
}

type point struct {
	X, Y    float64
	Text    string
	InForce bool
}

// Path is the line for SVG.
func (l line) Path() string {
	path := ""
	for i, p := range l.Points {
		command := " L"
		if i == 0 {
			command = "M"
		}
		path += fmt.Sprintf("%s%.1f %.1f", command, p.X, p.Y)
	}
	return path
}

// The size of the picture, and the position of the drawing in it.
const (
	chartWidth, chartHeight = 560.0, 262.0
	left, right             = 62.0, 544.0
	top, bottom             = 28.0, 216.0 // a label has room above the drawing
)

// Edges of the picture, for templates.
func (*chart) Left() float64   { return left }
func (*chart) Right() float64  { return right }
func (*chart) Top() float64    { return top }
func (*chart) Bottom() float64 { return bottom }
func (*chart) ViewBox() string { return fmt.Sprintf("0 0 %.0f %.0f", chartWidth, chartHeight) }

// MarkSide says whether the label of the mark begins or, far to the right, ends at the mark.
func (c *chart) MarkSide() string {
	if c.Mark.At > (left+right)/2 {
		return "before"
	}
	return "after"
}

// scale maps values to coordinates.
type scale struct {
	least, most float64
	from, to    float64
	logarithmic bool
}

func (s scale) at(v float64) float64 {
	least, most := s.least, s.most
	if s.logarithmic {
		v, least, most = math.Log(v), math.Log(least), math.Log(most)
	}
	if most == least {
		return (s.from + s.to) / 2
	}
	return s.from + (s.to-s.from)*(v-least)/(most-least)
}

// niceSteps returns about n round values from 0 to at least most, or to 1 if that is the end of the
// scale.
func niceSteps(most float64, n int) []float64 {
	if most <= 0 {
		return []float64{0, 1}
	}
	magnitude := math.Pow(10, math.Floor(math.Log10(most/float64(n))))
	step := magnitude
	for _, factor := range []float64{1, 2, 5, 10} {
		step = factor * magnitude
		if most/step <= float64(n) {
			break
		}
	}
	var steps []float64
	for i := 0; ; i++ {
		v := float64(i) * step
		steps = append(steps, v)
		if v >= most-1e-12 {
			return steps
		}
	}
}

// maxBars bounds the bars, so that they can be distinguished.
const maxBars = 40

// histogram draws the number of classes by size. It returns nil without classes.
func histogram(sizes []SizeCount, k int) *chart {
	if len(sizes) == 0 {
		return nil
	}
	least, most := sizes[0].Size, sizes[len(sizes)-1].Size
	width := (most - least + maxBars) / maxBars // sizes a bar
	bins := make([]int64, (most-least)/width+1)
	var total, highest int64
	for _, s := range sizes {
		bins[(s.Size-least)/width] += s.Classes
		total += s.Classes
	}
	for _, n := range bins {
		highest = max(highest, n)
	}
	c := &chart{
		ID: "histogram", Title: "Classes by size", XTitle: "rows in a class", YTitle: "classes",
		Description: fmt.Sprintf("%s classes of %d to %d rows.", number(total), least, most),
		Head:        []string{"Rows in a class", "Classes"},
	}
	steps := niceSteps(float64(highest), 4)
	y := scale{least: 0, most: steps[len(steps)-1], from: bottom, to: top}
	for _, v := range steps {
		if v == math.Trunc(v) {
			c.YTicks = append(c.YTicks, tick{y.at(v), number(int64(v))})
		}
	}
	slot := (right - left) / float64(len(bins))
	slot = min(slot, 60)
	for i, n := range bins {
		from := least + i*width
		label := strconv.Itoa(from)
		if width > 1 {
			label = fmt.Sprintf("%d–%d", from, from+width-1)
		}
		x := left + float64(i)*slot
		if i%labelEvery(len(bins)) == 0 {
			c.XTicks = append(c.XTicks, tick{x + slot/2, strconv.Itoa(from)})
		}
		if n == 0 {
			continue
		}
		c.Bars = append(c.Bars, bar{
			X: x + slot*0.1, Y: y.at(float64(n)), Width: slot * 0.8, Height: bottom - y.at(float64(n)),
			Text: fmt.Sprintf("%s rows: %s classes", label, number(n)), Below: from < k,
		})
		c.Figures = append(c.Figures, []string{label, number(n)})
	}
	if k >= least && k <= most {
		c.Mark = &tick{left + float64((k-least)/width)*slot + 1, fmt.Sprintf("k = %d", k)}
	}
	return c
}

func labelEvery(bins int) int { return max(1, (bins+11)/12) }

// lossChart draws the information loss over time. It returns nil for fewer than two figures.
func lossChart(history []Loss) *chart {
	if len(history) < 2 {
		return nil
	}
	first, last := history[0].At, history[len(history)-1].At
	c := &chart{
		ID: "losses", Title: "Information loss over time", XTitle: "time (UTC)", YTitle: "information loss",
		Description: fmt.Sprintf("From %s on %s to %s on %s.", percent(history[0].Loss), moment(first), percent(history[len(history)-1].Loss), moment(last)),
		Head:        []string{"Measured", "Information loss", "Generation"},
	}
	x := scale{least: 0, most: max(1, last.Sub(first).Seconds()), from: left + 24, to: right - 24}
	highest := 0.0
	for _, l := range history {
		highest = max(highest, l.Loss)
	}
	y := shareAxis(c, highest)
	row := line{Name: "information loss", Number: 1}
	for _, l := range history {
		row.Points = append(row.Points, point{X: x.at(l.At.Sub(first).Seconds()), Y: y.at(l.Loss), Text: moment(l.At) + ": " + percent(l.Loss)})
		c.Figures = append(c.Figures, []string{moment(l.At), percent(l.Loss), strconv.FormatInt(l.Generation, 10)})
	}
	slices.Reverse(c.Figures) // the last first
	c.Lines = []line{row}
	layout := "15:04"
	if last.Sub(first) > 36*time.Hour {
		layout = "2 Jan"
	} else if last.Sub(first) < 5*time.Minute {
		layout = "15:04:05"
	}
	for i := range 4 {
		at := last.Sub(first) * time.Duration(i) / 3
		c.XTicks = append(c.XTicks, tick{x.at(at.Seconds()), first.Add(at).UTC().Format(layout)})
	}
	return c
}

// shareAxis gives the chart an axis of shares from 0 to about the highest.
func shareAxis(c *chart, highest float64) scale {
	steps := niceSteps(min(1, max(highest, 0.01)), 4)
	y := scale{least: 0, most: steps[len(steps)-1], from: bottom, to: top}
	for _, v := range steps {
		c.YTicks = append(c.YTicks, tick{y.at(v), strconv.FormatFloat(100*v, 'g', 6, 64) + " %"})
	}
	return y
}

// trialCharts draws loss and risk by k, with a line for each method, or the risk by what is known of
// persons. It returns none of the former if k does not vary.
func trialCharts(t Trial) []*chart {
	if known := riskByKnown(t); known != nil {
		return []*chart{known}
	}
	loss := trialChart(t, "loss", "Information loss by k", "information loss", func(r Run) float64 { return r.Loss })
	risk := trialChart(t, "risk", "Highest risk by k", "highest risk", func(r Run) float64 { return r.Highest })
	if loss == nil {
		return nil
	}
	return []*chart{loss, risk}
}

func trialChart(t Trial, id, title, of string, figure func(Run) float64) *chart {
	byMethod := make(map[string][]Run)
	var methods []string
	highest, least, most, inForce := 0.0, math.MaxInt, 0, 0
	for _, r := range t.Runs {
		if r.InForce {
			inForce = r.K
		}
		if r.Refused != "" {
			continue
		}
		if _, known := byMethod[r.Method]; !known {
			methods = append(methods, r.Method)
		}
		byMethod[r.Method] = append(byMethod[r.Method], r)
		highest, least, most = max(highest, figure(r)), min(least, r.K), max(most, r.K)
	}
	if len(methods) == 0 || least >= most {
		return nil
	}
	c := &chart{ID: id, Title: title, XTitle: "k", YTitle: of, Description: "A line for each method; the table below has all figures."}
	x := scale{least: float64(least), most: float64(most), from: left + 8, to: right - 8, logarithmic: true}
	y := shareAxis(c, highest)
	for _, k := range []int{2, 3, 5, 10, 20, 50, 100} {
		if k >= least && k <= most {
			c.XTicks = append(c.XTicks, tick{x.at(float64(k)), strconv.Itoa(k)})
		}
	}
	for i, method := range methods {
		runs := byMethod[method]
		slices.SortFunc(runs, func(a, b Run) int { return a.K - b.K })
		row := line{Name: method, Number: i%5 + 1}
		for _, r := range runs {
			row.Points = append(row.Points, point{
				X: x.at(float64(r.K)), Y: y.at(figure(r)), InForce: r.InForce,
				Text: fmt.Sprintf("%s, k = %d: %s", method, r.K, percent(figure(r))),
			})
		}
		c.Lines = append(c.Lines, row)
	}
	if inForce >= least && inForce <= most {
		c.Mark = &tick{x.at(float64(inForce)), fmt.Sprintf("k = %d in force", inForce)}
	}
	return c
}
