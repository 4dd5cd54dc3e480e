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
	return table.Flush()
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
