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
)

// View is one readable relation, or view over protected tables, that the
// configuration lists.
type View struct {
	View string `json:"view"`
	// State is published or withdrawn; Problem says why it is withdrawn. A view is withdrawn
	// as well while a table whose rows it shows is not published.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	// Omitted is how many columns of its definition are not published.
	Omitted int  `json:"omitted"`
	standIn bool // it is a readable relation
	// ofTable says that nothing is wrong but a table, of which is told by itself.
	ofTable bool
}

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
		v := View{View: l.Name.String(), State: viewPublished, Problem: l.Problem, Omitted: l.Omitted, standIn: l.StandIn}
		if l.Problem != "" || !l.Alive {
			v.State = viewWithdrawn
		}
		s.Views = append(s.Views, v)
	}
	return err
}

// settleViews withdraws the views over tables that readers do not get, as processes that
// serve do. The tables have their conditions.
func (s *Status) settleViews() {
	for i := range s.Views {
		v := &s.Views[i]
		over := s.found.over[catalog.ParseName(v.View)]
		at := slices.IndexFunc(s.Tables, func(t Table) bool {
			return t.State != StatePublished && slices.ContainsFunc(over, func(name catalog.Name) bool { return name.String() == t.Table })
		})
		if at >= 0 && v.Problem == "" {
			v.State, v.ofTable = viewWithdrawn, true
			v.Problem = fmt.Sprintf("it reads table %s, which is %s", s.Tables[at].Table, s.Tables[at].State)
		}
	}
}

// writeViews adds the views to the text for people. Why one is withdrawn is told among what
// needs the operator, unless it is for a table.
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
		fmt.Fprintf(table, "%s\t%s\t%d%s\n", v.View, v.State, v.Omitted, why)
	}
	return table.Flush()
}

// viewNeeds are the views that wait for the operator.
func (s Status) viewNeeds() []Need {
	var needs []Need
	for _, v := range s.Views {
		if v.Problem != "" && !v.ofTable && len(s.found.broken[catalog.ParseName(v.View)]) == 0 { // else it has been told
			fix := s.found.views[v.View]
			if fix == "" { // it is being published again perhaps
				fix = views.FixDefinition
			}
			kind := "view"
			if v.standIn {
				kind = "readable"
			}
			needs = append(needs, Need{fmt.Sprintf("%s %s is withdrawn: %s", kind, v.View, v.Problem), fix})
		}
	}
	return needs
}
