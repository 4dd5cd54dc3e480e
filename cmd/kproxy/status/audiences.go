package status

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
	"github.com/kproxy/kproxy/internal/visible"
	ksync "github.com/kproxy/kproxy/sync"
)

// storedAudiences is what the store tells of the audiences of a table.
type storedAudiences struct {
	// text is the status of audiences as JSON, of the generation that readers see; empty where that is not known.
	text string
	// earlier says that readers see an earlier generation until the next one is ready: what was told of that one's
	// audiences is not kept.
	earlier bool
}

// read tells what each audience of a policy sees of the table.
func (s storedAudiences) read(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy) (all []state.Audience, err error) {
	var found map[string]ksync.AudienceStatus
	if s.text != "" {
		if err := json.Unmarshal([]byte(s.text), &found); err != nil {
			return nil, fmt.Errorf("reading what is published for audiences: %w", err)
		}
	}
	for _, of := range policy.Seeing() {
		one := state.Audience{Name: of.Audience, State: StateUnpublished}
		status, known := found[of.Audience]
		switch {
		case known && status.Reason != "":
			one.State, one.Problem = state.Withheld, status.Reason
		case known:
			one.State, one.Classes = StatePublished, status.Classes
		case s.earlier:
			if one, err = readEarlier(ctx, tx, of.Audience, policy.Table); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// readEarlier looks at what an audience sees of an earlier generation: the view is of that.
func readEarlier(ctx context.Context, tx pgx.Tx, audience string, table catalog.Name) (state.Audience, error) {
	one := state.Audience{Name: audience, State: StateUnpublished}
	view := catalog.PublishedFor(audience, table).SQL()
	var shown bool
	if err := tx.QueryRow(ctx, "SELECT pg_catalog.to_regclass($1) IS NOT NULL", view).Scan(&shown); err != nil {
		return one, fmt.Errorf("looking for what %s sees: %w", audience, err)
	}
	if !shown {
		return one, nil
	}
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+view+")").Scan(&shown); err != nil {
		return one, fmt.Errorf("looking at what %s sees: %w", audience, err)
	}
	if one.Earlier, one.State = true, StatePublished; !shown {
		one.State, one.Problem = state.Withheld, "nothing was published for it before, and the next release is not ready"
	}
	return one, nil
}

// settleAudiences has audiences see nothing of a table of which its own readers see nothing.
func (t *Table) settleAudiences() {
	for i := range t.Audiences {
		if a := &t.Audiences[i]; t.State != StatePublished {
			a.State, a.Problem = t.State, ""
		}
	}
}

// countAudience takes over what was counted of what an audience sees. Classes are those of that moment, too.
func countAudience(a *state.Audience, counted history.Counts) {
	a.Rows, a.Withheld, a.Classes = counted.Rows, counted.Withheld, int(counted.Classes)
}

// AudienceState is the state of what an audience sees of a table in a process with a status of replication, where the
// table's own condition is given; see state.Audience.
func AudienceState(own Condition, of ksync.TableStatus, audience string) string {
	status, known := of.Audiences[audience]
	switch {
	case own.State != StatePublished:
		return own.State
	case !known:
		return StateUnpublished
	case status.Reason != "":
		return state.Withheld
	}
	return StatePublished
}

// RefusalFor is Refusal for the readers of an audience; the empty name is that of the table's own.
func (s Status) RefusalFor(audience string, name catalog.Name) (state.Need, bool) {
	need, refused := s.Refusal(name)
	if refused || audience == "" {
		return need, refused
	}
	for _, t := range s.Tables {
		if t.Name != name.String() {
			continue
		}
		for _, a := range t.Audiences {
			if a.Name == audience && !a.Sees() {
				return refusalOf(t, a), true
			}
		}
	}
	return state.Need{}, false
}

// refusalOf says why an audience gets nothing of a table that others can read.
func refusalOf(t Table, a state.Audience) state.Need {
	if a.State == state.Withheld {
		return state.Need{What: fmt.Sprintf("table %s is withheld from audience %s: %s", t.Name, a.Name, a.Problem), Fix: fixAudience(a)}
	}
	return state.Need{What: fmt.Sprintf("table %s is not published for audience %s yet", t.Name, a.Name), Fix: "wait until 'kproxy status' says that it is"}
}

// fixAudience says how an audience from which a table is withheld comes to see it.
func fixAudience(a state.Audience) string {
	if a.Earlier {
		return "wait until the next release is ready"
	}
	return "loosen what the audience's constraints add, or take the table out of the audience"
}

// writeAudiences says what audiences see. Of a table of which nobody sees anything, its line has told.
func (s Status) writeAudiences(text *strings.Builder) {
	for _, t := range s.Tables {
		if t.State != StatePublished {
			continue
		}
		for i, a := range t.Audiences {
			if i == 0 {
				text.WriteByte('\n')
			}
			fmt.Fprintf(text, "%s shows audience %s %s\n", visible.Text(t.Name), a.Name, seenText(t, a))
		}
	}
}

func seenText(t Table, a state.Audience) string {
	switch {
	case a.State == state.Withheld:
		return "nothing: " + a.Problem
	case !a.Sees():
		return "nothing yet: it is being published"
	}
	seen := units.Count(a.Classes, "union of its classes", "unions of its classes")
	if a.Earlier && t.Uncounted {
		seen = "unions of its classes"
	}
	if !t.Uncounted {
		seen += ", " + units.Count(int(a.Rows), "row", "rows")
	}
	if a.Earlier {
		seen += ", as published before; the next release is being made"
	}
	return seen
}
