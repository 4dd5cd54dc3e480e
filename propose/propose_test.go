package propose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
	"github.com/kproxy/kproxy/propose"
)

// values repeats some texts over a hundred records.
func values(texts ...string) []string {
	all := make([]string, 100)
	for i := range all {
		all[i] = texts[i%len(texts)]
	}
	return all
}

// numbered makes a hundred different texts.
func numbered(format string) []string {
	all := make([]string, 100)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return all
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		column propose.Column
		role   catalog.Role
		kind   hierarchy.Kind
	}{
		{propose.Column{Name: "n", Type: "bigint", Key: true, Values: numbered("%d")}, catalog.Identifying, 0},
		{propose.Column{Name: "lastName", Type: "text", Values: values("Ann", "Bo")}, catalog.Identifying, 0},
		{propose.Column{Name: "e-mail", Type: "text", Values: values("a@b")}, catalog.Identifying, 0},
		{propose.Column{Name: "reference", Type: "text", Values: numbered("R%d")}, catalog.Identifying, 0},
		{propose.Column{Name: "remarks", Type: "text", Values: values(strings.Repeat("word ", 20))}, catalog.Identifying, 0},
		{propose.Column{Name: "place", Type: "point", Values: values("(1,2)")}, catalog.Identifying, 0},
		{propose.Column{Name: "diagnosis", Type: "text", Values: values("I10", "J45")}, catalog.Sensitive, 0},
		{propose.Column{Name: "test_result", Type: "boolean", Values: values("t", "f")}, catalog.Sensitive, 0},
		{propose.Column{Name: "age", Type: "integer", Values: numbered("%d")}, catalog.QuasiIdentifying, hierarchy.Numeric},
		{propose.Column{Name: "birth_date", Type: "date", Values: values("1990-01-01", "1991-02-03")}, catalog.QuasiIdentifying, hierarchy.Date},
		{propose.Column{Name: "zip", Type: "text", Values: numbered("1%04d")}, catalog.QuasiIdentifying, hierarchy.Prefix},
		{propose.Column{Name: "zip", Type: "integer", Values: numbered("1%04d")}, catalog.QuasiIdentifying, hierarchy.Prefix},
		{propose.Column{Name: "sex", Type: "text", Values: values("f", "m")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "shoe", Type: "numeric", Values: values("40.5", "41")}, catalog.QuasiIdentifying, hierarchy.Numeric},
		{propose.Column{Name: "empty", Type: "text", Values: values("")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "none", Type: "text"}, catalog.QuasiIdentifying, hierarchy.Categorical},
	} {
		c := propose.Choose(row.column)
		if c.Role != row.role || row.role == catalog.QuasiIdentifying && c.Kind != row.kind || c.Why == "" {
			t.Errorf("%s %s: %v by %v because %q, %v by %v expected", row.column.Name, row.column.Type, c.Role, c.Kind, c.Why, row.role, row.kind)
		}
	}
}

// TestDraftIsAPolicy reads the draft as kproxy does, and finds in it what was
// chosen.
func TestDraftIsAPolicy(t *testing.T) {
	t.Parallel()
	columns := []propose.Column{
		{Name: "id", Type: "bigint", Key: true, Values: numbered("%d")},
		{Name: "no: \"way\"", Type: "text", Values: values("a b", "# c", "no", "\"", "plain")},
		{Name: "born", Type: "date", Values: values("1990-01-01", "1991-02-03")},
		{Name: "Diagnosis", Type: "text", Values: values("I10", "J45")},
	}
	table := catalog.Name{Schema: "public", Relation: "people"}
	draft := propose.Propose(table, columns)
	p, err := config.ParsePolicy("draft.yaml", []byte(draft.YAML()))
	if err != nil {
		t.Fatalf("%v\n%s", err, draft.YAML())
	}
	if p.Table.Table != table || p.Table.Method == "" || len(p.Table.Constraints) != 1 {
		t.Errorf("policy %+v", p.Table)
	}
	for _, choice := range draft.Choices {
		if c, named := p.Table.Column(choice.Column); !named || c.Role != choice.Role {
			t.Errorf("column %q: named %v, role %v", choice.Column, named, c.Role)
		}
	}
	if draft.Unique != 0 {
		t.Errorf("%v of the records are alone, none expected", draft.Unique)
	}
}

func TestRareValuesAreNotRepeated(t *testing.T) {
	t.Parallel()
	texts := values("common", "usual")
	texts[7] = "the only one"
	draft := propose.Propose(catalog.Name{Schema: "public", Relation: "t"}, []propose.Column{{Name: "occupation", Type: "text", Values: texts}})
	if labels := draft.Choices[0].Labels; !slices.Equal(labels, []string{"common", "usual"}) && !slices.Equal(labels, []string{"usual", "common"}) {
		t.Errorf("labels %q", labels)
	}
	if strings.Contains(draft.YAML(), "the only one") {
		t.Error("a rare value stands in the draft")
	}
	if draft.Unique != 0.01 {
		t.Errorf("%v of the records are alone, one of a hundred expected", draft.Unique)
	}
}
