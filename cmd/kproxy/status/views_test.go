package status

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/state"
)

// TestViewsOfAudiences: what is told of a view for each audience follows from what was made of it, and from what the audience
// sees of its tables.
func TestViewsOfAudiences(t *testing.T) {
	t.Parallel()
	name, other := catalog.Name{Schema: "public", Relation: "v"}, catalog.Name{Schema: "public", Relation: "w"}
	stays := catalog.Name{Schema: "public", Relation: "stays"}
	views := func(own string, of ...state.AudienceView) Status {
		s := Status{Tables: []Table{{Table: state.Table{Name: stays.String(), State: own, Audiences: []state.Audience{
			{Name: "partners", State: StatePublished}, {Name: "press", State: state.Withheld, Problem: "too few"}, {Name: "later", State: StateUnpublished},
		}}}}}
		s.Tables[0].settleAudiences()
		s.Views = []View{
			{View: state.View{Name: name.String(), State: viewPublished, Omitted: 1, Audiences: of}},
			{View: state.View{Name: other.String(), State: viewPublished, Audiences: []state.AudienceView{{Audience: "press", State: viewPublished}}}},
		}
		s.found.over = map[catalog.Name][]catalog.Name{name: {stays}}
		s.settleViews()
		return s
	}
	published := func(audience string, omitted int) state.AudienceView {
		return state.AudienceView{Audience: audience, State: viewPublished, Omitted: omitted}
	}
	const unseen = "it computes with a column"
	for what, c := range map[string]struct {
		own  string
		of   state.AudienceView
		want string // what is said, behind the name of the audience
	}{
		"as the own readers see it": {StatePublished, published("partners", 1), ""},
		"with fewer columns":        {StatePublished, published("partners", 3), "all but 3 columns"},
		"with more columns":         {StatePublished, published("partners", 0), "all columns"},
		"with a problem":            {StatePublished, state.AudienceView{Audience: "partners", State: viewWithdrawn, Problem: unseen}, "nothing: " + unseen},
		"not yet":                   {StatePublished, state.AudienceView{Audience: "partners", State: viewWithdrawn}, "nothing yet: it is being published"},
		"of a withheld table":       {StatePublished, published("press", 1), "nothing: it reads table public.stays, which is withheld for the audience"},
		"of a new table":            {StatePublished, published("later", 1), "nothing: it reads table public.stays, which is unpublished for the audience"},
		"with a problem of its own": {StatePublished, state.AudienceView{Audience: "press", State: viewWithdrawn, Problem: unseen}, "nothing: " + unseen},
		"of a halted table":         {StateHalted, published("partners", 1), ""},
	} {
		s := views(c.own, c.of)
		var text strings.Builder
		if err := s.writeViews(&text); err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.want != "" {
			want = "\npublic.v shows audience " + c.of.Audience + " " + c.want + "\n"
		}
		if _, got, _ := strings.Cut(text.String()+"\n", "\npublic.w  published  0\n"); strings.TrimSuffix(got, "\n") != want && c.own == StatePublished || strings.Contains(text.String(), "shows audience") != (c.want != "") {
			t.Errorf("%s:\n%s", what, text.String())
		}
		sees := c.own == StatePublished && !strings.HasPrefix(c.want, "nothing")
		if got := s.Views[0].Audiences[0]; (got.State == viewPublished) != sees || sees && got.Problem != "" || s.Views[1].Audiences[0].State != viewPublished {
			t.Errorf("%s: %+v", what, s.Views)
		}
		if len(s.viewNeeds()) > 0 {
			t.Errorf("%s: %v waits for the operator", what, s.viewNeeds())
		}
	}
}
