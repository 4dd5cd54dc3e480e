package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// peopleChecks compares kinds of persons with the tables that they name.
type peopleChecks struct {
	*decoder
	tables map[catalog.Name]*table
	kinds  map[catalog.Name]string // of the tables seen so far
}

// checkPeople sees to it that the tables of each kind of person are there, hang together,
// and belong to no other kind. It returns the kinds, and completes the checks of tables
// that belong to none.
func (d *decoder) checkPeople(tables []table, written []personKind, updates bool) []catalog.People {
	c := peopleChecks{decoder: d, tables: make(map[catalog.Name]*table), kinds: make(map[catalog.Name]string)}
	for i := range tables {
		c.tables[tables[i].Table] = &tables[i]
	}
	var kinds []catalog.People
	for i := range written {
		kinds = append(kinds, c.kind(&written[i]))
	}
	for i := range tables {
		if _, released := c.kinds[tables[i].Table]; !released {
			tables[i].checkApart(d, updates, len(written) > 0)
		}
	}
	return kinds
}

func (c *peopleChecks) kind(k *personKind) catalog.People {
	c.pace(k)
	p := catalog.People{Kind: k.Kind, Root: k.Root, Key: k.Key, Knows: k.Knows.policy()}
	if at := c.at(&k.Root); at != nil && k.Root != (catalog.Name{}) && c.claim(k.Root, k, at) {
		c.withoutRoles(k.Root, k.Key)
		c.method(k)
	}
	byName := make(map[catalog.Name]*personTable)
	for i := range k.Tables {
		t := &k.Tables[i]
		switch key := c.keys[t]; {
		case t.Table == (catalog.Name{}): // already reported
		case t.Table == k.Root:
			c.wrong(key, fmt.Sprintf("table %s is the root of %s and cannot hold rows of its persons, too: a row that refers to another row of the same table is about two persons", t.Table, k.Kind),
				"remove it here, and leave the column that refers to another person out of the columns")
		case byName[t.Table] != nil:
			c.wrong(key, fmt.Sprintf("table %s stands twice in %s, first on line %d", t.Table, k.Kind, c.keys[byName[t.Table]].Line), "remove one of them")
		case c.claim(t.Table, k, key):
			byName[t.Table] = t
			c.withoutRoles(t.Table, t.policy().Keys())
			c.order(k, t)
		}
	}
	for _, t := range byName {
		c.link(k, t, byName)
		c.unknown(t, byName)
	}
	p.Tables = c.sorted(k, byName)
	p.Constraints = c.constraints(k)
	return p
}

// pace sets what the pace of the updates stands for, unless it is written.
func (c *peopleChecks) pace(k *personKind) {
	at := c.at(&k.Updates.Pace)
	if at == nil || !c.got(&k.Updates.Pace) {
		return
	}
	if k.Knows.All {
		c.wrong(at, "a pace goes with knows: {rows: 1}; where all is known, rows wait until every person of a class has one", "remove pace; rows_within says after how long rows appear without keys")
		return
	}
	if c.at(&k.Updates.RowsWithin) == nil {
		k.Updates.RowsWithin = k.Updates.Pace.RowsWithin()
	}
	if c.at(&k.Knows.Crowd) == nil {
		k.Knows.Crowd = k.Updates.Pace.Crowd()
	}
}

// method gives the root's table the method by which persons are divided.
func (c *peopleChecks) method(k *personKind) {
	if at := c.at(&k.Method); at != nil && k.Method != "" && !slices.Contains(methods.OfPersons(), k.Method) {
		c.wrong(at, fmt.Sprintf("method %s does not divide the persons of several tables", k.Method), "choose one of "+strings.Join(methods.OfPersons(), ", "))
		return
	}
	c.tables[k.Root].policy.Method, c.tables[k.Root].policy.Effort = k.Method, k.Effort
}

// claim takes a table for a kind. It is false where there is no such table, or where it
// belongs to another kind.
func (c *peopleChecks) claim(name catalog.Name, k *personKind, at *yaml.Node) bool {
	t, known := c.tables[name]
	if !known {
		var names []string
		for name := range c.tables {
			names = append(names, name.String())
		}
		slices.Sort(names)
		c.wrong(at, fmt.Sprintf("table %s of %s does not stand below tables", name, k.Kind), suggestion(name.String(), names, "write it there, with the roles of its columns; there are"))
		return false
	}
	if other, taken := c.kinds[name]; taken && other != k.Kind {
		c.wrong(at, fmt.Sprintf("table %s belongs to %s already: its rows would be about two persons, and whoever knows one of them could tell who the other is", name, other),
			"keep it in one kind, and leave the key of the other out of its columns")
		return false
	}
	c.kinds[name] = k.Kind
	c.withoutSettings(t, k.Kind)
	if k.Updates.Mode == catalog.Guarded {
		t.policy.Updates = k.Updates.policy()
	}
	return true
}

// withoutSettings refuses what a table says of its own release.
func (c *peopleChecks) withoutSettings(t *table, kind string) {
	for _, setting := range []struct {
		key string
		of  any
	}{
		{"method", &t.Method},
		{"effort", &t.Effort},
		{"constraints", &t.Constraints},
		{"subject", &t.Subject},
		{"suppression", &t.Suppression},
		{"updates", &t.Updates},
		{"reanonymize", &t.Reanonymize},
		{"summary", &t.Summary},
		{"unpublishable", &t.Unpublishable},
	} {
		if at := c.at(setting.of); at != nil {
			c.wrong(at, fmt.Sprintf("table %s is released together with the others of %s, and has no %s of its own", t.Table, kind, setting.key),
				"remove it; what holds for all of these tables stands in people")
		}
	}
}

// withoutRoles refuses roles of columns that are published as pseudonyms.
func (c *peopleChecks) withoutRoles(name catalog.Name, keys []string) {
	t := c.tables[name]
	for i := range t.Columns {
		if column := &t.Columns[i]; slices.Contains(keys, column.Name) {
			c.wrong(c.keys[column], fmt.Sprintf("column %s of %s is a key in people, so it is published as a pseudonym and has no role", column.Name, name), "remove it from columns")
		}
	}
}

// order sees to it that rows are ordered by what is known of them, and windows by dates.
func (c *peopleChecks) order(k *personKind, t *personTable) {
	at, windows := c.at(&t.Order), k.Knows.Per > 0 && len(t.Person) > 0
	if at == nil {
		if windows {
			c.wrong(c.keys[t], fmt.Sprintf("table %s has no order, and windows (per, line %d) go by it", t.Table, c.at(&k.Knows.Per).Line), "write order: with a date column of the table, or remove per")
		}
		return
	}
	if !c.got(&t.Order) {
		return
	}
	of := c.tables[t.Table]
	i := slices.IndexFunc(of.Columns, func(column column) bool { return column.Name == t.Order })
	what := fmt.Sprintf("the order of %s is column %s", t.Table, quote(t.Order))
	if i < 0 {
		c.wrong(at, what+", which the table does not name", suggestion(t.Order, namesOf(of.policy.ByRole(catalog.QuasiIdentifying)), "write one of its quasi-identifying columns:"))
		return
	}
	tree := &of.Columns[i].Hierarchy
	switch role := of.Columns[i].Role; {
	case role == 0: // already reported
	case role != catalog.QuasiIdentifying:
		c.wrong(at, fmt.Sprintf("%s, which is %s: an outsider could know what the rows are ordered by", what, role), "give the column the role quasi-identifying, or name another")
	case !tree.known: // already reported
	case tree.Kind != hierarchy.Date && tree.Kind != hierarchy.Numeric:
		c.wrong(at, fmt.Sprintf("%s, which has %s hierarchy", what, article(tree.Kind.String())), "name a column with a date or a numeric hierarchy")
	case windows && tree.Kind != hierarchy.Date:
		c.wrong(at, fmt.Sprintf("%s, a number, and windows (per, line %d) lie on the calendar", what, c.at(&k.Knows.Per).Line), "name a column with a date hierarchy, or remove per")
	}
}

// unknown sees to it that nothing is to be known of tables of which no row is.
func (c *peopleChecks) unknown(t *personTable, all map[catalog.Name]*personTable) {
	if t.Known {
		if parent := all[t.Through]; parent != nil && !parent.Known {
			c.wrong(c.at(&parent.Known), fmt.Sprintf("no row of %s is known, and rows of %s, which belong to them, can be: whoever knows one knows both", t.Through, t.Table),
				"write known: false for "+t.Table.String()+", too, or remove it here")
		}
		return
	}
	of := c.tables[t.Table]
	for i := range of.Columns {
		if column := &of.Columns[i]; column.Role == catalog.QuasiIdentifying {
			c.wrong(c.keys[column], fmt.Sprintf("column %s of %s is quasi-identifying, so an outsider may know it, and line %d says that no row of the table is known", column.Name, t.Table, c.at(&t.Known).Line),
				"give it the role sensitive or insensitive, or remove known: false")
		}
	}
}

// link sees to it that columns hold as many values as the key that they refer to has.
func (c *peopleChecks) link(k *personKind, t *personTable, all map[catalog.Name]*personTable) {
	if c.got(&t.Person) && c.got(&k.Key) && len(t.Person) != len(k.Key) {
		c.wrong(c.at(&t.Person), fmt.Sprintf("person of %s is %s, and the key of %s is %s", t.Table, counted(len(t.Person), "column"), k.Kind, counted(len(k.Key), "column")),
			"name one column for each of the key's, in its order")
	}
	if !c.got(&t.Through) {
		return
	}
	at, parent := c.at(&t.Through), all[t.Through]
	switch {
	case t.Through == t.Table:
		c.wrong(at, fmt.Sprintf("rows of %s belong to rows of the same table: chains of rows are not supported, since they have any length", t.Table),
			"write person: with the column that holds the root's key, and leave the column that refers to another row out of the columns")
	case t.Through == k.Root:
		c.wrong(at, fmt.Sprintf("%s is through the root: its rows belong to persons directly", t.Table), "write person: in place of through: and by:")
	case parent == nil:
		var names []string
		for name := range all {
			names = append(names, name.String())
		}
		slices.Sort(names)
		c.wrong(at, fmt.Sprintf("%s is through %s, which is no table of %s", t.Table, t.Through, k.Kind), suggestion(t.Through.String(), names, "name it in the block; there are"))
	case c.at(&parent.Key) == nil:
		c.wrong(c.keys[parent], fmt.Sprintf("table %s has no key, and %s is through it", t.Through, t.Table), "write key: with the column that "+t.Table.String()+" refers to")
	case c.got(&t.By) && c.got(&parent.Key) && len(t.By) != len(parent.Key):
		c.wrong(c.at(&t.By), fmt.Sprintf("by of %s is %s, and the key of %s is %s", t.Table, counted(len(t.By), "column"), t.Through, counted(len(parent.Key), "column")),
			"name one column for each of the key's, in its order")
	}
}

// sorted puts tables behind those that they are through. Tables that lead to no person
// are reported.
func (c *peopleChecks) sorted(k *personKind, all map[catalog.Name]*personTable) []catalog.PeopleTable {
	var sorted []catalog.PeopleTable
	placed := make(map[catalog.Name]bool)
	for more := true; more; {
		more = false
		for i := range k.Tables {
			t := &k.Tables[i]
			if all[t.Table] != t || placed[t.Table] || t.Through != (catalog.Name{}) && all[t.Through] != nil && !placed[t.Through] {
				continue
			}
			sorted, placed[t.Table], more = append(sorted, t.policy()), true, true
		}
	}
	for i := range k.Tables {
		if t := &k.Tables[i]; all[t.Table] == t && !placed[t.Table] && t.Through != t.Table {
			c.wrong(c.at(&t.Through), fmt.Sprintf("table %s leads to no person: what it is through goes round in a circle", t.Table), "write person: in one of these tables")
		}
	}
	return sorted
}

// constraints sees to it that there is a k, and that the others speak of sensitive columns
// of the block's tables.
func (c *peopleChecks) constraints(k *personKind) []privacy.Spec {
	var specs []privacy.Spec
	someK := false
	for i := range k.Constraints {
		one := &k.Constraints[i]
		if c.flawed[one] {
			someK = someK || c.at(&one.K) != nil
			continue
		}
		if one.spec.Model == privacy.K && someK {
			c.wrong(c.at(one), "k stands twice in the constraints of "+k.Kind, "keep the greater one")
		}
		someK = someK || one.spec.Model == privacy.K
		if one.Of == "" || c.bounded(k, one) {
			specs = append(specs, one.spec)
		}
	}
	if at := c.at(&k.Constraints); c.got(&k.Constraints) && !someK {
		c.wrong(at, "the constraints of "+k.Kind+" have no k", "add {k: 5}, or how many persons no one may be told apart from")
	}
	return specs
}

// bounded reports whether a constraint speaks of a sensitive column of one of the tables.
func (c *peopleChecks) bounded(k *personKind, one *personConstraint) bool {
	return c.boundedIn(one, k.Kind, func(name catalog.Name) *table {
		if c.kinds[name] != k.Kind {
			return nil
		}
		return c.tables[name]
	})
}

// boundedIn reports whether a constraint speaks of a sensitive column of a table of a kind of person; of finds these, nil for another one.
func (d *decoder) boundedIn(one *personConstraint, kind string, of func(catalog.Name) *table) bool {
	at := d.at(&one.Of)
	name, column, ok := catalog.ParseQualifiedColumn(one.Of)
	if !ok {
		d.wrong(at, fmt.Sprintf("the constraint is of %s, which does not say of which table", quote(one.Of)), "write schema.table.column")
		return false
	}
	t := of(name)
	if t == nil {
		d.wrong(at, fmt.Sprintf("the constraint is of a column of %s, which is no table of %s", name, kind), "name a column of one of its tables as schema.table.column")
		return false
	}
	before := len(d.problems)
	t.checkRole(d, "the constraint is of column", column, at, catalog.Sensitive)
	return len(d.problems) == before
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
