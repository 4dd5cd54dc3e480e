package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// linkedTable is a guarded table that is shown to audiences, written as name:k, with a hidden column where the k ends with h.
func linkedTable(t *testing.T, form Form, audiences string) Publication {
	t.Helper()
	policy := TablePolicy{
		Table: Name{"public", "people"}, Method: "rounded-partition", Updates: Updates{Mode: Guarded}, Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
		Columns: []ColumnPolicy{{Name: "age", Role: QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}, Publish: form}, {Name: "ill", Role: Sensitive}},
	}
	for _, one := range strings.Fields(audiences) {
		name, k, _ := strings.Cut(one, ":")
		a := AudiencePolicy{Audience: name, Constraints: []privacy.Spec{{Model: privacy.K}}}
		if strings.HasSuffix(k, "h") {
			a.Hidden = []string{"ill"}
		}
		if _, err := fmt.Sscan(strings.TrimSuffix(k, "h"), &a.Constraints[0].K); err != nil {
			t.Fatal(err)
		}
		policy.Audiences = append(policy.Audiences, a)
	}
	relation := Relation{OID: 1, Name: policy.Table, Kind: KindTable, Key: []string{"id"}, Columns: []Column{
		{Name: "id", Number: 1, Type: "integer", TypeOID: 23, BaseType: "int4", BaseFormat: "integer"},
		{Name: "age", Number: 2, Type: "integer", TypeOID: 23, BaseType: "int4", BaseFormat: "integer"},
		{Name: "ill", Number: 3, Type: "text", TypeOID: 25, BaseType: "text", BaseFormat: "text"},
	}}
	p, problems := Publish(policy, relation)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// linksOf writes links as audience=store:k, of which the audience is empty where nobody sees it.
func linksOf(of Lineage) string {
	var all []string
	for _, l := range of.Links {
		all = append(all, fmt.Sprintf("%s=%s:%d", l.Audience, l.Store, l.Constraints[0].K))
	}
	return strings.Join(all, " ")
}

// TestFollow has lineages go on through policies, one after the other, of which the last is written with the links that it leaves, or
// the reason for which it needs a new lineage.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policies, want string }{
		{"a:10 -> a:10 b:20", "a=a:10 b=b:20"},
		{" -> a:10", "a=a:10"},
		{"a:10 b:20 -> b:20", "=a:10 b=b:20"},
		{"a:10 b:20 -> b:20 -> a:10 b:20", "a=a:10 b=b:20"},
		{"a:10 b:20 -> b:20 -> c:10 b:20", "c=a:10 b=b:20"},
		{"a:10 b:20 -> a:10", "a=a:10 =b:20"},
		{"a:10 b:20 -> c:10 b:20", "c=a:10 b=b:20"},
		{"a:10 b:20 -> b:10 a:20", "=a:10 b=b:10 a=a2:20"},
		{"a:10 b:20 -> b:10 c:20", "=a:10 b=b:10 c=c:20"},
		{"a:10 b:20 ->  -> c:30", "=a:10 =b:20 c=c:30"},
		{"a:10 b:20 ->  -> c:15", "=a:10 c=b:15"},
		{"a:10 -> a:8", "a=a:8"},
		{"a:10 -> a:8 -> a:10", "=a:8 a=a2:10"},
		{"a:10 -> a:12", "=a:10 a=a2:12"},
		{"a:10 -> a:12 -> a:15", "=a:10 =a2:12 a=a3:15"},
		{"b:20 -> a:10 b:20", "new lineage"},
		{"a:10 b:20 -> a:12 b:20", "new lineage"},
		{"a:10 -> a:10h", "=a:10 a=a2:10"},
		{"a:10h -> a:10", "=a:10 a=a2:10"},
		{"a:10 b:20h -> a:10 b:20", "a=a:10 =b:20 b=b2:20"},
		{"a:10 b:20 ->  -> b:20 c:25", "=a:10 b=b:20 c=c:25"},
		{"a:10 b:20 ->  -> b:10", "=a:10 b=b:10"},
		{"a:10 b:10 -> b:10 a:10", "=a:10 b=b:10 a=a2:10"},
		{"a:10 -> b:10 c:10", "b=a:10 c=c:10"},
	} {
		policies := strings.Split(c.policies, " -> ")
		of := linkedTable(t, FormBoth, policies[0]).Lineage("digest")
		got := ""
		for _, policy := range policies[1:] {
			p := linkedTable(t, FormBoth, policy)
			after, err := p.Follow(of)
			if of = after; err != nil {
				got = "new lineage"
				break
			}
			if got = linksOf(of); !p.ShownBy(of) {
				t.Errorf("%s: %s does not show it", policy, got)
			}
			if again, err := p.Follow(of); err != nil || linksOf(again) != got {
				t.Errorf("%s: then %s is %s, %v", policy, got, linksOf(again), err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.policies, got, c.want)
		}
	}
}

// TestLineagesAreShown: a policy has its audiences see a lineage as it is where each has a link of it, with the same columns, and constraints
// from which its own follow.
func TestLineagesAreShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lineage, policy string
		shown           bool
	}{
		{"a:10 b:20", "a:10 b:20", true},
		{"a:10 b:20", "b:20", true},
		{"a:10", "a:8", true},
		{"a:10", "", true},
		{"a:10", "a:12", false},
		{"a:10", "a:10h", false},
		{"a:10h", "a:10", false},
		{"a:10", "b:10", false},
		{"", "a:10", false},
	} {
		if got := linkedTable(t, FormBoth, c.policy).ShownBy(linkedTable(t, FormBoth, c.lineage).Lineage("")); got != c.shown {
			t.Errorf("that %q shows %q is %t", c.policy, c.lineage, got)
		}
	}
}

// TestContinue tells of policies alone what Follow does of tables: whether a lineage goes on.
func TestContinue(t *testing.T) {
	t.Parallel()
	on := func(form Form, audiences, of string) []TablePolicy {
		p := linkedTable(t, form, audiences).Policy
		if of != "" {
			p.Constraints = append(slices.Clone(p.Constraints), privacy.Spec{Model: privacy.DistinctL, L: 2, Of: of})
		}
		return []TablePolicy{p}
	}
	for what, c := range map[string]struct {
		before, after []TablePolicy
		want          bool
	}{
		"nothing":                      {on(FormBoth, "a:10", ""), on(FormBoth, "a:10", ""), true},
		"another audience":             {on(FormBoth, "a:10", ""), on(FormBoth, "a:10 b:20", ""), true},
		"a finer one":                  {on(FormBoth, "b:20", ""), on(FormBoth, "a:10 b:20", ""), false},
		"one, of values alone":         {on(FormValue, "", ""), on(FormValue, "a:10", ""), false},
		"the same, of values":          {on(FormBoth, "a:10", "ill"), on(FormBoth, "a:10 b:20", "ill"), true},
		"a column that did not count":  {on(FormBoth, "a:10", ""), on(FormBoth, "a:10", "ill"), false},
		"a column that counts no more": {on(FormBoth, "a:10", "ill"), on(FormBoth, "a:10", ""), true},
	} {
		if got := Continue(c.after, c.before); got != c.want {
			t.Errorf("%s: that it goes on is %t", what, got)
		}
	}
}

// TestFollowNeedsRanges: what is shown as values alone does not tell what it stands for.
func TestFollowNeedsRanges(t *testing.T) {
	t.Parallel()
	if _, err := linkedTable(t, FormValue, "a:10").Follow(linkedTable(t, FormValue, "").Lineage("")); err == nil || !strings.Contains(err.Error(), "no ranges of age") {
		t.Errorf("it says %v", err)
	}
	if _, err := linkedTable(t, FormRange, "a:10").Follow(linkedTable(t, FormRange, "").Lineage("")); err != nil {
		t.Error(err)
	}
	if _, err := linkedTable(t, FormValue, "").Follow(linkedTable(t, FormValue, "a:10").Lineage("")); err != nil {
		t.Error(err)
	}
}

// TestFollowAll: an audience has the same link of all tables that are released together, where only one of them changes, too.
func TestFollowAll(t *testing.T) {
	t.Parallel()
	at := func(policies ...string) (tables []Publication, of []Lineage) {
		for _, policy := range policies {
			p := linkedTable(t, FormBoth, policy)
			tables, of = append(tables, p), append(of, p.Lineage("digest"))
		}
		return tables, of
	}
	for _, c := range []struct{ before, now, want string }{
		{"a:10 a:10", "a:10 a:10", "a=a:10; a=a:10; "},
		{"a:10 a:10", "a:10 a:10h", "=a:10 a=a2:10; =a:10 a=a2:10; "},
		{"a:10h a:10", "b:10h b:10h", "=a:10 b=b:10; =a:10 b=b:10; "},
		{"a:10 a:10", "a:8 a:8h", "new lineage"},
		{"a:10 b:10", "a:10 b:10", "new lineage"},
		{"a:10 a:10", "a:10 b:10", "new lineage"},
	} {
		_, of := at(strings.Fields(c.before)...)
		tables, _ := at(strings.Fields(c.now)...)
		got := ""
		after, err := FollowAll(tables, of)
		for _, l := range after {
			got += linksOf(l) + "; "
		}
		if err != nil {
			got = "new lineage"
		}
		if got != c.want {
			t.Errorf("%s, then %s: %s, want %s", c.before, c.now, got, c.want)
		}
	}
}

// TestFollowEnds has audiences that fit none of many links that nobody sees any more: not all ways are tried to give them some.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	var before, after string
	for i := range 40 {
		before += fmt.Sprintf("a%d:%d ", i, 10+i)
	}
	for i := range 20 {
		after += fmt.Sprintf("b%d:%dh ", i, 6+i)
	}
	lineage, err := linkedTable(t, FormBoth, "").Follow(linkedTable(t, FormBoth, before).Lineage(""))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := linkedTable(t, FormBoth, after).Follow(lineage); err == nil {
		t.Errorf("it goes on with %s", linksOf(after))
	}
}
