package settings

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// TestCompareDecidesForAKindTogether: what ends the lineage of one table of a kind of person ends that of all, and an audience that gets
// another release of one gets others of all.
func TestCompareDecidesForAKindTogether(t *testing.T) {
	t.Parallel()
	both := []string{"public.patients", "public.visits"}
	for _, c := range []struct {
		what                      string
		change                    func(next *catalog.Policy)
		changed, ended, continued []string
	}{
		{"nothing", func(*catalog.Policy) {}, nil, nil, nil},
		{"the last audience does not see a column of one table", func(next *catalog.Policy) { next.Tables[1].Audiences[1].Hidden = []string{"ward"} }, both[1:], nil, both},
		{"the first one does not", func(next *catalog.Policy) { next.Tables[1].Audiences[0].Hidden = []string{"ward"} }, both[1:], both, nil},
		{"looser constraints", func(next *catalog.Policy) {
			for i := range both {
				next.Tables[i].Audiences[1].Constraints = []privacy.Spec{{K: 30}}
			}
		}, both, nil, both},
		{"looser constraints, and fewer columns of one table", func(next *catalog.Policy) {
			for i := range both {
				next.Tables[i].Audiences[1].Constraints = []privacy.Spec{{K: 30}}
			}
			next.Tables[1].Audiences[1].Hidden = []string{"ward"}
		}, both, both, nil},
		{"other columns of one table", func(next *catalog.Policy) { next.Tables[0].Columns = nil }, both[:1], both, nil},
		{"another k of the kind", func(next *catalog.Policy) { next.People[0].Constraints = []privacy.Spec{{K: 6}} }, nil, both, nil},
		{"a table that stands alone", func(next *catalog.Policy) { next.Tables[2].Audiences = nil }, []string{"public.staff"}, nil, []string{"public.staff"}},
	} {
		running, next := &config.Config{Policy: guardedKind()}, &config.Config{Policy: guardedKind()}
		c.change(&next.Policy)
		got := Compare(running, next)
		if !slices.Equal(got.Changed, c.changed) || !slices.Equal(got.Halted, c.ended) || !slices.Equal(got.Continued, c.continued) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// guardedKind has the tables of patients, and a table that stands alone, shown to two audiences.
func guardedKind() (p catalog.Policy) {
	for _, name := range []string{"patients", "visits", "staff"} {
		one := table(name, 5)
		one.Updates.Mode = catalog.Guarded
		one.Columns = []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying}, {Name: "ward", Role: catalog.Sensitive}}
		one.Audiences = []catalog.AudiencePolicy{{Audience: "partners", Constraints: []privacy.Spec{{K: 25}}}, {Audience: "press", Constraints: []privacy.Spec{{K: 50}}}}
		if name != "staff" {
			one.Constraints = nil
		}
		p.Tables = append(p.Tables, one)
	}
	p.People = []catalog.People{{
		Kind: "patient", Root: p.Tables[0].Table, Key: []string{"id"}, Constraints: []privacy.Spec{{K: 5}},
		Tables: []catalog.PeopleTable{{Table: p.Tables[1].Table, Person: []string{"patient"}}},
	}}
	return p
}
