package catalog_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

func guarded(policy catalog.TablePolicy) catalog.TablePolicy {
	policy.Updates = catalog.Updates{Mode: catalog.Guarded}
	return policy
}

func TestGuardedTablesAreOnePart(t *testing.T) {
	t.Parallel()
	of := func(constraints ...privacy.Spec) []privacy.Spec { return constraints }
	for name, test := range map[string]struct{ written, want []privacy.Spec }{
		"two parts": {
			of(privacy.Spec{K: 5, Over: []string{"age", "born"}}, privacy.Spec{K: 3, Over: []string{"sex", "zip"}}),
			of(privacy.Spec{K: 5, Over: []string{"age", "born"}}, privacy.Spec{K: 3, Over: []string{"sex", "zip"}}, privacy.Spec{K: 5}),
		},
		"tied, but none over all": {
			of(privacy.Spec{K: 2, Over: []string{"age", "zip"}}, privacy.Spec{K: 7, Over: []string{"zip", "sex", "born"}}),
			of(privacy.Spec{K: 2, Over: []string{"age", "zip"}}, privacy.Spec{K: 7, Over: []string{"zip", "sex", "born"}}, privacy.Spec{K: 7}),
		},
		"one over all": {
			of(privacy.Spec{K: 5, Over: []string{"age"}}, privacy.Spec{K: 2}),
			of(privacy.Spec{K: 5, Over: []string{"age"}}, privacy.Spec{K: 2}),
		},
		"one over each":  {of(privacy.Spec{K: 5, Over: []string{"born", "sex", "zip", "age"}}), of(privacy.Spec{K: 5, Over: []string{"born", "sex", "zip", "age"}})},
		"no k-anonymity": {of(privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost"}), of(privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost"})},
		"diversity over some": {
			of(privacy.Spec{K: 5, Over: []string{"age", "born", "sex", "zip"}}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost", Over: []string{"zip"}}),
			of(privacy.Spec{K: 5, Over: []string{"age", "born", "sex", "zip"}}, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost", Over: []string{"zip"}}),
		},
	} {
		policy := guarded(visitPolicy())
		policy.Constraints = test.written
		before := slices.Clone(test.written)
		p, problems := catalog.Publish(policy, visits)
		if len(problems) > 0 || !reflect.DeepEqual(p.Policy.Constraints, test.want) {
			t.Errorf("%s: %v, %v", name, p.Policy.Constraints, problems)
		}
		if got, want := p.Components(), [][]int{{0, 1, 2, 3}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: components %v", name, got)
		}
		if !reflect.DeepEqual(test.written, before) {
			t.Errorf("%s: the policy itself was changed to %v", name, test.written)
		}
		schema, err := p.NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		if set, err := p.ConstraintSet(schema); err != nil || len(set) != len(test.want) {
			t.Errorf("%s: %v, %v", name, set, err)
		}
	}
}

func TestGuardedTablesPublishMembership(t *testing.T) {
	t.Parallel()
	plain, problems := catalog.Publish(visitPolicy(), visits)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, problems := catalog.Publish(guarded(visitPolicy()), visits)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	more := len(p.Columns) - 2
	want := []catalog.PublishedColumn{
		{Name: "kproxy_class", Type: "bigint", Part: catalog.ClassNumber, Attribute: -1},
		{Name: "kproxy_weight", Type: "real", Part: catalog.Weight, Attribute: -1},
	}
	if !reflect.DeepEqual(p.Columns[:more], plain.Columns) || !reflect.DeepEqual(p.Columns[more:], want) {
		t.Errorf("columns are %+v", p.Columns)
	}
	for _, c := range p.Columns {
		if c.Generalized() != (c.Attribute >= 0) {
			t.Errorf("%s: generalized %v, of attribute %d", c.Name, c.Generalized(), c.Attribute)
		}
	}
	if u := p.Policy.Updates; u.Crowd != catalog.DefaultCrowd || u.Within != 0 {
		t.Errorf("updates are %+v", u)
	}
}

// TestSumsOfWeightsAreBounded: by less than the smallest class has, unless a person can have several rows.
func TestSumsOfWeightsAreBounded(t *testing.T) {
	t.Parallel()
	immediate, subject := visitPolicy(), guarded(visitPolicy())
	immediate.Subject = ""
	plain, diverse := guarded(immediate), guarded(immediate)
	diverse.Constraints = []privacy.Spec{{K: 3}, {Model: privacy.AlphaK, Alpha: 0.125, Of: "illness"}}
	for name, test := range map[string]struct {
		policy catalog.TablePolicy
		want   int
	}{
		"immediate": {immediate, 0},
		"k":         {plain, 4},
		"alpha":     {diverse, 7},
		"subject":   {subject, catalog.Unbounded},
	} {
		p, problems := catalog.Publish(test.policy, visits)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		if d := p.Describe(); d.OffBy != test.want {
			t.Errorf("%s: off by %d, want %d", name, d.OffBy, test.want)
		}
	}
}

func TestUpdatesThatCannotBeKeptAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*catalog.TablePolicy)
		column string
		words  string
	}{
		"closeness": {func(p *catalog.TablePolicy) { add(p, privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "cost"}) }, "cost", "compares classes with the whole table"},
		"likeness":  {func(p *catalog.TablePolicy) { add(p, privacy.Spec{Model: privacy.BetaLike, Beta: 1, Of: "cost"}) }, "cost", "compares classes with the whole table"},
		"disclosure": {func(p *catalog.TablePolicy) {
			add(p, privacy.Spec{Model: privacy.DeltaDisclosure, Delta: 1, Of: "cost"})
		}, "cost", "compares classes with the whole table"},
		"made anew":      {func(p *catalog.TablePolicy) { p.Reanonymize = 0.1 }, "", "cannot all be made anew"},
		"set aside":      {func(p *catalog.TablePolicy) { p.Suppression = 0.1 }, "", "nothing can be set aside"},
		"negative":       {func(p *catalog.TablePolicy) { p.Updates.Batch = -1 }, "", "is negative"},
		"an early end":   {func(p *catalog.TablePolicy) { p.Updates.Within, p.Updates.Deadline = time.Hour, time.Minute }, "", "withheld for good after 1m0s"},
		"unknown":        {func(p *catalog.TablePolicy) { p.Updates.Mode = 4 }, "", "UpdateMode(4) is no way of updating"},
		"none":           {func(p *catalog.TablePolicy) { p.Updates = catalog.Updates{} }, "", "does not say when changes become visible"},
		"less than none": {func(p *catalog.TablePolicy) { p.Updates.Mode, p.Reanonymize = catalog.Immediate, -0.1 }, "", "reanonymize is negative"},
	} {
		policy := guarded(visitPolicy())
		test.change(&policy)
		_, problems := catalog.Publish(policy, visits)
		if len(problems) != 1 || problems[0].Column != test.column || !strings.Contains(problems[0].What, test.words) || problems[0].Fix == "" {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// What a policy is told about a model, and what the set of its constraints says.
func TestRelativeIsWhatConstraintSetsSay(t *testing.T) {
	t.Parallel()
	schema := privacy.Schema{Attributes: []string{"age"}, Sensitive: []privacy.Sensitive{{Name: "cost", Values: privacy.NewDictionary()}}}
	for _, spec := range []privacy.Spec{
		{K: 2},
		{Model: privacy.DistinctL, L: 2, Of: "cost"},
		{Model: privacy.EntropyL, L: 2, Of: "cost"},
		{Model: privacy.RecursiveCL, L: 2, C: 1, Of: "cost"},
		{Model: privacy.AlphaK, Alpha: 0.5, Of: "cost"},
		{Model: privacy.TClose, T: 0.5, Of: "cost"},
		{Model: privacy.BetaLike, Beta: 1, Of: "cost"},
		{Model: privacy.DeltaDisclosure, Delta: 1, Of: "cost"},
	} {
		set, err := privacy.NewSet([]privacy.Spec{spec}, schema)
		if err != nil {
			t.Fatal(err)
		}
		if set.Relative() != catalog.Relative(spec.Model) {
			t.Errorf("%v: %v", spec, set.Relative())
		}
	}
}

// TestAudiencesOfGuardedTables: they see columns in their own way, rows keep what anybody sees, and no constraint compares
// with the table.
func TestAudiencesOfGuardedTables(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*catalog.TablePolicy){
		"": func(*catalog.TablePolicy) {},
		"cannot see it so": func(p *catalog.TablePolicy) {
			p.Audiences[0].Columns = []catalog.AudienceColumn{{Name: "age", Limits: hierarchy.Coarseness{Depth: 1}}}
		},
		"the classes of guarded updates cannot": func(p *catalog.TablePolicy) {
			p.Audiences[0].Constraints = append(p.Audiences[0].Constraints, privacy.Spec{Model: privacy.TClose, T: 0.3, Of: "illness"})
		},
	} {
		policy := guarded(visitPolicy())
		policy.Audiences = []catalog.AudiencePolicy{{Audience: "partners", Constraints: []privacy.Spec{{K: 25}}}}
		change(&policy)
		p, problems := catalog.Publish(policy, visits)
		if text := fmt.Sprint(problems); want == "" && len(problems) > 0 || want != "" && !strings.Contains(text, want) {
			t.Errorf("%q: %s", want, text)
		}
		if seen, shown := p.For("partners"); want == "" && (!shown || !slices.ContainsFunc(seen.Columns, func(c catalog.PublishedColumn) bool { return c.Part == catalog.Weight })) {
			t.Errorf("the audience sees %+v", seen.Columns)
		}
	}
	policy, value := guarded(visitPolicy()), catalog.FormValue
	policy.Hidden = []string{"illness"}
	policy.Audiences = []catalog.AudiencePolicy{{
		Audience: "partners", Constraints: []privacy.Spec{{K: 25}}, Hidden: []string{"illness"},
		Columns: []catalog.AudienceColumn{{Name: "age", Limits: hierarchy.Coarseness{Steps: []float64{10}}, Publish: &value}},
	}, {Audience: "press", Constraints: []privacy.Spec{{K: 50}}, Hidden: []string{"age"}}}
	p, problems := catalog.Publish(policy, visits)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for audience, want := range map[string][2]string{"": {"age age_range", "illness age age_range"}, "partners": {"age", "illness age"}, "press": {"illness", "illness age"}} {
		seen, _ := p.For(audience)
		shown, kept := " "+names(seen.Columns)+" ", " "+names(p.Kept(audience).Columns)+" "
		for _, name := range strings.Fields(want[0]) {
			if !strings.Contains(shown, " "+name+" ") {
				t.Errorf("%q sees %s, and not %s", audience, shown, name)
			}
		}
		for _, name := range strings.Fields(want[1]) {
			if !strings.Contains(kept, " "+name+" ") {
				t.Errorf("rows for %q have %s, and not %s", audience, kept, name)
			}
		}
		if audience != "press" && strings.Contains(shown, "illness") || audience != "" && strings.Contains(kept, "age_range") {
			t.Errorf("%q sees %s of %s", audience, shown, kept)
		}
	}
}

func names(columns []catalog.PublishedColumn) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}
