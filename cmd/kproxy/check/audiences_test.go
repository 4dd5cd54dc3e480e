package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestConstraintsOnUnseenColumns: what holds for readers is told with the columns of it that they do not see.
func TestConstraintsOnUnseenColumns(t *testing.T) {
	t.Parallel()
	of := func(name string, role catalog.Role) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: role}
	}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{
		Table: catalog.Name{Schema: "public", Relation: "stays"}, Hidden: []string{"cost", "job"},
		Columns: []catalog.ColumnPolicy{
			of("age", catalog.QuasiIdentifying), of("town", catalog.QuasiIdentifying), of("job", catalog.QuasiIdentifying),
			of("illness", catalog.Sensitive), of("cost", catalog.Sensitive),
		},
		Constraints: []privacy.Spec{
			{Model: privacy.K, K: 5},
			{Model: privacy.K, K: 3, Over: []string{"age", "town", "job"}},
			{Model: privacy.DistinctL, L: 2, Of: "illness"},
			{Model: privacy.DistinctL, L: 2, Of: "cost"},
		},
		Audiences: []catalog.AudiencePolicy{
			{Audience: "partners", Hidden: []string{"illness", "job"}, Constraints: []privacy.Spec{{Model: privacy.K, K: 25}}},
			{Audience: "press", Hidden: []string{"cost", "town", "job"}},
		},
	}}}
	report := Report{Audiences: audiencesOf(policy), Coalitions: coalitionsOf(policy)}
	var text strings.Builder
	report.writeAudiences(&text)
	for _, want := range []string{
		"partners sees public.stays by 3-anonymity over age, town, job (job unseen), distinct 2-diversity of illness (illness unseen), distinct 2-diversity of cost, 25-anonymity, without illness, job\n",
		"press sees public.stays by 3-anonymity over age, town, job (town and job unseen), distinct 2-diversity of illness, distinct 2-diversity of cost (cost unseen), 25-anonymity, without cost, town, job\n",
		"public.stays: its own readers with any of partners, press: 5-anonymity, 3-anonymity over age, town, job (job unseen), distinct 2-diversity of illness, distinct 2-diversity of cost; they join cost (of partners)\n",
		"public.stays: partners with press: 3-anonymity over age, town, job (job unseen), distinct 2-diversity of illness, distinct 2-diversity of cost, 25-anonymity; they join illness (of press)\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the check does not say %q:\n%s", want, text.String())
		}
	}
	written, err := json.Marshal(report.Audiences[0])
	if want := `"unseen":[{"constraint":"3-anonymity over age, town, job","columns":["job"]},{"constraint":"distinct 2-diversity of illness","columns":["illness"]}]`; err != nil || !strings.Contains(string(written), want) {
		t.Errorf("as JSON it is %s, %v", written, err)
	}
}
