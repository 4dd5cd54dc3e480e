package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// An audience may see some tables of a kind of person, and hide the others. Releases of all are made for it, as the
// tables are released together, and as those of audiences after it are made of these.

// hiddenTable is the table that an entry of hide names; false where it names a column, or nothing.
func hiddenTable(text string) (catalog.Name, bool) {
	parts, ok := catalog.NameParts(text)
	if !ok || len(parts) != 2 {
		return catalog.Name{}, false
	}
	return catalog.Name{Schema: parts[0], Relation: parts[1]}, true
}

// unseenOf are the tables of a kind of person that are hidden from an audience. It refuses to hide all, and to say more
// of one that is hidden.
func (d *decoder) unseenOf(kind catalog.People, audience string, seen *audiencePeople) map[catalog.Name]bool {
	unseen := make(map[catalog.Name]bool)
	for i, text := range seen.Hide {
		table, whole := hiddenTable(text)
		if !whole || !slices.Contains(kind.Names(), table) {
			continue
		}
		at := d.at(&seen.Hide[i])
		d.places.hidden[hiddenColumn{audience: audience, table: table}] = at.Line
		if unseen[table] = true; len(unseen) == len(kind.Names()) {
			d.wrong(at, fmt.Sprintf("audience %s sees no table of %s", audience, kind.Kind), "leave one of them out of hide, or remove "+kind.Kind+" from the audience")
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	contradict := func(at *yaml.Node, name, section string) {
		if table, column, ok := catalog.ParseQualifiedColumn(name); ok && unseen[table] {
			d.wrong(at, fmt.Sprintf("column %s stands in %s, and table %s is hidden from the audience", quote(column), section, table), "remove one of them")
		}
	}
	for i, name := range seen.Hide {
		contradict(d.at(&seen.Hide[i]), name, "hide")
	}
	for i, name := range seen.Show {
		contradict(d.at(&seen.Show[i]), name, "show")
	}
	for i := range seen.Columns {
		contradict(d.keys[&seen.Columns[i]], seen.Columns[i].Name, "columns")
	}
	return unseen
}
