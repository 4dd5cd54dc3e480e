package paper

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/internal/eval/chart"
)

var alphaK = Experiment{
	Name:   "alpha-k",
	Source: "Yang, Yang, Zhang: Achieving (α,k)-anonymity via clustering in data publishing. Acta Electronica Sinica 39(8), 2011. Figures 1 to 4.",
	Setting: "The 45,222 complete records of adult.data and adult.test, three numeric and five categorical quasi-identifiers, occupation sensitive; " +
		"the single value is the most frequent occupation. Information loss counts categories by the leaves of the data's hierarchies.",
	run: runAlphaK,
}

// alphaColumns puts numbers and categories in turn, so that every number of
// quasi-identifiers has both.
var alphaColumns = []string{
	"age", "workclass", "education-num", "marital-status", "race", "hours-per-week", "sex", "native-country",
}

// alphaMethods are SingAnony, MultiAnony and SimAnony of the paper.
var alphaMethods = []string{"alpha-k-single", "alpha-k-multi", "alpha-k-lattice"}

// alphaCurves are the curves of the experiment.
type alphaCurves struct{ lossByQI, timeByQI, lossByK, timeByK curves }

func runAlphaK(ctx context.Context, s Setup) (*Outcome, error) {
	table, err := s.adult(adultTable{columns: alphaColumns, sensitive: "occupation", whole: true, taxonomies: true})
	if err != nil {
		return nil, err
	}
	c, frequent := &alphaCurves{}, mostFrequent(table)
	for _, name := range alphaMethods {
		m, err := methods.Named(name)
		if err != nil {
			return nil, err
		}
		measure := func(attributes, k int, alpha float64) (clusterRun, error) {
			bound := privacy.AlphaBound{Alpha: alpha, Name: "occupation"}
			if name != "alpha-k-multi" {
				bound.Values = []uint32{frequent}
			}
			return measureCluster(ctx, s, m, table, attributes, privacy.ConstraintSet{privacy.KAnonymity{K: k}, bound})
		}
		if err := c.measure(s, name, measure); err != nil {
			return nil, err
		}
	}
	figure := func(number, title, x, y string, logY bool, c curves) Figure {
		return Figure{Number: number, Chart: chart.Chart{Title: title, X: x, Y: y, LogY: logY, Lines: c.Lines}, Timed: y == "seconds"}
	}
	return &Outcome{
		Figures: []Figure{
			figure("1", "Information loss, k = 20", "quasi-identifiers", "GCP (%)", false, c.lossByQI),
			figure("2", "Information loss, 7 quasi-identifiers", "k", "GCP (%)", false, c.lossByK),
			figure("3", "Time, k = 20", "quasi-identifiers", "seconds", true, c.timeByQI),
			figure("4", "Time, 7 quasi-identifiers", "k", "seconds", true, c.timeByK),
		},
		Claims: c.claims(),
	}, nil
}

func (c *alphaCurves) measure(s Setup, name string, run func(attributes, k int, alpha float64) (clusterRun, error)) error {
	for _, alpha := range alphasByQI {
		for _, attributes := range s.choose([]int{2, 3, 4, 5, 6, 7, 8}, []int{3, 7}) {
			made, err := run(attributes, 20, alpha)
			if err != nil {
				return err
			}
			c.lossByQI.Add(alphaCurve(name, alpha), float64(attributes), made.loss)
			c.timeByQI.Add(alphaCurve(name, alpha), float64(attributes), made.seconds)
		}
	}
	for _, alpha := range alphasByK {
		for _, k := range s.choose([]int{10, 20, 30, 40, 50}, []int{10, 50}) {
			made, err := run(7, k, alpha)
			if err != nil {
				return err
			}
			c.lossByK.Add(alphaCurve(name, alpha), float64(k), made.loss)
			c.timeByK.Add(alphaCurve(name, alpha), float64(k), made.seconds)
		}
	}
	return nil
}

// The alphas of figures 1 and 3, and of figures 2 and 4.
var (
	alphasByQI = []float64{0.2, 0.35}
	alphasByK  = []float64{0.2, 0.3}
)

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

// compare says whether something holds between the curves of two methods for
// every alpha.
func compare(alphas []float64, a, b int, holds func(a, b string) bool) bool {
	for _, alpha := range alphas {
		if !holds(alphaCurve(alphaMethods[a], alpha), alphaCurve(alphaMethods[b], alpha)) {
			return false
		}
	}
	return true
}

func (c *alphaCurves) claims() []Claim {
	const single, multi, simple = 0, 1, 2
	below := func(c *curves) func(a, b string) bool {
		return func(a, b string) bool { return c.everywhere(a, b, func(a, b float64) bool { return a < b }) }
	}
	farBelow := func(c *curves) func(a, b string) bool {
		return func(a, b string) bool { return c.everywhere(a, b, func(a, b float64) bool { return 2*a < b }) }
	}
	near := func(a, b string) bool {
		return c.lossByK.everywhere(a, b, func(a, b float64) bool { return b < 1.1*a })
	}
	slower := func(c *curves) func(a, b string) bool {
		return func(a, b string) bool { return c.growth(a) < c.growth(b) }
	}
	falls := func(method int) bool {
		return compare(alphasByK, method, method, func(a, _ string) bool { return c.timeByK.growth(a) < 1 })
	}
	return []Claim{
		rising("Information loss rises with the number of quasi-identifiers for all methods.", &c.lossByQI).
			because("it is the mean over the attributes, and falls where a new one is easy to generalize"),
		claim("Both clusterings lose far less information than simple (α,k), less than half, for every number of quasi-identifiers.",
			"simple (α,k) loses "+c.timesAsMuch(&c.lossByQI, alphasByQI, simple, multi)+" as much as multi-value clustering",
			compare(alphasByQI, single, simple, farBelow(&c.lossByQI)) && compare(alphasByQI, multi, simple, farBelow(&c.lossByQI))),
		claim("So do they for every k.",
			"simple (α,k) loses "+c.timesAsMuch(&c.lossByK, alphasByK, simple, multi)+" as much as multi-value clustering",
			compare(alphasByK, single, simple, farBelow(&c.lossByK)) && compare(alphasByK, multi, simple, farBelow(&c.lossByK))),
		rising("Information loss rises with k for all methods.", &c.lossByK),
		c.risesWithAlpha(),
		claim("With k, the clusterings' loss rises slowly and that of simple (α,k) in leaps.",
			fmt.Sprintf("from the first k to the last that of the clusterings grows to %.2f and %.2f times, that of simple (α,k) to %.2f times (α = %g)",
				c.lossByK.growth(alphaCurve(alphaMethods[single], alphasByK[0])), c.lossByK.growth(alphaCurve(alphaMethods[multi], alphasByK[0])),
				c.lossByK.growth(alphaCurve(alphaMethods[simple], alphasByK[0])), alphasByK[0]),
			compare(alphasByK, single, simple, slower(&c.lossByK)) && compare(alphasByK, multi, simple, slower(&c.lossByK))).
			because("full-domain search has lost so much already that a larger k costs nothing more"),
		claim("Single-value clustering loses the least.",
			"multi-value clustering loses "+c.timesAsMuch(&c.lossByK, alphasByK, multi, single)+" as much over k",
			compare(alphasByK, single, multi, below(&c.lossByK)) && compare(alphasByQI, single, multi, below(&c.lossByQI))),
		claim("Multi-value clustering loses only very little more, at most a tenth.",
			"multi-value clustering loses "+c.timesAsMuch(&c.lossByK, alphasByK, multi, single)+" as much",
			compare(alphasByK, single, multi, near)),
		timedClaim("The time of simple (α,k) grows faster with the number of quasi-identifiers than that of the clusterings.", "figure 3",
			compare(alphasByQI, single, simple, slower(&c.timeByQI)) && compare(alphasByQI, multi, simple, slower(&c.timeByQI))),
		timedClaim("The time of the clusterings falls with k.", "figure 4", falls(single) && falls(multi)),
		timedClaim("That of simple (α,k) rises with k.", "figure 4", compare(alphasByK, simple, simple, func(a, _ string) bool { return c.timeByK.growth(a) > 1 })),
	}
}

// timesAsMuch is how many times one method's curves are as high as another's.
func (c *alphaCurves) timesAsMuch(of *curves, alphas []float64, a, b int) string {
	least, most := math.Inf(1), 0.0
	for _, alpha := range alphas {
		from, to := of.ratios(alphaCurve(alphaMethods[a], alpha), alphaCurve(alphaMethods[b], alpha))
		least, most = min(least, from), max(most, to)
	}
	return times(least, most)
}

// risesWithAlpha compares the curves of figure 2 of a method with each other.
func (c *alphaCurves) risesWithAlpha() Claim {
	least, most := alphasByK[0], alphasByK[1]
	holds := true
	var texts []string
	for _, method := range alphaMethods {
		a, b := alphaCurve(method, least), alphaCurve(method, most)
		holds = holds && c.lossByK.everywhere(a, b, func(a, b float64) bool { return a < b })
		from, to := c.lossByK.ratios(b, a)
		texts = append(texts, fmt.Sprintf("%s loses %s as much with α = %g as with %g", method, times(from, to), most, least))
	}
	return claim("With a larger α all lose more information.", strings.Join(texts, "; "), holds).
		because("α bounds from above: whatever satisfies a smaller one satisfies a larger one, so the least loss cannot rise")
}
