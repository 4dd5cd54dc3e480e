package check

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Audience is what holds for what an audience sees of a table.
type Audience struct {
	Table string `json:"table"`
	Name  string `json:"audience"`
	// Holds are the constraints that every class satisfies, those on hidden columns among them.
	Holds  []string `json:"holds"`
	Hidden []string `json:"hidden,omitempty"`
}

func audiencesOf(policy catalog.Policy) (all []Audience) {
	for _, t := range policy.Tables {
		for _, a := range t.Audiences {
			one := Audience{Table: t.Table.String(), Name: a.Audience, Hidden: a.Hidden, Holds: texts(t.ConstraintsFor(a.Audience))}
			all = append(all, one)
		}
	}
	return all
}

func texts(specs []privacy.Spec) (texts []string) {
	for _, spec := range specs {
		texts = append(texts, spec.String())
	}
	return texts
}

// Coalition is what readers hold who pool what they have of a table: those of the finest member and of
// one or several of the coarser audiences. What holds is the same for each set of them.
type Coalition struct {
	Table string `json:"table"`
	// Finest is the audience; empty for the table's own readers.
	Finest string   `json:"finest"`
	With   []string `json:"with"`
	// Holds are the constraints that hold for what they can join: for all columns that any of them sees, in
	// the finest member's classes.
	Holds []string `json:"holds"`
	// Joined are columns that the finest member does not see and a coarser one does.
	Joined []Joined `json:"joined,omitempty"`
}

// Joined is a column that a coalition has of coarser audiences.
type Joined struct {
	Column string   `json:"column"`
	Of     []string `json:"of"`
}

func coalitionsOf(policy catalog.Policy) (all []Coalition) {
	for _, t := range policy.Tables {
		coalitions := t.Coalitions()
		for i, c := range coalitions[:max(0, len(coalitions)-1)] { // the coarsest has nobody to pool with
			one := Coalition{Table: t.Table.String(), Finest: c.Finest, Holds: texts(c.Holds)}
			for _, coarser := range coalitions[i+1:] {
				one.With = append(one.With, coarser.Finest)
			}
			for _, column := range c.Joined {
				one.Joined = append(one.Joined, Joined{column.Name, column.Of})
			}
			all = append(all, one)
		}
	}
	return all
}

// writeAudiences tells what holds for each audience, and when readers of several pool what they have.
func (e Report) writeAudiences(b *strings.Builder) {
	if len(e.Audiences) == 0 {
		return
	}
	b.WriteString("audiences\n")
	for _, a := range e.Audiences {
		hidden := ""
		if len(a.Hidden) > 0 {
			hidden = ", without " + strings.Join(a.Hidden, ", ")
		}
		fmt.Fprintf(b, "  %s sees %s by %s%s\n", a.Name, a.Table, strings.Join(a.Holds, ", "), hidden)
	}
	b.WriteString("readers who pool what they have of a table\n")
	for _, c := range e.Coalitions {
		finest := c.Finest
		if finest == "" {
			finest = "its own readers"
		}
		fmt.Fprintf(b, "  %s: %s with %s: %s", c.Table, finest, anyOf(c.With), strings.Join(c.Holds, ", "))
		for i, column := range c.Joined {
			between := "; they join "
			if i > 0 {
				between = ", "
			}
			fmt.Fprintf(b, "%s%s (of %s)", between, column.Column, strings.Join(column.Of, " and "))
		}
		b.WriteByte('\n')
	}
}

// anyOf is some of several.
func anyOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "any of " + strings.Join(names, ", ")
}
