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
			if r.Updates != "immediate" {
				continue
			}
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

// TestGuardedAudiences: with guarded updates, no reader of nested releases, over all versions, tells people apart in sets
// that violate what that reader was promised, and those who pool all learn what the finest tells; releases that are made apart tell more.
func TestGuardedAudiences(t *testing.T) {
	t.Parallel()
	s := Default().Quick()
	s.Records, s.Steps, s.Rates, s.K, s.Alpha, s.L, s.Crowds, s.Targets = 300, 40, []float64{0.03}, []int{3, 9}, 0, 2, []int{1, 2}, 40
	outcome, err := RunCoalitions(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, updates := range []string{"guarded, crowd 1", "guarded, crowd 2"} {
		figures := map[string]Coalition{}
		for _, r := range outcome.Runs {
			if r.Updates == updates {
				figures[r.Releases+" "+r.Readers] = r
			}
		}
		finest, coarsest, together := figures["nested finest"], figures["nested coarsest"], figures["nested pooled"]
		for _, r := range []Coalition{finest, coarsest, together} {
			if r.Atoms.Sets == 0 || r.Atoms.Violating > 0 || r.Fewer > 0 {
				t.Errorf("%s, %s: %d of %d sets violate the constraints, and %.2f of targets have too few candidates", updates, r.Readers, r.Atoms.Violating, r.Atoms.Sets, r.Fewer)
			}
		}
		if finest.Atoms != together.Atoms {
			t.Errorf("%s: %+v with the finest, %+v pooled", updates, finest.Atoms, together.Atoms)
		}
		if apart := figures["apart pooled"]; apart.Atoms.Violating == 0 {
			t.Errorf("%s: pooling releases that are not nested tells nothing: %+v", updates, apart)
		}
	}
}
