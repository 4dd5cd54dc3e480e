package catalog

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// commented is a table with a column of every form.
func commented(t *testing.T) Publication {
	t.Helper()
	quasi := func(name string, form Form, spec hierarchy.Spec) ColumnPolicy {
		return ColumnPolicy{Name: name, Role: QuasiIdentifying, Hierarchy: &spec, Publish: form}
	}
	policy := TablePolicy{
		Table: Name{"public", "patients"}, Method: "rounded-partition", Updates: Updates{Mode: Immediate}, Subject: "person_secret",
		Constraints: []privacy.Spec{
			{Model: privacy.K, K: 5},
			{Model: privacy.K, K: 3, Over: []string{"town", "age"}},
			{Model: privacy.AlphaK, Alpha: 0.1, Of: "illness", Values: []string{"value_secret"}},
		},
		Columns: []ColumnPolicy{
			{Name: "name_secret", Role: Identifying},
			quasi("age", FormBoth, hierarchy.Spec{Kind: hierarchy.Numeric}),
			quasi("weight", FormRange, hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{5, 10}}),
			quasi("town", 0, hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
				{Label: "label_secret", Children: []hierarchy.Node{{Label: "leaf_secret"}}},
			}}),
			quasi("postcode", 0, hierarchy.Spec{Kind: hierarchy.Prefix}),
			quasi("size", 0, hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"first_secret", "last_secret"}}),
			quasi("sex", 0, hierarchy.Spec{Kind: hierarchy.Suppression}),
			{Name: "illness", Role: Sensitive},
			{Name: "remark", Role: Insensitive},
		},
	}
	relation := Relation{Name: policy.Table, Kind: KindTable}
	for name, typ := range map[string]string{
		"person_secret": "int4", "name_secret": "text", "age": "int4", "weight": "numeric", "town": "text", "postcode": "text",
		"size": "text", "sex": "text", "illness": "text", "remark": "text",
	} {
		relation.Columns = append(relation.Columns, Column{Name: name, Type: typ, BaseType: typ, BaseFormat: typ})
	}
	p, _ := Publish(policy, relation)
	return p
}

func TestCommentsTellTheForm(t *testing.T) {
	t.Parallel()
	p := commented(t)
	relation, columns := p.Comments()
	if relation != "Anonymized by kproxy: k = 5, k = 3 over town, age, "+p.Policy.Constraints[2].String()+". Counted in distinct persons." {
		t.Errorf("of the relation: %s", relation)
	}
	if len(columns) != len(p.Columns) || len(columns) != 9 {
		t.Fatalf("%d comments on %d columns", len(columns), len(p.Columns))
	}
	for i, c := range p.Columns {
		want := map[string]string{
			"age": "stands for the equivalence class; k = 5, k = 3 over town, age, ", "age_range": "of the form [20,30); k = 5",
			"weight": "on fixed bounds, of the form [2.5,3.5]; k = 5, ", "town": "the label above", "postcode": "12***",
			"size": "low..high", "sex": "else *", "illness": "sensitive: as in the source.", "remark": "insensitive: as in the source.",
		}[c.Name]
		if want == "" || !strings.Contains(columns[i], want) {
			t.Errorf("%s: %s", c.Name, columns[i])
		}
		if c.Name == "sex" && strings.Contains(columns[i], "k = 3") {
			t.Errorf("%s is said to be under a constraint over others: %s", c.Name, columns[i])
		}
	}
}

// TestCommentsTellTheFormOfPrefixes: what audiences see of prefixes has one asterisk for any length.
func TestCommentsTellTheFormOfPrefixes(t *testing.T) {
	t.Parallel()
	p := commented(t)
	p.Policy.Audience = "press"
	_, columns := p.Comments()
	for i, c := range p.Columns {
		if told := strings.Contains(columns[i], "of the form 12*, for any length; "); told != (c.Name == "postcode") || strings.Contains(columns[i], "12**") {
			t.Errorf("%s: %s", c.Name, columns[i])
		}
	}
}

func TestCommentsHoldNoValue(t *testing.T) {
	t.Parallel()
	relation, columns := commented(t).Comments()
	for _, text := range append(columns, relation) {
		if strings.Contains(text, "secret") {
			t.Errorf("a comment tells: %s", text)
		}
	}
}
