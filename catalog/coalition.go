package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Coalition is what readers of a table who pool their releases hold together: readers of one audience, the finest
// member, and of any coarser ones. It bounds every set of audiences with that finest member: all that such a set
// tells follows from the finest member's classes, with the columns of all members.
type Coalition struct {
	// Finest is the finest member; empty for the table's own readers.
	Finest string
	// Table are the coarser audiences that see the table, where the finest member does not.
	Table []string
	// Joined are the columns that coarser audiences see and the finest member does not, in the policy's order.
	Joined []JoinedColumn
	// Holds are the constraints that the finest member's classes satisfy, with all columns.
	Holds []privacy.Spec
}

// JoinedColumn is a column that a coalition has from a coarser member.
type JoinedColumn struct {
	Name string
	// Of are the coarser audiences that see it.
	Of []string
	// Lost are constraints on the column that hold for what one of these audiences sees, and that the
	// finest member's classes need not satisfy.
	Lost []privacy.Spec
}

// Coalitions are the table's own readers with all audiences, and each audience with the coarser ones, the finest
// first. There are none without audiences.
func (t TablePolicy) Coalitions() (all []Coalition) {
	if len(t.Audiences) == 0 {
		return nil
	}
	for i, finest := range append([]string{""}, t.audienceNames()...) {
		c := Coalition{Finest: finest, Holds: t.ConstraintsFor(finest)}
		if i > 0 && t.Audiences[i-1].Unseen {
			for _, coarser := range t.Seeing() {
				if t.place(coarser.Audience) >= i {
					c.Table = append(c.Table, coarser.Audience)
				}
			}
		}
		for _, column := range t.Columns {
			if column.Role == Identifying || t.sees(finest, column.Name) {
				continue
			}
			joined := JoinedColumn{Name: column.Name}
			for _, coarser := range t.Audiences[i:] {
				if coarser.Sees(column.Name) {
					joined.Of = append(joined.Of, coarser.Audience)
					joined.Lost = appendNotImplied(joined.Lost, c.Holds, t.ConstraintsFor(coarser.Audience), column.Name)
				}
			}
			if len(joined.Of) > 0 {
				c.Joined = append(c.Joined, joined)
			}
		}
		all = append(all, c)
	}
	return all
}

// sees reports whether an audience sees a published column. The empty name is that of the table's own readers.
func (t TablePolicy) sees(audience, column string) bool {
	if audience == "" {
		return !slices.Contains(t.Hidden, column)
	}
	return t.Audiences[t.place(audience)].Sees(column)
}

func (t TablePolicy) audienceNames() (names []string) {
	for _, a := range t.Audiences {
		names = append(names, a.Audience)
	}
	return names
}

// appendNotImplied appends the constraints on a column that do not follow from those that hold.
func appendNotImplied(to, holds, promised []privacy.Spec, column string) []privacy.Spec {
	for _, spec := range promised {
		follows := func(held privacy.Spec) bool { return held.Implies(spec) }
		if spec.Of == column && !slices.ContainsFunc(holds, follows) && !slices.ContainsFunc(to, follows) {
			to = append(slices.DeleteFunc(to, spec.Implies), spec)
		}
	}
	return to
}

// Name is the finest member in words.
func (c Coalition) Name() string {
	if c.Finest == "" {
		return "the table's own readers"
	}
	return c.Finest
}

// Breach tells why the coalition would weaken a column's protection, and what to do; empty where it does not.
func (c Coalition) Breach(column JoinedColumn) (what, fix string) {
	if len(column.Lost) == 0 {
		return "", ""
	}
	where := "the table"
	if c.Finest != "" {
		where += ", or for an audience before " + c.Finest + " that sees it"
	}
	spec := column.Lost[0]
	return fmt.Sprintf("%s holds of it for %s, who see it, and not in the classes that %s see without it: who pools both releases joins them",
			spec, strings.Join(column.Of, " and "), c.Name()),
		fmt.Sprintf("state %s for %s, or hide the column from %s", spec, where, strings.Join(column.Of, " and "))
}

// checkCoalitions refuses policies under which readers who pool their releases learn more about a column than
// those of them who see it may.
func (b *builder) checkCoalitions() {
	t := b.publication.Policy
	for _, c := range t.Coalitions() {
		for _, column := range c.Joined {
			if what, fix := c.Breach(column); what != "" {
				b.problem(column.Name, what, fix)
			}
		}
	}
	for _, name := range t.Hidden {
		switch column, named := t.Column(name); {
		case !named || column.Role == Identifying:
			b.problem(name, "is hidden from the table's own readers, and is not published", "remove it from hide")
		case !slices.ContainsFunc(t.Audiences, func(a AudiencePolicy) bool { return a.Sees(name) }):
			b.problem(name, "is hidden from the table's own readers and from all audiences", "leave it out of the policy, or have an audience see it")
		}
	}
	if quasi := t.ByRole(QuasiIdentifying); len(quasi) > 0 && !slices.ContainsFunc(quasi, func(c ColumnPolicy) bool { return !slices.Contains(t.Hidden, c.Name) }) {
		b.problem("", "hides all its quasi-identifying columns from its own readers", "leave one of them out of hide")
	}
}
