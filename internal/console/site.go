package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/internal/state"
)

// Names are those of the protected tables, in the configuration's order.
func (s Site) Names() []string {
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = t.Name
	}
	return names
}

// Has reports whether a table of the name is protected.
func (s Site) Has(name string) bool {
	return slices.ContainsFunc(s.Tables, func(t Listed) bool { return t.Name == name })
}

// Marked are the tables in the order in which they need the operator.
func (s Site) Marked() []Listed {
	return slices.SortedStableFunc(slices.Values(s.Tables), func(a, b Listed) int { return cmp.Compare(urgency(a.State), urgency(b.State)) })
}

// urgency orders states: those that need the operator, those that wait, and the others.
func urgency(tableState string) int {
	switch tableState {
	case "halted", state.Withdrawn:
		return 0
	case state.Withheld, "unpublished":
		return 1
	case state.Unknown:
		return 2
	default:
		return 3
	}
}

// arrange orders tables by what needs the operator, and then by what is being made.
func arrange(tables []Release) {
	of := func(r Release) int {
		u := urgency(r.State)
		if u > 1 && (r.Work != nil || r.Asked != "") {
			return 1
		}
		return u
	}
	slices.SortStableFunc(tables, func(a, b Release) int { return cmp.Compare(of(a), of(b)) })
}

// alert is what the title of a page and its live region say first; empty where nothing needs the operator.
func alert(refused bool, needs int) string {
	switch {
	case refused:
		return "Readers are refused"
	case needs == 1:
		return "One thing needs you"
	case needs > 1:
		return fmt.Sprintf("%d things need you", needs)
	default:
		return ""
	}
}

// Alert is that of all pages but the overview, which knows more.
func (s Site) Alert() string {
	needs := s.Needs
	for _, t := range s.Tables {
		if needs == 0 && urgency(t.State) == 0 {
			needs = 1
		}
	}
	return alert(s.Refused, needs)
}

// Alert is that of the overview.
func (o Overview) Alert() string { return alert(o.Refused != nil, len(o.Needs)) }

// short is a table's name without the schema public, which is hidden from view.
func short(name string) string { return strings.TrimPrefix(name, "public.") }

// parts are those of a name between which it may be broken.
func parts(name string) []string { return strings.SplitAfter(name, "_") }

// given is the schema that [short] takes away.
func given(name string) string { return strings.TrimSuffix(name, short(name)) }

// GivenAway says what readers learn by comparing versions of tables, each thing once.
func (o Overview) GivenAway() []string {
	var told []string
	for _, t := range o.Tables {
		if t.GivesAway != "" && !slices.Contains(told, t.GivesAway) {
			told = append(told, t.GivesAway)
		}
	}
	return told
}
