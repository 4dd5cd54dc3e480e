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
	var dm, cm, classes, seconds, loss curves
	for _, method := range partitionings {
		for _, k := range s.choose([]int{2, 5, 10, 25, 50}, []int{5, 25}) {
			s.report("%s, k = %d", method, k)
			run, err := anonymize(ctx, method, table, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, s.Seed)
			if err != nil {
				return nil, err
			}
			at := float64(k)
			dm.Add(method, at, float64(metric.Discernibility(run.release)))
			cm.Add(method, at, float64(metric.Classification(table, run.release, 0)))
			classes.Add(method, at, float64(metric.Classes(run.release)))
			seconds.Add(method, at, run.seconds)
			loss.Add(method, at, 100*metric.GCP(table, run.release))
		}
	}
	figure := func(number, title, y string, logY bool, c curves) Figure {
		return Figure{number, chart.Chart{Title: title, X: "k", Y: y, LogX: true, LogY: logY, Lines: c.Lines}}
	}
	return &Outcome{
		Figures: []Figure{
			figure("5a", "Discernibility", "DM", true, dm),
			figure("5b", "Classification", "CM", false, cm),
			figure("5c", "Number of classes", "classes", true, classes),
			figure("5d", "Time", "seconds", true, seconds),
			figure("beyond", "Information loss, which the paper does not measure", "GCP (%)", false, loss),
		},
		Claims: []Claim{
			lowest("The rounded partition has the lowest DM of the four methods.", &dm),
			rising("DM rises with k for every method.", &dm),
			lowest("The rounded partition has the lowest CM of the four methods.", &cm),
			rising("CM rises with k for every method, as DM does.", &cm),
			highest("The rounded partition makes the most classes.", &classes),
			classCount(table.Len(), &classes),
		},
	}, nil
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
