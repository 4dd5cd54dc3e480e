package webconsole

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

// seenPolicy has two audiences, of three readers, the second of whom does not see the wards.
func seenPolicy() (*config.Config, catalog.TablePolicy) {
	c := &config.Config{}
	table := catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: "stays"}, Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
		Audiences: []catalog.AudiencePolicy{
			{Audience: "partners", Constraints: []privacy.Spec{{Model: privacy.K, K: 25}}},
			{Audience: "press", Constraints: []privacy.Spec{{Model: privacy.DistinctL, L: 4, Of: "ward"}}, Hidden: []string{"ward"}},
		},
	}
	c.Policy = catalog.Policy{Tables: []catalog.TablePolicy{table}, Audiences: []catalog.Audience{{Name: "partners", Roles: []string{"p1", "p2"}}, {Name: "press", Roles: []string{"q"}}}}
	for name, role := range map[string]string{"one": "p1", "papers": "q", "bi": "other"} {
		c.Upstream.Readers = append(c.Upstream.Readers, config.Reader{Name: name, Connection: config.Connection{User: role}})
	}
	c.Users = []config.User{{Name: "own"}, {Name: "ann", Reader: "one"}, {Name: "tim", Reader: "papers"}, {Name: "mia", Reader: "bi"}}
	c.AuthQuery = config.AuthQuery{Query: "SELECT 1", Reader: "papers"}
	return c, table
}

// TestMembersOfAudiences: who belongs to which follows from their readers.
func TestMembersOfAudiences(t *testing.T) {
	t.Parallel()
	c, _ := seenPolicy()
	if got := fmt.Sprint(audiencesOf(c)); got != "[{partners {[one] [ann] false}} {press {[papers] [tim] true}}]" {
		t.Error(got)
	}
	c.AuthQuery.Query = ""
	if got := fmt.Sprint(membersOf(c, "press")); got != "{[papers] [tim] false}" {
		t.Error(got)
	}
}

// TestSeenIsNotMadeUp: what an audience sees is told where it is known, and by the table's state where it is not.
func TestSeenIsNotMadeUp(t *testing.T) {
	t.Parallel()
	c, policy := seenPolicy()
	kept := &history.Figures{Audiences: map[string]history.AudienceFigures{
		"partners": {Sizes: []history.Size{{Rows: 25, Classes: 3}, {Rows: 31, Classes: 1}}, Losses: &history.Losses{Whole: 0.5}},
		"press":    {Sizes: []history.Size{{Rows: 99, Classes: 1}}, Losses: &history.Losses{Whole: 0.75}},
	}}
	table := func(is string, audiences ...state.Audience) status.Table {
		return status.Table{Table: state.Table{State: is, Figures: &state.Figures{Generation: 3}, Audiences: audiences}, Kept: kept}
	}
	known := []state.Audience{{Name: "partners", State: status.StatePublished, Rows: 106, Classes: 4}, {Name: "press", State: state.Withheld, Problem: "too few", Withheld: 106}}
	all := keptRelease(c, policy, table(status.StatePublished, known...)).Audiences
	if len(all) != 2 || all[0].Rows != 106 || all[0].Smallest != 25 || all[0].Largest != 31 || all[0].Loss == nil || *all[0].Loss != 0.5 || fmt.Sprint(all[0].Constraints, all[0].Hidden, all[0].Users) != "[25-anonymity] [] [ann]" {
		t.Errorf("%+v", all)
	}
	if all[1].State != state.Withheld || all[1].Loss != nil || all[1].Smallest != 0 || fmt.Sprint(all[1].Constraints, all[1].Hidden) != "[25-anonymity distinct 4-diversity of ward] [ward]" {
		t.Errorf("%+v", all[1])
	}
	for is, want := range map[string]string{status.StatePublished: status.StateUnpublished, status.StateHalted: status.StateHalted, state.Unknown: state.Unknown} {
		for _, seen := range keptRelease(c, policy, table(is)).Audiences {
			if seen.State != want || seen.Loss != nil {
				t.Errorf("of a table that is %s, %+v", is, seen)
			}
		}
	}
}
