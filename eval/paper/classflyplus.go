package paper

import (
	"context"
	"fmt"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/workload"
	"github.com/kproxy/kproxy/eval/chart"
)

var classflyPlus = Experiment{
	Name:   "classfly-plus",
	Source: "Yang, Liu, Wang, Yu: K-anonymization approaches for supporting multiple constraints. Journal of Software 17(5), 2006. Figures 3 to 6.",
	Setting: "Uniformly random records with the paper's nine attributes and constraints C1 to C8; 1,024 to 10,240 records. " +
		"The paper prints neither domains nor hierarchies: those here are our own, so that curves compare in shape, not in value.",
	run: runClassflyPlus,
}

// recodings are the methods that the paper compares: D, N, C and P.
var recodings = []string{"datafly", "classfly-plus-naive", "classfly-plus-complete", "classfly-plus-partial"}

// recodingRun is the outcome of one method on one table and constraint set.
type recodingRun struct{ precision, seconds float64 }

func runRecoding(ctx context.Context, s Setup, method string, n, constraints int) (recodingRun, error) {
	m, err := methods.Named(method)
	if err != nil {
		return recodingRun{}, err
	}
	table := workload.Census(s.Seed, n).Table()
	s.report("%s, %d records, %d constraints", method, n, constraints)
	start := time.Now()
	parts, err := anonymizer.Anonymize(ctx, m, coveredBy(table, constraints), workload.CensusConstraints(constraints), anonymizer.Options{Seed: s.Seed})
	if err != nil {
		return recodingRun{}, err
	}
	return recodingRun{metric.MeanOfParts(parts, metric.Precision), time.Since(start).Seconds()}, nil
}

func runClassflyPlus(ctx context.Context, s Setup) (*Outcome, error) {
	sizes := s.choose([]int{1024, 2048, 4096, 6144, 8192, 10240}, []int{1024, 4096})
	largest := sizes[len(sizes)-1]
	var precision2, precision4, time4, time8 curves
	bySize := []*curves{&precision2, &precision4}
	for _, n := range sizes {
		for _, method := range recodings {
			for i, constraints := range []int{2, 4} {
				run, err := runRecoding(ctx, s, method, n, constraints)
				if err != nil {
					return nil, err
				}
				bySize[i].add(method, float64(n), run.precision)
				if constraints == 4 {
					time4.add(method, float64(n), run.seconds)
				}
			}
			run, err := runRecoding(ctx, s, method, n, 8)
			if err != nil {
				return nil, err
			}
			time8.add(method, float64(n), run.seconds)
		}
	}
	byCount, timeByCount := curves{}, curves{}
	for constraints := 2; constraints <= 8; constraints++ {
		for _, method := range recodings {
			run, err := runRecoding(ctx, s, method, largest, constraints)
			if err != nil {
				return nil, err
			}
			byCount.add(method, float64(constraints), run.precision)
			timeByCount.add(method, float64(constraints), run.seconds)
		}
	}
	overSize := func(number, title, y string, c curves) Figure {
		return Figure{number, chart.Chart{Title: title, X: "records", Y: y, Lines: c.lines}}
	}
	overCount := func(number, title, y string, c curves) Figure {
		return Figure{number, chart.Chart{Title: fmt.Sprintf("%s, %d records", title, largest), X: "constraints", Y: y, Lines: c.lines}}
	}
	return &Outcome{
		Figures: []Figure{
			overSize("3a, 4", "Precision with 2 constraints", "Prec", precision2),
			overSize("3b, 4", "Precision with 4 constraints", "Prec", precision4),
			overCount("beyond 3", "Precision over the number of constraints", "Prec", byCount),
			overSize("5a", "Time with 4 constraints", "seconds", time4),
			overSize("5b", "Time with 8 constraints", "seconds", time8),
			overCount("6", "Time over the number of constraints", "seconds", timeByCount),
		},
		Claims: classflyPlusClaims(&precision2, &precision4, &byCount),
	}, nil
}

// coveredBy is the table with the attributes that the constraints speak of. These
// stand in the order in which C1 to C8 first do, so that their indexes stay.
func coveredBy(t *anonymizer.Table, constraints int) *anonymizer.Table {
	_, uncovered := workload.CensusConstraints(constraints).Components(len(t.Attributes()))
	left := map[int]bool{}
	for _, a := range uncovered {
		left[a] = true
	}
	var covered []int
	for a := range t.Attributes() {
		if !left[a] {
			covered = append(covered, a)
		}
	}
	return t.Project(covered)
}

func classflyPlusClaims(precision2, precision4, byCount *curves) []Claim {
	const datafly, naive, complete, partial = "datafly", "classfly-plus-naive", "classfly-plus-complete", "classfly-plus-partial"
	equal := func(a, b float64) bool { return a == b }
	atLeast := func(a, b float64) bool { return a >= b }
	gain := func(c *curves) float64 {
		sum, places := 0.0, 0
		for _, line := range c.lines {
			for _, p := range line.Points {
				if line.Name == partial {
					sum += 100 * (p.Y - c.at(datafly, p.X))
					places++
				}
			}
		}
		return sum / float64(places)
	}
	gain2, gain4 := gain(precision2), gain(precision4)
	pair := func(c *curves, a, b string) string {
		return fmt.Sprintf("%s %s; %s %s", a, c.row(a, "%.3f"), b, c.row(b, "%.3f"))
	}
	return []Claim{
		{
			"Complete and partial IndepCSet Classfly+ have the same precision (theorem 4).", pair(byCount, complete, partial),
			precision2.everywhere(complete, partial, equal) && precision4.everywhere(complete, partial, equal) && byCount.everywhere(complete, partial, equal),
		},
		{
			"They are 10 to 20 points of precision above Datafly on average.",
			fmt.Sprintf("%.1f points with 2 constraints, %.1f with 4, on average over the numbers of records", gain2, gain4),
			gain2 >= 10 && gain4 >= 10,
		},
		{
			"They are at least as precise as naive Classfly+.", pair(byCount, partial, naive),
			precision2.everywhere(partial, naive, atLeast) && precision4.everywhere(partial, naive, atLeast),
		},
		{
			"With {C1, C2}, naive Classfly+ is more precise than Datafly.", pair(precision2, naive, datafly),
			precision2.everywhere(naive, datafly, atLeast),
		},
		{
			"With {C1, ..., C4}, naive Classfly+ is less precise than Datafly.", pair(precision4, naive, datafly),
			precision4.everywhere(datafly, naive, atLeast),
		},
		risingOf("The precision of Classfly+ rises with the number of records.", precision4, naive, complete),
	}
}

// risingOf looks at some curves only.
func risingOf(claim string, c *curves, names ...string) Claim {
	some := curves{}
	for _, line := range c.lines {
		for _, name := range names {
			if line.Name == name {
				some.lines = append(some.lines, line)
			}
		}
	}
	return rising(claim, &some)
}
