package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestGuardedPeopleRefuseAudiences: a policy that did not come through the configuration's checks is refused as well.
func TestGuardedPeopleRefuseAudiences(t *testing.T) {
	t.Parallel()
	k, diverse := privacy.Spec{Model: privacy.K, K: 3}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "public.patients.blood"}
	stricter := AudiencePolicy{Audience: "press", Constraints: []privacy.Spec{{Model: privacy.K, K: 9}}}
	coarser := stricter
	coarser.Columns = []AudienceColumn{{Name: "born", Limits: hierarchy.Coarseness{Units: []hierarchy.Unit{hierarchy.Year}}}}
	stepped := stricter
	stepped.Columns = []AudienceColumn{{Name: "born", Limits: hierarchy.Coarseness{Steps: []float64{10}}}}
	valued := stricter
	valued.Constraints = append(slices.Clone(stricter.Constraints), privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "blood"})
	compared := stricter
	compared.Constraints = append(slices.Clone(stricter.Constraints), privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "blood"})
	for name, c := range map[string]struct {
		constraints []privacy.Spec
		audience    AudiencePolicy
		hidden      []string
		mode        UpdateMode
		want        string
	}{
		"by k":                      {[]privacy.Spec{k}, stricter, nil, Guarded, ""},
		"by values":                 {[]privacy.Spec{k, diverse}, stricter, nil, Guarded, ""},
		"by entropy":                {[]privacy.Spec{k, {Model: privacy.EntropyL, L: 2, Of: "public.patients.blood"}}, stricter, nil, Guarded, "need not hold for what they see first"},
		"by the root's frequencies": {[]privacy.Spec{k, {Model: privacy.AlphaK, Alpha: 0.5, Of: "public.patients.blood"}}, stricter, nil, Guarded, ""},
		"by frequencies, immediate": {[]privacy.Spec{k, {Model: privacy.AlphaK, Alpha: 0.5, Of: "public.patients.blood"}}, stricter, nil, Immediate, ""},
		"by values, immediate":      {[]privacy.Spec{k, diverse}, stricter, nil, Immediate, ""},
		"by the root's values":      {[]privacy.Spec{k}, valued, nil, Guarded, ""}, // all is known
		"by the root's frequencies, one row known": {[]privacy.Spec{k, {Model: privacy.AlphaK, Alpha: 0.5, Of: "public.patients.blood"}}, stricter, nil, Guarded, "need not hold for what they see first"},
		"by the root's values, one row known":      {[]privacy.Spec{k}, valued, nil, Guarded, "whose rows a window shows is not published"},
		"by t of the audience":                     {[]privacy.Spec{k}, compared, nil, Guarded, "unions of classes of persons are made by k, l and alpha"},
		"a coarser column":                         {[]privacy.Spec{k}, coarser, nil, Guarded, ""},
		"a column that cannot be so":               {[]privacy.Spec{k}, stepped, nil, Guarded, "audience press cannot see it so"},
		"hidden from its own readers":              {[]privacy.Spec{k}, stricter, []string{"blood"}, Guarded, ""},
		"all is hidden":                            {[]privacy.Spec{k}, stricter, []string{"born"}, Guarded, "hides all its quasi-identifying columns"},
		"hidden, immediate":                        {[]privacy.Spec{k}, stricter, []string{"blood"}, Immediate, ""},
	} {
		root := Name{"public", "patients"}
		policy := TablePolicy{
			Table: root, Method: "rounded-partition", Updates: Updates{Mode: c.mode}, Hidden: c.hidden, Audiences: []AudiencePolicy{c.audience},
			Columns: []ColumnPolicy{{Name: "born", Role: QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}}, {Name: "blood", Role: Sensitive}},
		}
		relation := Relation{Name: root, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}}
		for column, base := range map[string]string{"id": "int4", "born": "date", "blood": "text"} {
			relation.Columns = append(relation.Columns, Column{Name: column, Type: base, BaseType: base, BaseFormat: base, Deterministic: true})
		}
		people := People{Kind: "patient", Root: root, Key: []string{"id"}, Knows: Knowledge{All: !strings.HasSuffix(name, "one row known")}, Constraints: c.constraints}
		_, problems := PublishPeople(people, map[Name]TablePolicy{root: policy}, map[Name]Relation{root: relation})
		if text := fmt.Sprint(problems); c.want == "" && len(problems) > 0 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %q", name, text, c.want)
		}
	}
}

// TestToldIsOfWhatIsSeen: a constraint over hidden columns alone is not told as one over all that are left.
func TestToldIsOfWhatIsSeen(t *testing.T) {
	t.Parallel()
	policy, _ := partedTable()
	policy.Hidden = []string{"age", "zip"}
	if got := fmt.Sprint(policy.Told()); got != "[4-anonymity over job]" {
		t.Errorf("without age and zip, %s is told", got)
	}
	policy.Hidden = []string{"age"}
	if got := fmt.Sprint(policy.Told()); got != "[5-anonymity over zip 4-anonymity over job]" {
		t.Errorf("without age, %s is told", got)
	}
}
