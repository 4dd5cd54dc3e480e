package paper

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/eval/chart"
)

var cbad = Experiment{
	Name:   "cbad",
	Source: "Yang, Li, Yang, Zhu: Achieving (k,l)-diversity in privacy preserving data publishing. Computer Science 40(8), 2013. Figures 1 to 3.",
	Setting: "The 45,222 complete records of adult.data and adult.test, eight quasi-identifiers, occupation sensitive; k = 10 where l varies, l = 2 where k does. " +
		"Divergence is that of counts grouped by the first three quasi-identifiers; information loss counts categories by the leaves of the hierarchies beside the data.",
	run: runCBAD,
}

// clusterRun is what one method made of the Adult data.
type clusterRun struct{ divergence, loss, seconds float64 }

// measureCluster runs a method on the first attributes of the table.
func measureCluster(ctx context.Context, s Setup, method string, t *anonymizer.Table, attributes int, c privacy.ConstraintSet) (clusterRun, error) {
	s.report("%s, %d quasi-identifiers, %v", method, attributes, c)
	first := t.Project(upTo(attributes))
	made, err := anonymize(ctx, method, first, c, s.Seed)
	if err != nil {
		return clusterRun{}, err
	}
	return clusterRun{
		divergence: metric.Divergence(first, made.release, upTo(min(3, attributes))),
		loss:       100 * metric.TaxonomyGCP(first, made.release),
		seconds:    made.seconds,
	}, nil
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// diverse is k-anonymity with distinct l-diversity of the only sensitive attribute.
func diverse(k, l int) privacy.ConstraintSet {
	set := privacy.ConstraintSet{privacy.KAnonymity{K: k}}
	if l > 1 {
		set = append(set, privacy.DistinctDiversity{L: l, Name: "occupation"})
	}
	return set
}

func runCBAD(ctx context.Context, s Setup) (*Outcome, error) {
	table, err := s.adult(adultTable{columns: clusterColumns, sensitive: "occupation", whole: true, taxonomies: true})
	if err != nil {
		return nil, err
	}
	const ours, theirs = "cbad", "hilbert"
	var klByL, klByQI, lossByK, lossByQI, timeByK, timeByQI curves
	for _, method := range []string{ours, theirs} {
		for _, l := range s.choose([]int{2, 4, 6, 8, 10}, []int{2, 6}) {
			run, err := measureCluster(ctx, s, method, table, len(clusterColumns), diverse(10, l))
			if err != nil {
				return nil, err
			}
			klByL.add(method, float64(l), run.divergence)
		}
		for _, attributes := range s.choose([]int{2, 3, 4, 5, 6, 7, 8}, []int{3, 8}) {
			run, err := measureCluster(ctx, s, method, table, attributes, diverse(10, 4))
			if err != nil {
				return nil, err
			}
			klByQI.add(method, float64(attributes), run.divergence)
			lossByQI.add(method, float64(attributes), run.loss)
			timeByQI.add(method, float64(attributes), run.seconds)
		}
		for _, k := range s.choose([]int{5, 10, 20, 30, 40, 50}, []int{5, 20}) {
			run, err := measureCluster(ctx, s, method, table, len(clusterColumns), diverse(k, 2))
			if err != nil {
				return nil, err
			}
			lossByK.add(method, float64(k), run.loss)
			timeByK.add(method, float64(k), run.seconds)
		}
	}
	figure := func(number, title, x, y string, c curves) Figure {
		return Figure{number, chart.Chart{Title: title, X: x, Y: y, Lines: c.lines}}
	}
	less := func(a, b float64) bool { return a < b }
	both := func(c *curves, format string) string {
		return fmt.Sprintf("%s %s; %s %s", ours, c.row(ours, format), theirs, c.row(theirs, format))
	}
	return &Outcome{
		Figures: []Figure{
			figure("1a", "Query divergence over l", "l", "KLD (nats)", klByL),
			figure("1b", "Query divergence over the quasi-identifiers", "quasi-identifiers", "KLD (nats)", klByQI),
			figure("2a", "Information loss over k", "k", "GCP (%)", lossByK),
			figure("2b", "Information loss over the quasi-identifiers", "quasi-identifiers", "GCP (%)", lossByQI),
			figure("3a", "Time over k", "k", "seconds", timeByK),
			figure("3b", "Time over the quasi-identifiers", "quasi-identifiers", "seconds", timeByQI),
		},
		Claims: []Claim{
			{"CBAD's divergence is lower than Hilbert's for every l.", both(&klByL, "%.3f"), klByL.everywhere(ours, theirs, less)},
			{
				"It is lower by about an order of magnitude.", both(&klByL, "%.3f"),
				klByL.everywhere(ours, theirs, func(a, b float64) bool { return 5*a < b }),
			},
			rising("The divergence of both rises with l.", &klByL),
			{"With growing k, CBAD loses less information than Hilbert.", both(&lossByK, "%.2f"), lossByK.lastLess(ours, theirs)},
			{"With many quasi-identifiers, CBAD loses less information than Hilbert.", both(&lossByQI, "%.2f"), lossByQI.lastLess(ours, theirs)},
			{"For small k, CBAD takes longer than Hilbert.", both(&timeByK, "%.2f"), timeByK.firstLess(theirs, ours)},
		},
	}, nil
}
