package views

import (
	"errors"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// TestAudiencesReadWhatIsPublishedForThem: in place of each relation that a view names, an audience reads what is published for it
// under the name, or the view is refused with the reason. It takes nothing from the plans for other readers but stand-ins.
func TestAudiencesReadWhatIsPublishedForThem(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	seen, unseen, unready := name("seen"), name("unseen"), name("unready")
	list, raw, other, standIn, broken := name("list"), name("raw"), name("other"), name("towns"), name("broken")
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: unseen}}, Audiences: []catalog.Audience{{Name: "press", Roles: []string{"press_role"}}, {Name: "nobody"}}}
	for _, table := range []catalog.Name{seen, unready} {
		policy.Tables = append(policy.Tables, catalog.TablePolicy{Table: table, Audiences: []catalog.AudiencePolicy{{Audience: "press"}}})
	}
	own := &planner{
		reader: "own_role", audiences: policy.Audiences, protected: map[catalog.Name]bool{seen: true, unseen: true, unready: true},
		listed: map[catalog.Name]bool{list: true, standIn: true, broken: true}, held: map[catalog.OID]bool{7: true},
		sources: map[catalog.Name]inspect.ViewSource{seen: {OID: 99}},
		plans: map[catalog.Name]viewPlan{
			list:    {problem: "for others alone"},
			standIn: {standIn: true}, broken: {standIn: true, problem: "it cannot be read"},
		},
		found: map[catalog.Name]catalog.View{
			list: {Name: list, Kind: catalog.KindView, Listed: true, Columns: []string{"a", "b"}}, name("unlisted"): {Name: name("unlisted"), Kind: catalog.KindView},
			name("copy"): {Name: name("copy"), Kind: catalog.KindMaterializedView, Listed: true},
		},
	}
	p := own.forAudience(policy.Audiences[0], policy)
	if p.reader != "press_role" || p.audience != "press" || len(p.sources) > 0 || own.audience != "" || len(own.sources) != 1 || len(p.plans) != 2 {
		t.Fatalf("the planner for the audience is %+v", p)
	}
	p.sources = map[catalog.Name]inspect.ViewSource{
		seen: {OID: 1, Columns: []string{"a", "b"}}, unseen: {OID: 2}, unready: {OID: 3}, raw: {OID: 7}, other: {OID: 8}, standIn: {OID: 9}, broken: {OID: 10},
		catalog.PublishedFor("press", seen): {OID: 11, Columns: []string{"a"}, Readable: true}, catalog.Published(unready): {Readable: true}, catalog.PublishedFor("press", unready): {OID: 12},
		catalog.Published(unseen): {Readable: true},
	}
	for relation, want := range map[catalog.Name]string{
		seen: "", list: "", standIn: "", unseen: "which the audience does not see", unready: "which is not published now", raw: "rows of a protected table", other: "not listed under readable",
		broken: "which is not served", name("unlisted"): "is not listed under readable", name("copy"): "holds copies",
	} {
		reads, problem := p.relation(relation)
		switch {
		case want == "" && (problem != nil || reads.Target != catalog.PublishedFor("press", relation)):
			t.Errorf("of %s it reads %+v, and is refused: %+v", relation, reads, problem)
		case want != "" && (problem == nil || !strings.Contains(problem.what, want) || problem.fix == "" || reads != nil):
			t.Errorf("of %s it reads %+v, and is refused: %+v", relation, reads, problem)
		case want != "" && problem.waits != (relation == unready):
			t.Errorf("of %s it is said to wait: %t", relation, problem.waits)
		}
	}
	if all := withRoles(policy.Audiences); len(all) != 1 || all[0].Name != "press" {
		t.Errorf("these have roles: %v", all)
	}
	l := &Look{config: &config.Config{Policy: policy}, outcomes: viewOutcomes{}}
	if l.err = errors.New("cut off"); len(l.unseen()) != 1 {
		t.Errorf("nothing was looked at for %v", l.unseen())
	}
	before := viewOutcomes{{"press", list}: pending, {"", list}: held}
	l.outcomes.keep("press", before)
	if len(l.unseen()) != 0 || len(l.outcomes) != 1 {
		t.Errorf("%v is kept, and nothing was looked at for %v", l.outcomes, l.unseen())
	}
}
