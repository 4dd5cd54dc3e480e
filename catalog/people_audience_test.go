package catalog

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestAudiencesOfPeopleHoldTheConstraintsOfAllTables: each table of a kind says of an audience what is stated of its own columns, and all of them together
// what is stated of all, however often the policy has been read.
func TestAudiencesOfPeopleHoldTheConstraintsOfAllTables(t *testing.T) {
	t.Parallel()
	patients, visits := Name{"public", "patients"}, Name{"public", "visits"}
	people := People{
		Kind: "patient", Root: patients, Key: []string{"id"}, Knows: Knowledge{Rows: 1}, Tables: []PeopleTable{{Table: visits, Person: []string{"id"}}},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 3}, {Model: privacy.DistinctL, L: 2, Of: "public.visits.ward"}},
	}
	stated := []privacy.Spec{
		{Model: privacy.K, K: 9}, {Model: privacy.AlphaK, Alpha: 0.5, Of: "public.patients.blood"}, {Model: privacy.DistinctL, L: 3, Of: "public.visits.ward"},
	}
	policies, relations := map[Name]TablePolicy{}, map[Name]Relation{}
	for name, sensitive := range map[Name]string{patients: "blood", visits: "ward"} {
		policies[name] = TablePolicy{
			Table: name, Method: "rounded-partition", Updates: Updates{Mode: Immediate}, Audiences: []AudiencePolicy{{Audience: "press", Constraints: stated}},
			Columns: []ColumnPolicy{{Name: "born", Role: QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}}, {Name: sensitive, Role: Sensitive}},
		}
		relation := Relation{Name: name, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}}
		for column, base := range map[string]string{"id": "int4", "born": "date", sensitive: "text"} {
			relation.Columns = append(relation.Columns, Column{Name: column, Type: base, BaseType: base, BaseFormat: base, Deterministic: true})
		}
		relations[name] = relation
	}
	for range 2 {
		p, problems := PublishPeople(people, policies, relations)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, of := range []Publication{p.Root, p.Tables[0]} {
			seen, _ := of.For("press")
			if got := fmt.Sprint(seen.Membership.People.Constraints); got != "[9-anonymity (0.5,k)-anonymity of public.patients.blood distinct 3-diversity of public.visits.ward]" {
				t.Errorf("of all tables, the press is promised %s", got)
			}
			want := map[Name]string{patients: "[9-anonymity (0.5,k)-anonymity of blood]", visits: "[9-anonymity distinct 3-diversity of ward]"}[of.Policy.Table]
			if got := fmt.Sprint(seen.Policy.Constraints); got != want {
				t.Errorf("of %s, the press is promised %s, want %s", of.Policy.Table, got, want)
			}
			if len(of.Membership.People.Constraints) != 2 || len(of.Sensitive) != 1 {
				t.Errorf("the tables' own readers are promised %v, of %v", of.Membership.People.Constraints, of.Sensitive)
			}
		}
		for name, policy := range policies {
			policies[name] = people.Member(policy, name)
		}
	}
}
