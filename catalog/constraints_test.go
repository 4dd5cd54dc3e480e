package catalog_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

var visits = catalog.Relation{
	Name: clinic, Kind: catalog.KindTable, Key: []string{"id"}, ReplicaIdentity: 'd',
	Columns: []catalog.Column{
		column("id", "int8"), column("person", "uuid"), column("note", "jsonb"), column("age", "int4"), column("born", "date"),
		column("zip", "text"), column("sex", "text"), column("cost", "numeric"), column("illness", "bpchar"), column("dead", "bool"),
	},
}

// visitPolicy has two parts: age and born, zip and sex.
func visitPolicy(constraints ...privacy.Spec) catalog.TablePolicy {
	quasi := func(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
		return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
	}
	return catalog.TablePolicy{
		Table: clinic, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: "person",
		Constraints: append([]privacy.Spec{{K: 5, Over: []string{"age", "born"}}, {K: 3, Over: []string{"sex", "zip"}}}, constraints...),
		Columns: []catalog.ColumnPolicy{
			quasi("zip", hierarchy.Prefix), quasi("age", hierarchy.Numeric), quasi("sex", hierarchy.Suppression), quasi("born", hierarchy.Date),
			{Name: "cost", Role: catalog.Sensitive},
			{Name: "illness", Role: catalog.Sensitive},
			{Name: "dead", Role: catalog.Sensitive},
			{Name: "person", Role: catalog.Identifying},
		},
	}
}

func TestPublicationMakesWhatThePolicySays(t *testing.T) {
	t.Parallel()
	policy := visitPolicy(
		privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "illness", Distance: privacy.HierarchicalDistance, Over: []string{"age"}},
		privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "cost", Distance: privacy.OrderedDistance, Over: []string{"age", "born"}},
		privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "cost", Values: []string{"10.50"}, Over: []string{"zip"}},
		privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "dead", Values: []string{"true"}, Over: []string{"sex", "zip"}},
		privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "illness", Over: []string{"sex"}},
	)
	policy.Columns[5].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
		{Label: "infection", Children: []hierarchy.Node{{Label: "flu  "}, {Label: "cold"}}}, {Label: "injury"},
	}}
	p, problems := catalog.Publish(policy, visits)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, want := p.Components(), [][]int{{0, 2}, {1, 3}}; !reflect.DeepEqual(got, want) {
		t.Errorf("components %v, want %v", got, want)
	}
	var sensitive, stored []string
	for _, s := range p.Sensitive {
		sensitive = append(sensitive, s.Column)
	}
	for _, c := range p.StoredColumns() {
		stored = append(stored, c.Name)
	}
	if want := []string{"illness", "cost", "dead"}; !slices.Equal(sensitive, want) {
		t.Errorf("sensitive %q, want %q", sensitive, want)
	}
	if want := []string{"person", "age", "born", "zip", "sex", "cost", "illness", "dead"}; !slices.Equal(stored, want) {
		t.Errorf("stored %q, want %q", stored, want)
	}
	if s := p.Sensitive[0].Spec; s.Taxonomy[0].Children[0].Label != "flu" || s.Domain != hierarchy.DomainText {
		t.Errorf("illness is arranged by %+v", s)
	}
	if s := p.Sensitive[1].Spec; s.Kind != hierarchy.Numeric || s.Domain != hierarchy.DomainDecimal || p.Sensitive[2].Spec != nil {
		t.Errorf("cost is arranged by %+v, dead by %+v", s, p.Sensitive[2].Spec)
	}
	schema, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"zip", "age", "sex", "born"}; !slices.Equal(schema.Attributes, want) {
		t.Errorf("attributes %q, want %q", schema.Attributes, want)
	}
	set, err := p.ConstraintSet(schema)
	if err != nil || len(set) != len(policy.Constraints) {
		t.Fatalf("%v, %v", set, err)
	}
	if c, restricted := set[2].(privacy.Restricted); !restricted || !reflect.DeepEqual(c.Over, []int{1}) {
		t.Errorf("a constraint over age is %+v", set[2])
	}
	// What the policy names is found under the text that PostgreSQL gives it.
	if cost, dead := schema.Sensitive[1].Values, schema.Sensitive[2].Values; cost.Code("10.5") != 0 || cost.Len() != 1 || dead.Code("t") != 0 {
		t.Error("bounded values are not looked for as they come")
	}
	for _, c := range p.Columns {
		if c.Source == "person" {
			t.Error("the subject is published")
		}
	}
}

func TestPoliciesAreTheSameWhenTheySayTheSame(t *testing.T) {
	t.Parallel()
	text := func() string {
		policy := visitPolicy(privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "cost", Distance: privacy.OrderedDistance})
		p, _ := catalog.Publish(policy, visits)
		encoded, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	for range 10 {
		if one, other := text(), text(); one != other {
			t.Fatalf("two texts of one policy:\n%s\n%s", one, other)
		}
	}
}

func TestComponentsOfOnePart(t *testing.T) {
	t.Parallel()
	for name, constraints := range map[string][]privacy.Spec{
		"over all":       {{K: 5}},
		"over all, too":  {{K: 5, Over: []string{"age"}}, {K: 2}},
		"tied together":  {{K: 5, Over: []string{"age", "zip"}}, {K: 5, Over: []string{"zip", "sex", "born"}}},
		"no k-anonymity": {{Model: privacy.DistinctL, L: 2, Of: "cost"}},
		"only over some": {{Model: privacy.DistinctL, L: 2, Of: "cost", Over: []string{"zip"}}},
		"a diversity over all": {
			{K: 5, Over: []string{"age", "born"}},
			{K: 3, Over: []string{"sex", "zip"}},
			{Model: privacy.DistinctL, L: 2, Of: "cost"},
			{Model: privacy.DistinctL, L: 3, Of: "cost", Over: []string{"zip"}},
		},
		"tied by a diversity": {
			{K: 5, Over: []string{"age", "born"}},
			{K: 3, Over: []string{"sex", "zip"}},
			{Model: privacy.DistinctL, L: 3, Of: "cost", Over: []string{"zip", "born"}},
		},
	} {
		policy := visitPolicy()
		policy.Constraints = constraints
		p, problems := catalog.Publish(policy, visits)
		if got, want := p.Components(), [][]int{{0, 1, 2, 3}}; len(problems) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, problems)
		}
	}
	if names := []string{catalog.ClassColumn(0), catalog.ClassColumn(1), catalog.ClassColumn(2)}; !slices.Equal(names, []string{"kproxy_class", "kproxy_class_2", "kproxy_class_3"}) {
		t.Error(names)
	}
}

func TestConstraintsThatCannotBeKeptAreRefused(t *testing.T) {
	t.Parallel()
	ordered := privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "illness", Distance: privacy.OrderedDistance}
	hierarchical := privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "illness", Distance: privacy.HierarchicalDistance}
	for name, test := range map[string]struct {
		change func(*catalog.TablePolicy)
		column string
		words  string
	}{
		"uncovered":        {func(p *catalog.TablePolicy) { p.Constraints[1].Over = []string{"zip"} }, "sex", "no k-anonymity constraint is over it"},
		"over what is not": {func(p *catalog.TablePolicy) { p.Constraints[1].Over = []string{"sex", "zip", "cost"} }, "cost", "is over it, but it is not a quasi-identifying column"},
		"over nothing":     {func(p *catalog.TablePolicy) { p.Constraints[1].Over = []string{"sex", "zip", "zop"} }, "zop", "is over it, but it is not a quasi-identifying column"},
		"diverse over what is not": {
			func(p *catalog.TablePolicy) {
				add(p, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost", Over: []string{"zip", "illness"}})
			}, "illness", "the constraint distinct 2-diversity of cost over zip, illness is over it, but it is not a quasi-identifying column",
		},
		"covered by a diversity alone": {func(p *catalog.TablePolicy) {
			p.Constraints[1].Over = []string{"zip"}
			add(p, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "cost", Over: []string{"zip", "sex"}})
		}, "sex", "no k-anonymity constraint is over it"},
		"of what is not": {func(p *catalog.TablePolicy) { add(p, privacy.Spec{Model: privacy.BetaLike, Beta: 1, Of: "sex"}) }, "sex", "speaks of it, but it is not a sensitive column"},
		"no order":       {func(p *catalog.TablePolicy) { add(p, ordered) }, "illness", "needs an order"},
		"no taxonomy":    {func(p *catalog.TablePolicy) { add(p, hierarchical) }, "illness", "needs a taxonomy"},
		"a flat taxonomy": {func(p *catalog.TablePolicy) {
			add(p, hierarchical)
			p.Columns[5].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Categorical}
		}, "illness", "needs a taxonomy"},
		"the other one": {func(p *catalog.TablePolicy) { add(p, ordered); p.Columns[5].Hierarchy = taxonomy() }, "illness", "needs an order"},
		"an order of nots": {func(p *catalog.TablePolicy) {
			add(p, ordered)
			p.Columns[5].Hierarchy = &hierarchy.Spec{Kind: hierarchy.Ordered}
		}, "illness", "order"},
		"numbers of texts":  {func(p *catalog.TablePolicy) { add(p, ordered); p.Columns[5].Hierarchy = &hierarchy.Spec{} }, "illness", "does not fit type"},
		"an idle hierarchy": {func(p *catalog.TablePolicy) { p.Columns[5].Hierarchy = taxonomy() }, "illness", "is published as it is"},
		"a bound of naught": {func(p *catalog.TablePolicy) { add(p, privacy.Spec{Model: privacy.AlphaK, Of: "cost"}) }, "cost", "cannot be"},
		"no method":         {func(p *catalog.TablePolicy) { p.Method = "round" }, "", "unknown anonymization method"},
		"no other effort":   {func(p *catalog.TablePolicy) { p.Method, p.Effort = "hilbert", anonymizer.Good }, "", "makes no effort but fast"},
		"no hierarchy":      {func(p *catalog.TablePolicy) { p.Columns[0].Hierarchy = nil }, "zip", "has no hierarchy"},
		"absent subject":    {func(p *catalog.TablePolicy) { p.Subject = "patient" }, "patient", "no such column"},
		"published subject": {func(p *catalog.TablePolicy) { p.Subject = "illness" }, "illness", "must not be published"},
		"loose subject":     {func(p *catalog.TablePolicy) { p.Subject = "note" }, "note", "can be written differently"},
		"steps off a grid":  {func(p *catalog.TablePolicy) { p.Columns[1].Hierarchy.Steps = []float64{2.5} }, "age", "whole numbers"},
	} {
		policy := visitPolicy()
		test.change(&policy)
		_, problems := catalog.Publish(policy, visits)
		if len(problems) != 1 || problems[0].Column != test.column || !strings.Contains(problems[0].What, test.words) || problems[0].Fix == "" {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestMethodsThatCannotHonorThePolicyAreRefused(t *testing.T) {
	t.Parallel()
	policy := visitPolicy(privacy.Spec{Model: privacy.DeltaDisclosure, Delta: 1, Of: "cost"})
	policy.Method = "hilbert"
	_, problems := catalog.Publish(policy, visits)
	if len(problems) != 1 || !strings.Contains(problems[0].What, "method hilbert honors") || !strings.Contains(problems[0].Fix, "choose a method that does: rounded-partition") {
		t.Errorf("%v", problems)
	}
	if strings.Contains(problems[0].Fix, "hilbert") || strings.Contains(problems[0].Fix, "alpha-k-single") {
		t.Errorf("these do not honor it either: %s", problems[0].Fix)
	}
}

func add(p *catalog.TablePolicy, c privacy.Spec) { p.Constraints = append(p.Constraints, c) }

func taxonomy() *hierarchy.Spec {
	return &hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{{Label: "a", Children: []hierarchy.Node{{Label: "b"}}}}}
}

func TestColumnsOfTheStoreCannotBeTheSources(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kproxy_record", "kproxy_class", "kproxy_class_2", "kproxy_row", "kproxy_person", "kproxy_weight", "kproxy_since", "kproxy_expired"} {
		relation := visits
		relation.Columns = append(slices.Clone(visits.Columns), column(name, "int8"))
		if _, problems := catalog.Publish(visitPolicy(), relation); len(problems) != 1 || problems[0].Column != name {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestCanonicalTextsAreThoseOfEqualValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, text, want string }{
		{"numeric", "10.50", "10.5"},
		{"numeric", "10.00", "10"},
		{"numeric", "100", "100"},
		{"numeric", "NaN", "NaN"},
		{"float8", "-0", "0"},
		{"float8", "1.50", "1.50"},
		{"bpchar", "a ", "a"},
		{"text", "a ", "a "},
		{"bool", "true", "t"},
		{"bool", "f", "f"},
		{"text", "true", "true"},
	} {
		if got := catalog.Canonical(c.base, c.text); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.base, c.text, got, c.want)
		}
	}
}
