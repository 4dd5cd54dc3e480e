package catalog

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestConstraintsForAudiences: what holds for an audience is what holds for those before it and its own, of
// two of which one implies the other the stricter one.
func TestConstraintsForAudiences(t *testing.T) {
	t.Parallel()
	k := func(least int) privacy.Spec { return privacy.Spec{Model: privacy.K, K: least} }
	l := func(least float64) privacy.Spec {
		return privacy.Spec{Model: privacy.DistinctL, L: least, Of: "illness"}
	}
	policy := TablePolicy{Constraints: []privacy.Spec{k(5), l(2)}, Audiences: []AudiencePolicy{
		{Audience: "partners", Constraints: []privacy.Spec{k(25)}},
		{Audience: "press", Constraints: []privacy.Spec{l(4)}},
	}}
	for audience, want := range map[string][]privacy.Spec{"": {k(5), l(2)}, "partners": {l(2), k(25)}, "press": {k(25), l(4)}} {
		if got := policy.ConstraintsFor(audience); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("for %q %v hold, not %v", audience, got, want)
		}
	}
}
