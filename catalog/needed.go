package catalog

import "slices"

// NeededColumns returns the columns that publishing a table needs of it: those that the policy
// names, unless they are identifying, the subject's, and those by which tables of people are linked.
// What tells the table's rows apart is needed as well.
func (p Policy) NeededColumns(t TablePolicy) []string {
	var needed []string
	add := func(columns ...string) {
		for _, c := range columns {
			if c != "" && !slices.Contains(needed, c) {
				needed = append(needed, c)
			}
		}
	}
	for _, c := range t.Columns {
		if c.Role != Identifying {
			add(c.Name)
		}
	}
	add(t.Subject)
	for _, people := range p.People {
		if people.Root == t.Table {
			add(people.Key...)
		}
		for _, member := range people.Tables {
			if member.Table == t.Table {
				add(slices.Concat(member.Key, member.Link())...)
			}
		}
	}
	return needed
}
