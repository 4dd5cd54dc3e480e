package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
	"github.com/kproxy/kproxy/internal/visible"
)

// The states of views.
const (
	viewPublished = "published"
	viewWithdrawn = "withdrawn"
)

// readViews reads what was made of the listed views, in the configuration's order. Views
// that kproxy has not looked at yet are left out.
func (s *Status) readViews(ctx context.Context, tx pgx.Tx, policy catalog.Policy, reader string) error {
	s.Views = []View{}
	listed, err := views.ReadListed(ctx, tx, policy, reader)
	for _, l := range listed {
		v := View{View: state.View{Name: l.Name.String(), State: viewPublished, Problem: l.Problem, Omitted: l.Omitted}, standIn: l.StandIn}
		if l.Problem != "" || !l.Alive {
			v.State = viewWithdrawn
		}
		for _, a := range l.Audiences {
			of := state.AudienceView{Audience: a.Audience, State: viewPublished, Problem: a.Problem, Omitted: a.Omitted}
			if a.Problem != "" || !a.Alive {
				of.State = viewWithdrawn
			}
			v.Audiences = append(v.Audiences, of)
		}
		s.Views = append(s.Views, v)
	}
	return err
}

// settleViews withdraws the views over tables that are not served, as processes that serve do.
// The conditions of tables are known.
func (s *Status) settleViews() {
	for i := range s.Views {
		v := &s.Views[i]
		over := s.found.over[catalog.ParseName(v.Name)]
		at := slices.IndexFunc(s.Tables, func(t Table) bool {
			return t.State != StatePublished && slices.ContainsFunc(over, func(name catalog.Name) bool { return name.String() == t.Name })
		})
		if at >= 0 && v.Problem == "" {
			v.State, v.ofTable = viewWithdrawn, true
			v.Problem = fmt.Sprintf("it reads table %s, which is %s", s.Tables[at].Name, s.Tables[at].State)
		}
		for j := range v.Audiences {
			s.settleView(&v.Audiences[j], over)
		}
	}
}

// settleView withdraws a view from an audience that sees nothing of one of its tables.
func (s *Status) settleView(v *state.AudienceView, over []catalog.Name) {
	if v.Problem != "" {
		return
	}
	for _, t := range s.Tables {
		if !slices.ContainsFunc(over, func(name catalog.Name) bool { return name.String() == t.Name }) {
			continue
		}
		for _, a := range t.Audiences {
			if a.Name == v.Audience && !a.Sees() {
				v.State, v.Problem = viewWithdrawn, fmt.Sprintf("it reads table %s, which is %s for the audience", t.Name, a.State)
				return
			}
		}
	}
}

// writeViews adds the views to the text for people. The reason why a view is withdrawn is among
// what needs attention, unless it is a table.
func (s Status) writeViews(text *strings.Builder) error {
	if len(s.Views) == 0 {
		return nil
	}
	text.WriteByte('\n')
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	head := "READABLE\tSTATE\tCOLUMNS LEFT OUT"
	if slices.ContainsFunc(s.Views, func(v View) bool { return v.ofTable }) {
		head += "\tWHY"
	}
	fmt.Fprintln(table, head)
	for _, v := range s.Views {
		why := ""
		if v.ofTable {
			why = "\t" + v.Problem
		}
		fmt.Fprintf(table, "%s\t%s\t%d%s\n", v.Name, v.State, v.Omitted, why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	s.writeViewsFor(text)
	return nil
}

// writeViewsFor says of which views audiences do not see all. Of a view that its own readers do not see because of a table, its line
// has told.
func (s Status) writeViewsFor(text *strings.Builder) {
	begun := false
	for _, v := range s.Views {
		for _, a := range v.Audiences {
			if v.ofTable || a.State == viewPublished && a.Omitted == v.Omitted {
				continue
			}
			if !begun {
				begun = true
				text.WriteByte('\n')
			}
			fmt.Fprintf(text, "%s shows audience %s %s\n", visible.Text(v.Name), a.Audience, seenOfView(a))
		}
	}
}

func seenOfView(a state.AudienceView) string {
	switch {
	case a.State == viewPublished && a.Omitted == 0:
		return "all columns"
	case a.State == viewPublished:
		return "all but " + units.Count(a.Omitted, "column", "columns")
	case a.Problem == "":
		return "nothing yet: it is being published"
	}
	return "nothing: " + a.Problem
}

// viewNeeds returns the views that need the operator.
func (s Status) viewNeeds() []state.Need {
	var needs []state.Need
	for _, v := range s.Views {
		if v.Problem != "" && !v.ofTable && len(s.found.broken[catalog.ParseName(v.Name)]) == 0 { // else it has been told
			fix := s.found.views[v.Name]
			if fix == "" { // it is being published again perhaps
				fix = views.FixDefinition
			}
			kind := "view"
			if v.standIn {
				kind = "readable"
			}
			needs = append(needs, state.Need{What: fmt.Sprintf("%s %s is withdrawn: %s", kind, v.Name, v.Problem), Fix: fix})
		}
	}
	return needs
}
