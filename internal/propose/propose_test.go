package propose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/propose"
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
		{propose.Column{Name: "treatment", Type: "text", Values: numbered("Mr. John Miller, no %d, was treated at home")}, catalog.Identifying, 0},
		{propose.Column{Name: "test_result_of", Type: "text", Values: numbered("REF%d")}, catalog.Identifying, 0},
		{propose.Column{Name: "income", Type: "integer", Values: numbered("%d")}, catalog.Sensitive, 0},
		{propose.Column{Name: "patient", Type: "text", Values: values("Ann Smith", "Bob Jones")}, catalog.Identifying, 0},
		{propose.Column{Name: "test_result", Type: "boolean", Values: values("t", "f")}, catalog.Sensitive, 0},
		{propose.Column{Name: "age", Type: "integer", Values: numbered("%d")}, catalog.QuasiIdentifying, hierarchy.Numeric},
		{propose.Column{Name: "birth_date", Type: "date", Values: values("1990-01-01", "1991-02-03")}, catalog.QuasiIdentifying, hierarchy.Date},
		{propose.Column{Name: "zip", Type: "text", Values: numbered("1%04d")}, catalog.QuasiIdentifying, hierarchy.Prefix},
		{propose.Column{Name: "zip", Type: "integer", Values: numbered("1%04d")}, catalog.QuasiIdentifying, hierarchy.Prefix},
		{propose.Column{Name: "sex", Type: "text", Values: values("f", "m")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "shoe", Type: "numeric", Values: values("40.5", "41")}, catalog.QuasiIdentifying, hierarchy.Numeric},
		{propose.Column{Name: "schwerbehindert", Type: "boolean", Values: values("t", "f")}, catalog.Sensitive, 0},
		{propose.Column{Name: "kundenstatus", Type: "text", Values: values("neu", "aktiv", "inaktiv")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "customer_type", Type: "text", Values: values("new", "active")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "kundenname", Type: "text", Values: values("Ann Smith", "Bob Jones")}, catalog.Identifying, 0},
		{propose.Column{Name: "patient_type", Type: "text", Values: numbered("REF%d")}, catalog.Identifying, 0},
		{propose.Column{Name: "empty", Type: "text", Values: values("")}, catalog.QuasiIdentifying, hierarchy.Categorical},
		{propose.Column{Name: "none", Type: "text"}, catalog.QuasiIdentifying, hierarchy.Categorical},
	} {
		c := propose.Choose(row.column)
		if c.Role != row.role || row.role == catalog.QuasiIdentifying && c.Spec.Kind != row.kind || c.Why == "" {
			t.Errorf("%s %s: %v by %v because %q, %v by %v expected", row.column.Name, row.column.Type, c.Role, c.Spec.Kind, c.Why, row.role, row.kind)
		}
	}
}

// Numbers of another table's rows have no order, and become texts, which is said.
func TestNumbersOfRowsHaveNoOrder(t *testing.T) {
	t.Parallel()
	var numbers []string
	for i := range 400 {
		numbers = append(numbers, fmt.Sprint(1+i%40))
	}
	c := propose.Choose(propose.Column{Name: "artikelnr", Type: "integer", References: catalog.ParseName("public.artikel"), Values: numbers})
	if c.Role != catalog.QuasiIdentifying || c.Spec.Kind != hierarchy.Categorical || c.Spec.Order != nil || !strings.Contains(c.Note, "cast the column of public.artikel to text") {
		t.Errorf("%v by %+v, %q", c.Role, c.Spec, c.Note)
	}
}

// TestDraftIsAPolicy reads the draft as kproxy does, and finds in it what was
// chosen.
func TestDraftIsAPolicy(t *testing.T) {
	t.Parallel()
	columns := []propose.Column{
		{Name: "id", Type: "bigint", Key: true, Values: numbered("%d")},
		{Name: "no: \"way\"", Type: "text", Values: values("a b", "# c", "no", "\"", "plain", "x\u0085      victim: insensitive", "\x7f", "\u2028é")},
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

// TestSubjectIsProposed where a column of identifiers repeats.
func TestSubjectIsProposed(t *testing.T) {
	t.Parallel()
	every := func(n int, format string) []string {
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = fmt.Sprintf(format, i/n)
		}
		return texts
	}
	for _, row := range []struct {
		name    string
		columns []propose.Column
		want    string
	}{
		{"none repeats", []propose.Column{{Name: "patient_id", Type: "bigint", Values: numbered("%d")}}, ""},
		{"repeats", []propose.Column{{Name: "visit_id", Type: "bigint", Values: numbered("%d")}, {Name: "patient_id", Type: "bigint", Values: every(4, "%d")}}, "patient_id"},
		{"unnamed", []propose.Column{{Name: "customerNo", Type: "text", Values: every(2, "C%d")}}, "customerNo"},
		{"persons first", []propose.Column{{Name: "bed_id", Type: "text", Values: every(2, "B%d")}, {Name: "person_key", Type: "text", Values: every(5, "C%d")}}, "person_key"},
		{"most values", []propose.Column{{Name: "house_id", Type: "text", Values: every(5, "B%d")}, {Name: "ssn", Type: "text", Values: every(2, "C%d")}}, "ssn"},
		{"few values", []propose.Column{{Name: "ward_id", Type: "text", Values: every(50, "W%d")}}, ""},
		{"names", []propose.Column{{Name: "patient_name", Type: "text", Values: every(2, "Ann %d")}}, ""},
		{"ages", []propose.Column{{Name: "customer_age", Type: "bigint", Values: every(2, "%d")}}, ""},
		{"part of a key", []propose.Column{{Name: "person", Type: "uuid", Key: true, Values: every(2, "%d")}}, "person"},
	} {
		columns := append(slices.Clone(row.columns), propose.Column{Name: "sex", Type: "text", Values: values("f", "m")})
		draft := propose.Propose(catalog.Name{Schema: "public", Relation: "t"}, columns)
		got := ""
		if draft.Subject != nil {
			got = draft.Subject.Column
		}
		if got != row.want {
			t.Errorf("%s: subject %q, want %q", row.name, got, row.want)
		}
		if got == "" {
			continue
		}
		// With the comment's sign removed, the draft is a policy with that subject.
		p, err := config.ParsePolicy("draft.yaml", []byte(strings.NewReplacer("# subject:", "subject:", "# updates:", "updates:").Replace(draft.YAML())))
		if err != nil || p.Table.Subject != got {
			t.Errorf("%s: %v\n%s", row.name, err, draft.YAML())
			continue
		}
		if c, named := p.Table.Column(got); !named || c.Role != catalog.Identifying {
			t.Errorf("%s: the subject has the role %v", row.name, c.Role)
		}
	}
}

// TestOptionsAreShownOnce where their hierarchy comes up first.
func TestOptionsAreShownOnce(t *testing.T) {
	t.Parallel()
	draft := propose.Propose(catalog.Name{Schema: "public", Relation: "t"}, []propose.Column{
		{Name: "age", Type: "integer", Values: values("1", "2")},
		{Name: "height", Type: "integer", Values: values("1", "2"), Note: "a note"},
		{Name: "born", Type: "date", Values: values("1990-01-01")},
		{Name: "zip", Type: "text", Values: values("10115", "10117")},
		{Name: "sex", Type: "text", Values: values("f", "m")},
	})
	for _, words := range []string{"steps: [", "units: [", "keep: [", "kind: ordered", "file: FILE.csv", "# a note"} {
		if n := strings.Count(draft.YAML(), words); n != 1 {
			t.Errorf("the draft has %q %d times:\n%s", words, n, draft.YAML())
		}
	}
}
