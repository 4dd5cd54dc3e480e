package paper

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/eval/chart"
)

var roundedPartition = Experiment{
	Name:    "rounded-partition",
	Source:  "Wu, Tang, Ni, Sun: Algorithm for k-anonymity based on rounded partition function. Journal of Software 23(8), 2012. Figure 5.",
	Setting: "The 30,162 complete records of adult.data, the paper's eight quasi-identifiers, the salary class as label; k from 2 to 50.",
	run:     runRounded,
}

// The methods that the paper compares, its own first.
var partitionings = []string{"rounded-partition", "mondrian-strict", "mondrian-relaxed", "bottom-up"}

func runRounded(ctx context.Context, s Setup) (*Outcome, error) {
	table, err := s.adult(adultTable{columns: partitionColumns, sensitive: "salary-class"})
	if err != nil {
		return nil, err
	}
	c := &roundedCurves{}
	for _, method := range partitionings {
		for _, k := range s.choose([]int{2, 5, 10, 25, 50}, []int{5, 25}) {
			s.report("%s, k = %d", method, k)
			run, err := s.anonymize(ctx, method, table, privacy.ConstraintSet{privacy.KAnonymity{K: k}})
			if err != nil {
				return nil, err
			}
			at := float64(k)
			c.dm.Add(method, at, float64(metric.Discernibility(run.release)))
			c.cm.Add(method, at, float64(metric.Classification(table, run.release, 0)))
			c.classes.Add(method, at, float64(metric.Classes(run.release)))
			c.largest.Add(method, at, float64(metric.LargestClass(run.release)))
			c.seconds.Add(method, at, run.seconds)
			c.loss.Add(method, at, 100*metric.GCP(table, run.release))
		}
	}
	figure := func(number, title, y string, logY bool, c curves, originals ...chart.Line) Figure {
		return Figure{Number: number, Chart: chart.Chart{Title: title, X: "k", Y: y, LogX: true, LogY: logY, Lines: c.Lines}, Originals: originals}
	}
	times := figure("5d", "Time", "seconds", true, c.seconds)
	times.Timed = true
	return &Outcome{
		Figures: []Figure{
			figure("5a", "Discernibility", "DM", true, c.dm,
				original("rounded-partition, as proved", 150_822, 301_642, 754_362, 1_508_712),
				original("mondrian-relaxed, as proved", 223_054, 444_618, 888_678, 1_776_890)),
			figure("5b", "Classification", "CM", false, c.cm),
			figure("5c", "Number of classes", "classes", true, c.classes,
				original("rounded-partition, as proved", 6032, 3016, 1206, 603),
				original("mondrian-strict, another program", 3271, 1795, 776, 402)),
			times,
			figure("beyond", "Largest class, which the paper bounds", "records", true, c.largest,
				original("rounded-partition, as proved", 6, 11, 26, 51)),
			figure("beyond", "Information loss, which the paper does not measure", "GCP (%)", false, c.loss,
				original("mondrian-strict, another program", 8.30, 11.24, 16.35, 22.16)),
		},
		Claims: c.claims(table.Len()),
	}, nil
}

// roundedCurves are the curves of the experiment.
type roundedCurves struct{ dm, cm, classes, largest, seconds, loss curves }

// original is a curve at the k for which there are figures to reproduce: what the paper's
// theorems say of 30,162 records, or what another program made of them, without the same axes
// of categories.
func original(name string, figures ...float64) chart.Line {
	line := chart.Line{Name: name}
	for i, k := range []float64{5, 10, 25, 50} {
		line.Points = append(line.Points, chart.Point{X: k, Y: figures[i]})
	}
	return line
}

func (c *roundedCurves) claims(records int) []Claim {
	return []Claim{
		lowest("The rounded partition has the lowest DM of the four methods.", &c.dm),
		rising("DM rises with k for every method.", &c.dm),
		lowest("The rounded partition has the lowest CM of the four methods.", &c.cm),
		rising("CM rises with k for every method, as DM does.", &c.cm),
		highest("The rounded partition makes the most classes.", &c.classes),
		classCount(records, &c.classes),
		c.bounded(records),
		c.acceptable(),
	}
}

// bounded is theorem 3: with 2k^2 records or more, no class has more than k + 1.
func (c *roundedCurves) bounded(records int) Claim {
	result := claim("With n ≥ 2k² records, no class has more than k + 1.", "the largest has "+c.largest.row("rounded-partition", "%.0f"), true)
	for _, p := range c.largest.Lines[0].Points {
		k := int(p.X)
		result.Holds = result.Holds && (records < 2*k*k || int(p.Y) <= k+1)
	}
	return result
}

// acceptable is what the paper says of figure 5d, whose curves it does not describe. It takes
// twice the time of the fastest of the others for acceptable.
func (c *roundedCurves) acceptable() Claim {
	worst := 0.0
	for _, k := range c.seconds.places("rounded-partition") {
		fastest := math.Inf(1)
		for _, other := range partitionings[1:] {
			fastest = min(fastest, c.seconds.at(other, k))
		}
		worst = max(worst, c.seconds.at("rounded-partition", k)/fastest)
	}
	return timedClaim("The time of the rounded partition is acceptable as well (at most twice that of the fastest of the others).",
		fmt.Sprintf("figure 5d: at most %.2f times that of the fastest of the others", worst), worst <= 2)
}

func lowest(claim string, c *curves) Claim {
	return againstOthers(claim, c, func(own, other float64) bool { return own <= other })
}

func highest(claim string, c *curves) Claim {
	return againstOthers(claim, c, func(own, other float64) bool { return own >= other })
}

// againstOthers compares the first curve with each of the others at every place,
// and tells how many times as great these are.
func againstOthers(claim string, c *curves, holds func(own, other float64) bool) Claim {
	result := Claim{Paper: claim, Holds: true}
	own := c.Lines[0].Name
	var texts []string
	for _, line := range c.Lines[1:] {
		result.Holds = result.Holds && c.everywhere(own, line.Name, holds)
		least, most := math.Inf(1), 0.0
		for _, p := range line.Points {
			ratio := p.Y / c.at(own, p.X)
			least, most = min(least, ratio), max(most, ratio)
		}
		texts = append(texts, fmt.Sprintf("%s has %.2f to %.2f times as many", line.Name, least, most))
	}
	result.Measured = strings.Join(texts, "; ")
	return result
}

func rising(claim string, c *curves) Claim {
	result := Claim{Paper: claim, Holds: true}
	var falls []string
	for _, line := range c.Lines {
		for i := 1; i < len(line.Points); i++ {
			if from, to := line.Points[i-1], line.Points[i]; to.Y < from.Y {
				falls = append(falls, fmt.Sprintf("%s falls between %g and %g", line.Name, from.X, to.X))
			}
		}
	}
	result.Holds = len(falls) == 0
	result.Measured = strings.Join(falls, "; ")
	if result.Holds {
		result.Measured = "true for all"
	}
	return result
}

func classCount(records int, c *curves) Claim {
	result := Claim{Paper: "It makes exactly ⌊n/k⌋ classes.", Holds: true, Measured: c.row("rounded-partition", "%.0f")}
	for _, p := range c.Lines[0].Points {
		result.Holds = result.Holds && int(p.Y) == records/int(p.X)
	}
	return result
}
