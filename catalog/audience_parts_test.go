package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// partedTable is a table with the parts age and zip, and job.
func partedTable() (TablePolicy, Relation) {
	relation := Relation{Name: Name{"public", "people"}, Kind: KindTable, Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "integer", BaseType: "int4", Deterministic: true, NotNull: true}}}
	policy := TablePolicy{
		Table: relation.Name, Method: "rounded-partition", Updates: Updates{Mode: Immediate}, Columns: []ColumnPolicy{{Name: "illness", Role: Sensitive}},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 5, Over: []string{"age", "zip"}}, {Model: privacy.K, K: 4, Over: []string{"job"}}},
	}
	for _, name := range []string{"age", "zip", "job", "illness"} {
		relation.Columns = append(relation.Columns, Column{Name: name, Type: "text", BaseType: "text", Deterministic: true})
		if name != "illness" {
			policy.Columns = append(policy.Columns, ColumnPolicy{Name: name, Role: QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Prefix}})
		}
	}
	return policy, relation
}

// TestAudiencesOfParts: constraints of an audience are over columns of one part, and what it does not see leaves the
// parts what they are.
func TestAudiencesOfParts(t *testing.T) {
	t.Parallel()
	k := func(over ...string) privacy.Spec { return privacy.Spec{Model: privacy.K, K: 20, Over: over} }
	tied := privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "illness", Over: []string{"zip", "job"}}
	for name, c := range map[string]struct {
		table    []privacy.Spec
		audience []privacy.Spec
		hidden   []string
		want     string
	}{
		"of one part":                       {nil, []privacy.Spec{k("zip", "age")}, nil, ""},
		"of some columns of a part":         {nil, []privacy.Spec{k("zip")}, nil, ""},
		"of each part":                      {nil, []privacy.Spec{k("age"), k("job")}, nil, ""},
		"of none":                           {nil, nil, []string{"job"}, ""},
		"of all columns":                    {nil, []privacy.Spec{k()}, nil, "20-anonymity is over all of them"},
		"across parts":                      {nil, []privacy.Spec{k("zip", "job")}, nil, "20-anonymity over zip, job is over columns that"},
		"hides a part":                      {nil, []privacy.Spec{k("age")}, []string{"age", "zip"}, ""},
		"a tie that it does not see":        {[]privacy.Spec{tied}, nil, []string{"illness"}, "ties some quasi-identifying columns to others"},
		"of columns that the table ties":    {[]privacy.Spec{tied}, []privacy.Spec{k()}, nil, ""},
		"a tie on columns that it does see": {[]privacy.Spec{tied}, nil, nil, ""},
	} {
		policy, relation := partedTable()
		policy.Constraints = append(policy.Constraints, c.table...)
		policy.Audiences = []AudiencePolicy{{Audience: "press", Constraints: c.audience, Hidden: c.hidden}}
		p, problems := Publish(policy, relation)
		text := fmt.Sprint(problems)
		if c.want == "" && len(problems) > 0 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", name, text)
			continue
		}
		seen, _ := p.For("press")
		if got, want := fmt.Sprint(seen.Components()), fmt.Sprint(p.Components()); c.want == "" && got != want {
			t.Errorf("%s: the audience has the parts %s, and the table %s", name, got, want)
		}
		told := fmt.Sprint(seen.Comments()) + fmt.Sprint(seen.Describe())
		for _, hidden := range c.hidden {
			if strings.Contains(told, hidden) {
				t.Errorf("%s: the audience is told of %s: %s", name, hidden, told)
			}
		}
	}
}
