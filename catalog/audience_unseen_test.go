package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// someTables is a kind of person of which the press sees only some tables.
func someTables(unseen ...string) (p PeoplePublication, policy Policy, relations []Relation, problems []Problem) {
	kind := People{
		Kind: "patient", Root: Name{"public", "patients"}, Key: []string{"id"}, Knows: Knowledge{Rows: 1, Crowd: 2}, Constraints: []privacy.Spec{{Model: privacy.K, K: 3}},
		Tables: []PeopleTable{{Table: Name{"public", "visits"}, Person: []string{"id"}, Key: []string{"visit"}, Order: "day"}, {Table: Name{"public", "labs"}, Through: Name{"public", "visits"}, By: []string{"visit"}, Unknown: true}},
	}
	policies, byName := map[Name]TablePolicy{}, map[Name]Relation{}
	for _, name := range kind.Names() {
		t := TablePolicy{Table: name, Method: "rounded-partition", Updates: Updates{Mode: Immediate}, Audiences: []AudiencePolicy{
			{Audience: "press", Constraints: []privacy.Spec{{Model: privacy.K, K: 9}}, Unseen: slices.Contains(unseen, name.Relation)},
		}}
		r := Relation{Name: name, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}}
		for column, base := range map[string]string{"id": "int8", "visit": "int8", "day": "date", name.Relation + "_value": "text"} {
			r.Columns = append(r.Columns, Column{Name: column, Type: base, BaseType: base, BaseFormat: base, Deterministic: true})
		}
		t.Columns = append(t.Columns, ColumnPolicy{Name: name.Relation + "_value", Role: Sensitive})
		if name.Relation == "visits" {
			t.Columns = append(t.Columns, ColumnPolicy{Name: "day", Role: QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}})
		}
		policies[name], byName[name] = t, r
		policy.Tables, relations = append(policy.Tables, t), append(relations, r)
	}
	policy.People, policy.Audiences = []People{kind}, []Audience{{Name: "press"}}
	p, problems = PublishPeople(kind, policies, byName)
	return p, policy, relations, problems
}

// TestUnseenTables: an audience is told nothing of tables that it does not see, neither by names nor in what is said of others.
func TestUnseenTables(t *testing.T) {
	t.Parallel()
	for _, unseen := range [][]string{nil, {"labs"}, {"patients"}, {"visits"}, {"patients", "labs"}} {
		p, policy, relations, problems := someTables(unseen...)
		if len(problems) > 0 {
			t.Fatalf("without %v: %v", unseen, problems)
		}
		seen, _ := policy.For("press")
		snapshot := NewSnapshot(seen, relations, nil)
		for _, of := range append([]Publication{p.Root}, p.Tables...) {
			hidden := slices.Contains(unseen, of.Policy.Table.Relation)
			made, isMade := of.MadeFor("press")
			press, shown := of.For("press")
			if shown == hidden || !isMade || made.IsSeen() == hidden || !of.IsSeen() || made.Membership.People.K() != 9 || of.Membership.People.K() != 3 {
				t.Errorf("without %v: %s is shown: %t, made: %t, %t", unseen, of.Policy.Table, shown, isMade, made.IsSeen())
			}
			if got, want := snapshot.Resolve("public", of.Policy.Table.Relation).Disposition == Protected, !hidden; got != want {
				t.Errorf("without %v: %s is read: %t", unseen, of.Policy.Table, got)
			}
			if snapshot.Names(of.Policy.Table.Relation+"_value") == hidden {
				t.Errorf("without %v: the columns of %s are words that the press may read: %t", unseen, of.Policy.Table, hidden)
			}
			if hidden {
				continue
			}
			comment, columns := press.Comments()
			told := comment + fmt.Sprint(columns, press.Describe())
			for _, name := range unseen {
				if strings.Contains(told, "public."+name) || strings.Contains(told, "{public "+name) {
					t.Errorf("without %v: of %s is told %s", unseen, of.Policy.Table, told)
				}
			}
			if own, _ := of.Comments(); !strings.Contains(own, "has rows of public.labs") || strings.Contains(comment, "has rows of public.labs") == slices.Contains(unseen, "labs") {
				t.Errorf("without %v: the comment is %s", unseen, comment)
			}
		}
	}
}

// TestUnseenTablesAreRefused: an audience sees one table of a kind at least, and tables that stand alone are seen or not named.
func TestUnseenTablesAreRefused(t *testing.T) {
	t.Parallel()
	if _, _, _, problems := someTables("patients", "visits", "labs"); len(problems) != 1 || !strings.Contains(problems[0].What, "is hidden from audience press, as are all tables of patient") {
		t.Errorf("all are hidden: %v", problems)
	}
	policy, relation := partedTable()
	policy.Audiences = []AudiencePolicy{{Audience: "press", Unseen: true}}
	if _, problems := Publish(policy, relation); !strings.Contains(fmt.Sprint(problems), "is hidden from audience press, and is not released together with others") {
		t.Errorf("a table that stands alone: %v", problems)
	}
}
