package attack

import (
	"context"
	"testing"
)

// TestPoolingNestedReleasesGainsNothing pools a release of k = 3 and one of k = 9: nested ones tell
// what the finest tells alone, and releases that are made apart tell more.
func TestPoolingNestedReleasesGainsNothing(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1e-9, 0.01} {
		s := Default().Quick()
		s.Records, s.Steps, s.Rates, s.K, s.Alpha, s.Targets = 300, 20, []float64{rate}, []int{3, 9}, 0, 40
		outcome, err := RunCoalitions(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		figures := map[string]Coalition{}
		for _, r := range outcome.Runs {
			figures[r.Releases+" "+r.Readers] = r
		}
		alone, together := figures["nested finest"], figures["nested pooled"]
		for i := range alone.Guesses {
			if a, b := alone.Guesses[i], together.Guesses[i]; a.Right != b.Right || a.Posterior != b.Posterior || a.Certain != b.Certain {
				t.Errorf("rate %g, %s: with the finest %+v, pooled %+v", rate, a.Attacker, a, b)
			}
		}
		if alone.Candidates != together.Candidates || together.Fewer > 0 {
			t.Errorf("rate %g: %.2f candidates with the finest, %.2f pooled, %.2f of targets with too few", rate, alone.Candidates, together.Candidates, together.Fewer)
		}
		alone, together = figures["apart finest"], figures["apart pooled"]
		if together.Fewer == 0 || together.Candidates >= alone.Candidates || together.Guesses[1].Posterior <= alone.Guesses[1].Posterior {
			t.Errorf("rate %g: pooling releases that are not nested tells nothing: %+v, alone %+v", rate, together, alone)
		}
	}
}
