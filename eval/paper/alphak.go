package paper

import (
	"context"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/eval/chart"
)

var alphaK = Experiment{
	Name:   "alpha-k",
	Source: "Yang, Yang, Zhang: Achieving (α,k)-anonymity via clustering in data publishing. Acta Electronica Sinica 39(8), 2011. Figures 1 to 4.",
	Setting: "The 45,222 complete records of adult.data and adult.test, three numeric and five categorical quasi-identifiers, occupation sensitive; " +
		"the single value is the most frequent occupation. Information loss counts categories by the leaves of the hierarchies beside the data.",
	run: runAlphaK,
}

// alphaColumns puts numbers and categories in turn, so that every number of
// quasi-identifiers has both.
var alphaColumns = []string{
	"age", "workclass", "education-num", "marital-status", "race", "hours-per-week", "sex", "native-country",
}

// alphaMethods are SingAnony, MultiAnony and SimAnony of the paper.
var alphaMethods = []string{"alpha-k-single", "alpha-k-multi", "alpha-k-lattice"}

func runAlphaK(ctx context.Context, s Setup) (*Outcome, error) {
	table, err := s.adult(adultTable{columns: alphaColumns, sensitive: "occupation", whole: true, taxonomies: true})
	if err != nil {
		return nil, err
	}
	frequent := mostFrequent(table)
	run := func(method string, attributes, k int, alpha float64) (clusterRun, error) {
		bound := privacy.AlphaBound{Alpha: alpha, Name: "occupation"}
		if method != "alpha-k-multi" {
			bound.Values = []uint32{frequent}
		}
		return measureCluster(ctx, s, method, table, attributes, privacy.ConstraintSet{privacy.KAnonymity{K: k}, bound})
	}
	var lossByQI, timeByQI, lossByK, timeByK curves
	for _, method := range alphaMethods {
		for _, alpha := range []float64{0.2, 0.35} {
			for _, attributes := range s.choose([]int{2, 3, 4, 5, 6, 7, 8}, []int{3, 7}) {
				made, err := run(method, attributes, 20, alpha)
				if err != nil {
					return nil, err
				}
				lossByQI.add(alphaCurve(method, alpha), float64(attributes), made.loss)
				timeByQI.add(alphaCurve(method, alpha), float64(attributes), made.seconds)
			}
		}
		for _, alpha := range []float64{0.2, 0.3} {
			for _, k := range s.choose([]int{10, 20, 30, 40, 50}, []int{10, 50}) {
				made, err := run(method, 7, k, alpha)
				if err != nil {
					return nil, err
				}
				lossByK.add(alphaCurve(method, alpha), float64(k), made.loss)
				timeByK.add(alphaCurve(method, alpha), float64(k), made.seconds)
			}
		}
	}
	figure := func(number, title, x, y string, logY bool, c curves) Figure {
		return Figure{number, chart.Chart{Title: title, X: x, Y: y, LogY: logY, Lines: c.lines}}
	}
	return &Outcome{
		Figures: []Figure{
			figure("1", "Information loss, k = 20", "quasi-identifiers", "GCP (%)", false, lossByQI),
			figure("2", "Information loss, 7 quasi-identifiers", "k", "GCP (%)", false, lossByK),
			figure("3", "Time, k = 20", "quasi-identifiers", "seconds", true, timeByQI),
			figure("4", "Time, 7 quasi-identifiers", "k", "seconds", true, timeByK),
		},
		Claims: alphaClaims(&lossByQI, &lossByK, &timeByQI),
	}, nil
}

func alphaCurve(method string, alpha float64) string {
	return fmt.Sprintf("%s, α = %g", method, alpha)
}

// mostFrequent is the sensitive value that most records have.
func mostFrequent(t *anonymizer.Table) uint32 {
	frequent, most := uint32(0), -1
	for code, count := range t.Population().Sensitive[0] {
		if count > most || count == most && code < frequent {
			frequent, most = code, count
		}
	}
	return frequent
}

func alphaClaims(lossByQI, lossByK, timeByQI *curves) []Claim {
	less := func(a, b float64) bool { return a < b }
	all := func(c *curves, format string) string {
		var texts []string
		for _, line := range c.lines {
			texts = append(texts, line.Name+": "+c.row(line.Name, format))
		}
		return strings.Join(texts, "; ")
	}
	name := func(method int, alpha float64) string { return alphaCurve(alphaMethods[method], alpha) }
	clustersWin := func(c *curves, alphas ...float64) bool {
		for _, alpha := range alphas {
			if !c.everywhere(name(0, alpha), name(2, alpha), less) || !c.everywhere(name(1, alpha), name(2, alpha), less) {
				return false
			}
		}
		return true
	}
	return []Claim{
		rising("Information loss rises with the number of quasi-identifiers for all methods.", lossByQI),
		{"Both clusterings lose far less information than simple (α,k).", all(lossByQI, "%.1f"), clustersWin(lossByQI, 0.2, 0.35)},
		{"That holds for every k.", all(lossByK, "%.1f"), clustersWin(lossByK, 0.2, 0.3)},
		rising("Information loss rises with k for all methods.", lossByK),
		{
			"Single-value clustering loses a little less than multi-value clustering.", all(lossByK, "%.1f"),
			lossByK.everywhere(name(0, 0.2), name(1, 0.2), less) && lossByK.everywhere(name(0, 0.3), name(1, 0.3), less),
		},
		{
			"The time of simple (α,k) grows faster with the number of quasi-identifiers than that of the clusterings.", all(timeByQI, "%.2f"),
			timeByQI.growth(name(2, 0.2)) > timeByQI.growth(name(0, 0.2)) && timeByQI.growth(name(2, 0.2)) > timeByQI.growth(name(1, 0.2)),
		},
	}
}
