package daemon

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// StoredView is one readable relation, or view over protected tables, that the
// configuration lists.
type StoredView struct {
	View string `json:"view"`
	// State is published or withdrawn; Problem says why it is withdrawn.
	State   string `json:"state"`
	Problem string `json:"problem,omitempty"`
	// Omitted is how many columns of its definition are not published.
	Omitted int  `json:"omitted"`
	standIn bool // it is a readable relation
}

// The states of views.
const (
	viewPublished = "published"
	viewWithdrawn = "withdrawn"
)

// readViews reads what was made of the listed views, in the configuration's order. Views
// that kproxy has not looked at yet are left out, and so are all in a store that an
// earlier version made.
func (s *Stored) readViews(ctx context.Context, tx pgx.Tx, policy catalog.Policy, reader string) error {
	s.Views = []StoredView{}
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT pg_catalog.to_regclass('kproxy_store.view') IS NOT NULL").Scan(&exists); err != nil {
		return fmt.Errorf("looking for the published views: %w", err)
	}
	if !exists {
		return nil
	}
	stored, err := storedViews(ctx, tx, reader)
	if err != nil {
		return err
	}
	for _, name := range policy.Readable {
		view, known := stored[name]
		if !known {
			continue
		}
		shown := StoredView{
			View: name.String(), State: viewPublished, Problem: view.problem, Omitted: view.omitted,
			standIn: view.accepted != nil && !view.accepted.OverProtected,
		}
		if view.problem != "" || !view.alive {
			shown.State = viewWithdrawn
		}
		s.Views = append(s.Views, shown)
	}
	return nil
}

// writeViews adds the views to the text for people.
func (s Stored) writeViews(text *strings.Builder) error {
	if len(s.Views) == 0 {
		return nil
	}
	text.WriteByte('\n')
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "READABLE\tSTATE\tCOLUMNS LEFT OUT")
	for _, v := range s.Views {
		fmt.Fprintf(table, "%s\t%s\t%d\n", v.View, v.State, v.Omitted)
	}
	return table.Flush()
}

// viewNeeds are the views that wait for the operator.
func (s Stored) viewNeeds() []Need {
	var needs []Need
	for _, v := range s.Views {
		if v.Problem != "" && len(s.found.broken[catalog.ParseName(v.View)]) == 0 { // else it has been told
			fix := s.found.views[v.View]
			if fix == "" { // it is being published again perhaps
				fix = fixDefinition
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
