package accept

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// changedPolicy is a policy with one table of one column, of which all fields have values.
func changedPolicy() catalog.Policy {
	return catalog.Policy{
		Tables: []catalog.TablePolicy{{
			Table: catalog.ParseName("claims"), Method: "mondrian", Constraints: []privacy.Spec{{Model: privacy.K, K: 4}}, Subject: "person",
			Suppression: 0.1, Updates: catalog.Updates{Mode: catalog.Guarded, Crowd: 2, Batch: 10, Within: time.Hour, Deadline: 2 * time.Hour},
			Reanonymize: 0.3, Unpublishable: catalog.Refuse, Joinable: []string{"cause"},
			Columns: []catalog.ColumnPolicy{{
				Name: "zip", Role: catalog.QuasiIdentifying, Publish: catalog.FormRange,
				Hierarchy: &hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: []int{5, 3}},
			}},
		}},
		Readable: []catalog.Name{catalog.ParseName("wards")}, Functions: []catalog.Name{catalog.ParseName("twice")},
	}
}

// differing are the differences to a policy in force.
func differing(t *testing.T, inForce, now catalog.Policy) []string {
	t.Helper()
	text, err := json.Marshal(inForce)
	if err != nil {
		t.Fatal(err)
	}
	return differencesOf(ksync.AcceptedPolicy{Number: 1, Text: text}, now)
}

// alter gives a value another one, or one of its parts, and calls back with the place; then
// it has it as it was. Every field is altered.
func alter(t *testing.T, at string, v reflect.Value, seen func(at string)) {
	t.Helper()
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.25)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		for i := range v.Len() {
			alter(t, fmt.Sprintf("%s[%d]", at, i), v.Index(i), seen)
		}
		v.Set(reflect.Append(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, 0), v), reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		if !v.IsNil() {
			alter(t, at, v.Elem(), seen)
			v.SetZero()
			break
		}
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			alter(t, at+"."+v.Type().Field(i).Name, v.Field(i), seen)
		}
		return
	default:
		t.Fatalf("%s is a %v, which this test cannot change", at, v.Kind())
	}
	seen(at)
	v.Set(before)
}

// TestEveryDifferenceOfPoliciesIsTold changes each field of a policy, whatever fields there
// are, alone and together with another one: what is told is another thing each time.
func TestEveryDifferenceOfPoliciesIsTold(t *testing.T) {
	t.Parallel()
	inForce := changedPolicy()
	told, elsewhere := make(map[string]string), ""
	for _, beside := range []bool{false, true} {
		now := changedPolicy()
		if beside { // something else differs
			now.Tables[0].Method, inForce.Tables[0].Subject = "datafly", "somebody"
			elsewhere = strings.Join(differing(t, inForce, now), "; ")
			told = map[string]string{elsewhere: "what differs beside it"}
		}
		places := 0
		alter(t, "policy", reflect.ValueOf(&now).Elem(), func(at string) {
			places++
			got := strings.Join(differing(t, inForce, now), "; ")
			if got == "it says the same in another form" || told[got] != "" {
				t.Errorf("of %s the same is told as of %s: %s", at, told[got], got)
			}
			told[got] = at
		})
		if places < 45 {
			t.Errorf("%d places were changed", places)
		}
	}
	if got := differing(t, inForce, inForce); len(got) != 1 || got[0] != "it says the same in another form" {
		t.Errorf("where nothing differs it is told %q", got)
	}
}

// TestConstraintsAreToldInFull: what names them leaves out nothing that a model uses.
func TestConstraintsAreToldInFull(t *testing.T) {
	t.Parallel()
	hidden := make(map[string]bool)
	for model := range privacy.Model(20) {
		s := privacy.Spec{Model: model, Values: []string{"a", "b"}}
		before := constraintText(s)
		alter(t, "", reflect.ValueOf(&s).Elem(), func(at string) {
			told := constraintText(s) != before
			if was, seen := hidden[at]; !seen || was {
				hidden[at] = !told
			}
		})
	}
	for at, never := range hidden {
		if never {
			t.Errorf("field %s of a constraint is never told", at)
		}
	}
}

// TestDifferencesOfPolicies pins the words.
func TestDifferencesOfPolicies(t *testing.T) {
	t.Parallel()
	taxonomy := func(labels ...string) *hierarchy.Spec {
		s := hierarchy.Spec{Kind: hierarchy.Categorical}
		for _, l := range labels {
			s.Taxonomy = append(s.Taxonomy, hierarchy.Node{Label: l, Children: []hierarchy.Node{{Label: strings.Repeat(l, 40)}, {Label: l + l}}})
		}
		return &s
	}
	for name, c := range map[string]struct {
		before, now func(*catalog.Policy, *catalog.TablePolicy)
		want        []string
	}{
		"several at once": {
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Joinable, t.Suppression, t.Columns[0].Publish = nil, 0, catalog.FormBoth
			},
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Constraints[0].K, t.Columns[0].Publish, t.Columns[0].Hierarchy.Keep = 5, catalog.FormValue, []int{5}
				t.Updates = catalog.Updates{Mode: catalog.Immediate}
			},
			[]string{
				"constraints was [4-anonymity], is now [5-anonymity]", "suppression was 0, is now 0.1",
				"updates was {mode: guarded, crowd: 2, batch: 10, within: 1h, deadline: 2h}, is now immediate",
				`acknowledge.joinable was [], is now ["cause"]`,
				"column zip: hierarchy was {kind: prefix, domain: text, keep: [5, 3]}, is now {kind: prefix, domain: text, keep: [5]}", "column zip: publish was both, is now value",
			},
		},
		"columns": {
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Columns = []catalog.ColumnPolicy{{Name: "a", Role: catalog.Sensitive}, {Name: "b"}, {Name: "c"}}
			},
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Columns = []catalog.ColumnPolicy{{Name: "c"}, {Name: "b"}, {Name: "d", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{}}}
			},
			[]string{
				"column d is quasi-identifying, hierarchy: numeric now, and was not named", "column a was sensitive, and is no longer named",
				"its columns are in another order",
			},
		},
		"a long taxonomy": {
			func(_ *catalog.Policy, t *catalog.TablePolicy) { t.Columns[0].Hierarchy = taxonomy("a", "b", "c", "d") },
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Columns[0].Hierarchy = taxonomy("a", "b", "c", "d")
				t.Columns[0].Hierarchy.Taxonomy[2].Children[1].Label = "moved"
			},
			[]string{`column zip: hierarchy.taxonomy, entry 3 was {label: "c", children: ["` + strings.Repeat("c", 40) + `", "cc"]}, is now {label: "c", children: ["` + strings.Repeat("c", 40) + `", "moved"]}`},
		},
		"a longer taxonomy": {
			func(_ *catalog.Policy, t *catalog.TablePolicy) { t.Columns[0].Hierarchy = taxonomy("a", "b", "c", "d") },
			func(_ *catalog.Policy, t *catalog.TablePolicy) {
				t.Columns[0].Hierarchy = taxonomy("a", "b", "x", "c", "d")
			},
			[]string{`column zip: hierarchy.taxonomy, from entry 3 on, was [], is now [{label: "x", children: ["` + strings.Repeat("x", 40) + `", "xx"]}]`},
		},
	} {
		before, now := changedPolicy(), changedPolicy()
		c.before(&before, &before.Tables[0])
		c.now(&now, &now.Tables[0])
		for i := range c.want {
			c.want[i] = "public.claims: " + c.want[i]
		}
		if got := differing(t, before, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestPoliciesOfOtherVersions: what this version does not know is told of.
func TestPoliciesOfOtherVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"Tables": 3}`:                  "it cannot be told what differs: the one in force was accepted by another version",
		`{"Tables": null, "Stricter":1}`: "the one in force was accepted by another version, and has settings that this one does not know",
		`{"Tables": []}`:                 "it says the same in another form",
	} {
		if got := differencesOf(ksync.AcceptedPolicy{Number: 1, Text: []byte(text)}, catalog.Policy{}); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
}
