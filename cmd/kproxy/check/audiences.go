package check

import (
	"fmt"
	"slices"
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
	// NotShown says that the audience does not see the table, and others that are released with it.
	NotShown bool `json:"not_shown,omitempty"`
	// Unseen are those of Holds that speak of hidden columns: the audience is told nothing of them.
	Unseen []Unseen `json:"unseen,omitempty"`
}

// Unseen is a constraint that holds and speaks of columns that readers do not see.
type Unseen struct {
	Constraint string   `json:"constraint"`
	Columns    []string `json:"columns"`
}

func audiencesOf(policy catalog.Policy) (all []Audience) {
	for _, t := range policy.Tables {
		for _, a := range t.Audiences {
			one := Audience{Table: t.Table.String(), Name: a.Audience, Hidden: a.Hidden, NotShown: a.Unseen, Holds: texts(t.ConstraintsFor(a.Audience))}
			one.Unseen = unseen(t.ConstraintsFor(a.Audience), a.Hidden)
			all = append(all, one)
		}
	}
	return all
}

// unseen are the constraints that speak of hidden columns.
func unseen(holds []privacy.Spec, hidden []string) (all []Unseen) {
	for _, spec := range holds {
		var columns []string
		for _, name := range hidden {
			if spec.Of == name || slices.Contains(spec.Over, name) {
				columns = append(columns, name)
			}
		}
		if len(columns) > 0 {
			all = append(all, Unseen{Constraint: spec.String(), Columns: columns})
		}
	}
	return all
}

// listed joins constraints, and says of which columns readers do not see them.
func listed(holds []string, without []Unseen) string {
	all := slices.Clone(holds)
	for i, text := range all {
		for _, u := range without {
			if u.Constraint == text {
				all[i] = fmt.Sprintf("%s (%s unseen)", text, strings.Join(u.Columns, " and "))
			}
		}
	}
	return strings.Join(all, ", ")
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
	// TableOf are coarser audiences that see the table, where the finest member does not.
	TableOf []string `json:"table_of,omitempty"`
	// Joined are columns that the finest member does not see and a coarser one does.
	Joined []Joined `json:"joined,omitempty"`
	// Unseen are those of Holds that speak of columns that none of them sees.
	Unseen []Unseen `json:"unseen,omitempty"`
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
			one := Coalition{Table: t.Table.String(), Finest: c.Finest, Holds: texts(c.Holds), TableOf: c.Table}
			for _, coarser := range t.Seeing() {
				if slices.ContainsFunc(coalitions[i+1:], func(of catalog.Coalition) bool { return of.Finest == coarser.Audience }) {
					one.With = append(one.With, coarser.Audience)
				}
			}
			if len(one.With) == 0 {
				continue // nobody else sees anything of the table
			}
			for _, column := range c.Joined {
				one.Joined = append(one.Joined, Joined{column.Name, column.Of})
			}
			one.Unseen = unseen(c.Holds, slices.DeleteFunc(slices.Clone(t.HiddenFrom(c.Finest)), func(name string) bool {
				return slices.ContainsFunc(c.Joined, func(j catalog.JoinedColumn) bool { return j.Name == name })
			}))
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
		if a.NotShown {
			fmt.Fprintf(b, "  %s does not see %s\n", a.Name, a.Table)
			continue
		}
		hidden := ""
		if len(a.Hidden) > 0 {
			hidden = ", without " + strings.Join(a.Hidden, ", ")
		}
		fmt.Fprintf(b, "  %s sees %s by %s%s\n", a.Name, a.Table, listed(a.Holds, a.Unseen), hidden)
	}
	b.WriteString("readers who pool what they have of a table\n")
	for _, c := range e.Coalitions {
		finest := c.Finest
		if finest == "" {
			finest = "its own readers"
		}
		fmt.Fprintf(b, "  %s: %s with %s: %s", c.Table, finest, anyOf(c.With), listed(c.Holds, c.Unseen))
		if len(c.TableOf) > 0 {
			fmt.Fprintf(b, "; they join the table (of %s)\n", strings.Join(c.TableOf, " and "))
			continue
		}
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
