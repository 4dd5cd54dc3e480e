package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

func TestDescriptionsTellWhatThereIs(t *testing.T) {
	t.Parallel()
	p := commented(t)
	d := p.Describe()
	if d.K != 5 || d.Constraints != "k = 5, k = 3 over town, age, "+p.Policy.Constraints[2].String()+", counted in distinct persons" {
		t.Errorf("of the table: k %d, %s", d.K, d.Constraints)
	}
	if len(d.Columns) != len(p.Columns) {
		t.Fatalf("%d descriptions of %d columns", len(d.Columns), len(p.Columns))
	}
	for i, c := range d.Columns {
		want := map[string]string{
			"age":       "numeric, 5",
			"age_range": "numeric, 5",
			"weight":    "numeric in steps of 5, 10, 5",
			"town":      "categorical, by a taxonomy, 5", "postcode": "prefix, 5", "size": "ordered, of 2 values, 5",
			"sex": "suppression, 5", "illness": ", 0", "remark": ", 0",
		}[p.Columns[i].Name]
		if got := fmt.Sprintf("%s, %d", c.Hierarchy, c.K); got != want || c.Form == "" || c.Role == "" || c.Type == "" {
			t.Errorf("%s: %s, want %s: %+v", c.Name, got, want, c)
		}
		if text := fmt.Sprint(c); strings.Contains(text, "secret") {
			t.Errorf("a description tells: %s", text)
		}
	}
}

// Labels are those of the policy's own taxonomies and orders.
func TestDescriptionsHaveLabels(t *testing.T) {
	t.Parallel()
	taxonomy := hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
		{Label: "care", Children: []hierarchy.Node{{Label: "nurse"}, {Label: "medical", Children: []hierarchy.Node{{Label: "doctor"}}}}},
		{Label: "none"},
	}}
	for _, c := range []struct {
		spec  hierarchy.Spec
		depth int
		want  string
	}{
		{taxonomy, 0, "* of : 3 in 0-6; care of *: 2 in 1-5; nurse of care: 1 in 2-3; medical of care: 1 in 3-5; doctor of medical: 1 in 4-5; none of *: 1 in 5-6"},
		{taxonomy, 1, "* of : 3 in 0-6; care of *: 2 in 1-5; (nurse of care: 1 in 2-3); (medical of care: 1 in 3-5); (doctor of medical: 1 in 4-5); none of *: 1 in 5-6"},
		{taxonomy, 2, "* of : 3 in 0-6; care of *: 2 in 1-5; nurse of care: 1 in 2-3; medical of care: 1 in 3-5; (doctor of medical: 1 in 4-5); none of *: 1 in 5-6"},
		{hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"low", "high"}}, 0, "* of : 2 in 0-3; low of *: 1 in 1-2; high of *: 1 in 2-3"},
		{hierarchy.Spec{Kind: hierarchy.Categorical}, 0, ""},
		{hierarchy.Spec{Kind: hierarchy.Prefix}, 0, ""},
	} {
		var got []string
		for _, l := range labelsOf("job", Attribute{Spec: c.spec, Depth: c.depth}) {
			text := fmt.Sprintf("%s of %s: %d in %d-%d", l.Label, l.Parent, l.Leaves, l.First, l.Beyond)
			if l.Hidden {
				text = "(" + text + ")"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%v\n got %s\nwant %s", c.spec, strings.Join(got, "; "), c.want)
		}
	}
}
