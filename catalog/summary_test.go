package catalog_test

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestStoredSummariesAreOfClasses: only tables whose rows show one class, which changes at once, have a stored summary.
func TestStoredSummariesAreOfClasses(t *testing.T) {
	t.Parallel()
	one := visitPolicy(privacy.Spec{Model: privacy.K, K: 5})
	parts := visitPolicy(privacy.Spec{Model: privacy.K, K: 5, Over: []string{"age", "born"}}, privacy.Spec{Model: privacy.K, K: 3, Over: []string{"sex", "zip"}})
	for name, c := range map[string]struct {
		policy catalog.TablePolicy
		form   catalog.SummaryForm
		want   string
	}{
		"one part": {one, catalog.SummaryStored, ""},
		"parts":    {parts, catalog.SummaryStored, "several classes"},
		"a view":   {parts, catalog.SummaryView, ""},
		"guarded":  {guarded(one), catalog.SummaryStored, "immediate updates"},
		"no form":  {one, catalog.SummaryStored + 1, "no form of a summary"},
	} {
		c.policy.Summary = c.form
		_, problems := catalog.Publish(c.policy, visits)
		said := ""
		for _, p := range problems {
			said += p.What + "\n"
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("of %s it says %q, not %q", name, said, c.want)
		}
	}
}
