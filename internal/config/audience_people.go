package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// audiencePeople is what an audience sees of the tables of a kind of person, as it is written.
type audiencePeople struct {
	Kind        string                 `yaml:",name" what:"a kind of person" as:"name"`
	Constraints []personConstraint     `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 25}]" empty:"the audience sees the same classes as the one before" doc:"What every class of persons satisfies that the audience sees, counted in persons, besides the constraints of people and of the audiences before. Where updates are guarded, constraints on sensitive values hold in each window; of the root's, they need knows: all."`
	Hide        []string               `yaml:"hide" as:"literal" each:"table or column" fix:"a list: [public.visits, public.patients.city]" doc:"Tables, as schema.table, and columns of the others, as schema.table.column, that the audience does not see."`
	Columns     []audiencePeopleColumn `yaml:"columns" each:"column" empty:"the audience sees the columns as the one before" fix:"public.patients.birth_date: {units: [year, decade]}" doc:"Quasi-identifying columns of the tables, as schema.table.column, that the audience sees coarser than finer readers do, or in another form; so do the audiences after it."`
	Show        []string               `yaml:"show" as:"literal" each:"column" fix:"a list: [public.visits.ward]" doc:"Columns, as schema.table.column, that the tables hide from their own readers and the audience sees."`
}

// audiencePeopleColumn is an audienceColumn of one of several tables.
type audiencePeopleColumn struct {
	Name    string           `yaml:",name" what:"a column's name" as:"literal"`
	Steps   []float64        `yaml:"steps" each:"a step" range:"0<..<1000000000000000" order:"ascending" fix:"a list of widths: [10, 50]" empty:"no interval has a width" doc:"Of numeric: as for tables."`
	Units   []hierarchy.Unit `yaml:"units" each:"a unit" order:"ascending" fix:"a list of units: [year, decade]" empty:"no period has a length" doc:"Of date: as for tables."`
	Keep    []int            `yaml:"keep" each:"a number of leading characters" range:"1..1000" order:"descending" fix:"a list of numbers of leading characters: [2]" empty:"no level keeps anything" doc:"Of prefix: as for tables."`
	Depth   int              `yaml:"depth" range:"1..64" doc:"Of categorical: as for tables."`
	Publish catalog.Form     `yaml:"publish" doc:"As a value, a range, or both, as for tables."`
}

func (c *audiencePeopleColumn) check(d *decoder, n *yaml.Node, what string) {
	(*audienceColumn)(c).check(d, n, what)
}

func (p *audiencePeople) check(d *decoder, n *yaml.Node, what string) {
	if n.Kind == yaml.MappingNode && d.at(&p.Constraints) == nil && d.at(&p.Hide) == nil && d.at(&p.Columns) == nil && d.at(&p.Show) == nil {
		d.wrong(n, "what an audience sees of "+what+" is what the one before sees", "write constraints: with a greater k, as in [{k: 25}], or hide: with tables or columns")
	}
}

// showPeople has audiences see the tables of kinds of persons.
func (d *decoder) showPeople(tables []table, people []catalog.People, a *audience) {
	for i := range a.People {
		seen := &a.People[i]
		key := d.keys[seen]
		var names []string
		for _, kind := range people {
			names = append(names, kind.Kind)
		}
		place := slices.Index(names, seen.Kind)
		switch {
		case seen.Kind == "": // already reported
		case place < 0:
			d.wrong(key, fmt.Sprintf("audience %s sees the tables of %s, which is no kind of person", a.Name, seen.Kind), suggestion(seen.Kind, names, "the kinds in people are"))
		default:
			d.showKind(tables, people[place], a.Name, seen)
		}
	}
}

// showKind has an audience see the tables of a kind of person.
func (d *decoder) showKind(tables []table, kind catalog.People, audience string, seen *audiencePeople) {
	var members []*table
	for i := range tables {
		if slices.Contains(kind.Names(), tables[i].Table) {
			members = append(members, &tables[i])
		}
	}
	if len(members) == 0 {
		return // already reported
	}
	held, before := slices.Clone(kind.Constraints), ""
	for _, a := range members[0].policy.Audiences {
		if a.Audience == audience {
			d.wrong(d.keys[seen], fmt.Sprintf("audience %s has %s twice", audience, kind.Kind), "remove one of them")
			return
		}
		before = a.Audience
		for _, spec := range a.Constraints {
			held = append(slices.DeleteFunc(held, spec.Implies), spec)
		}
	}
	if spec, unfollowed := kind.Unfollowed(); unfollowed && members[0].policy.Updates.Mode == catalog.Guarded {
		d.wrong(d.keys[seen], fmt.Sprintf("the tables of %s have guarded updates, and %v: that need not hold for what audiences see first of persons who are united", seen.Kind, spec), "remove the audience here, state k, l or, of another table than the root or with knows: all, alpha in people, or write updates: immediate for it")
		return
	}
	hidden := make(map[catalog.Name][]string, len(members))
	for _, m := range members {
		hidden[m.Table] = m.hiddenFrom(d.hiddenOf(m, audience, seen), d.shownOf(m, seen))
	}
	unseen := d.unseenOf(kind, audience, seen)
	sees := func(table catalog.Name, column string) bool {
		return !unseen[table] && !slices.Contains(hidden[table], column)
	}
	stated := d.statedFor(kind, members, seen, sees, held, before)
	for _, m := range members {
		policy := catalog.AudiencePolicy{Audience: audience, Constraints: stated, Unseen: unseen[m.Table], Hidden: hidden[m.Table]}
		m.checkVisible(d, d.at(&seen.Hide), policy.Hidden)
		policy.Columns = m.coarser(d, before, d.columnsOf(m, seen), policy.Hidden)
		m.policy.Audiences = append(m.policy.Audiences, policy)
		m.checkCoalitions(d, d.keys[seen], kind.Member(m.policy, m.Table))
	}
	d.checkColumns(kind, seen)
}

// checkColumns wants what is named to be tables of the kind, or columns of these.
func (d *decoder) checkColumns(kind catalog.People, seen *audiencePeople) {
	ofKind := func(table catalog.Name) bool { return slices.Contains(kind.Names(), table) }
	check := func(at *yaml.Node, name, what string) {
		if table, _, ok := catalog.ParseQualifiedColumn(name); name != "" && (!ok || !ofKind(table)) {
			d.wrong(at, fmt.Sprintf("column %s is %s, which is of no table of %s", quote(name), what, kind.Kind), "name a column of one of its tables as schema.table.column")
		}
	}
	for i, name := range seen.Hide {
		table, _, isColumn := catalog.ParseQualifiedColumn(name)
		if !isColumn {
			table, _ = hiddenTable(name)
		}
		if name != "" && !ofKind(table) {
			d.wrong(d.at(&seen.Hide[i]), fmt.Sprintf("%s is hidden, which is neither a table of %s nor a column of one", quote(name), kind.Kind), "write a table as schema.table, or a column of one as schema.table.column")
		}
	}
	for i, name := range seen.Show {
		check(d.at(&seen.Show[i]), name, "shown")
	}
	for i := range seen.Columns {
		check(d.keys[&seen.Columns[i]], seen.Columns[i].Name, "named")
	}
}

// shownOf are the columns of a table that it hides from its own readers and shows to an audience.
func (d *decoder) shownOf(t *table, seen *audiencePeople) (shown []string) {
	for i, name := range seen.Show {
		if table, column, ok := catalog.ParseQualifiedColumn(name); ok && table == t.Table {
			t.checkShown(d, d.at(&seen.Show[i]), column, slices.Contains(seen.Hide, name))
			shown = append(shown, column)
		}
	}
	return shown
}

// columnsOf are the columns of a table that an audience sees in its own way.
func (d *decoder) columnsOf(t *table, seen *audiencePeople) (columns []seenColumn) {
	for i := range seen.Columns {
		c := &seen.Columns[i]
		if table, column, ok := catalog.ParseQualifiedColumn(c.Name); ok && table == t.Table {
			columns = append(columns, seenColumn{(*audienceColumn)(c), column, d.keys[c], d.at(c)})
		}
	}
	return columns
}

// statedFor are the constraints that are stated for an audience: of k and of sensitive columns that it sees, each stricter than what
// holds before.
func (d *decoder) statedFor(kind catalog.People, members []*table, seen *audiencePeople, sees func(catalog.Name, string) bool, held []privacy.Spec, before string) (stated []privacy.Spec) {
	whose := "the tables' own readers"
	if before != "" {
		whose = "audience " + before
	}
	member := func(name catalog.Name) *table {
		if i := slices.IndexFunc(members, func(m *table) bool { return m.Table == name }); i >= 0 {
			return members[i]
		}
		return nil
	}
	for i := range seen.Constraints {
		c := &seen.Constraints[i]
		place := slices.IndexFunc(held, func(spec privacy.Spec) bool { return spec.Implies(c.spec) })
		name, column, _ := catalog.ParseQualifiedColumn(c.Of)
		switch at, isK := d.at(c), c.spec.Model == privacy.K; {
		case d.flawed[c] || !isK && c.Of == "": // already reported
		case !isK && !d.boundedIn(c, kind.Kind, member): // reported
		case members[0].policy.Updates.Mode == catalog.Guarded && !kind.MayState(c.spec):
			d.wrong(at, fmt.Sprintf("%v is stated for an audience, of a column of the root, and updates are guarded: whose rows a window shows is not published, so that values of root records cannot decide which are shown", c.spec),
				"state it in people, or of a column of another table; or write knows: all or updates: immediate in people")
		case isK && slices.ContainsFunc(stated, func(spec privacy.Spec) bool { return spec.Model == privacy.K }):
			d.wrong(at, "k stands twice in what an audience sees", "keep the greater one")
		case !isK && !sees(name, column):
			d.wrong(at, fmt.Sprintf("%v is of a column that is hidden from the audience", c.spec), "show it the column, or state the constraint in people or for an audience before it that sees the column: what holds for these holds in any case")
		case place >= 0:
			d.notStricter(at, c.spec, held[place], whose)
		default:
			stated = append(stated, c.spec)
		}
	}
	return stated
}

// hiddenOf are the columns of a table that are hidden from an audience.
func (d *decoder) hiddenOf(t *table, audience string, seen *audiencePeople) (hidden []string) {
	for i, name := range seen.Hide {
		table, column, ok := catalog.ParseQualifiedColumn(name)
		if !ok || table != t.Table {
			continue
		}
		if of, named := t.policy.Column(column); !named || of.Role == catalog.Identifying {
			d.wrong(d.at(&seen.Hide[i]), fmt.Sprintf("column %s is hidden, but table %s does not publish it by a role", quote(column), t.Table), "remove it from hide; keys are pseudonyms, and are shown to all")
			continue
		}
		hidden = append(hidden, column)
		d.places.hidden[hiddenColumn{audience, t.Table, column}] = d.at(&seen.Hide[i]).Line
	}
	return hidden
}

// checkPeopleApart refuses tables that are released together where those stand that are released by themselves.
func (d *decoder) checkPeopleApart(written []audience, people []catalog.People) {
	for i := range written {
		for j := range written[i].Tables {
			seen := &written[i].Tables[j]
			for _, kind := range people {
				if slices.Contains(kind.Names(), seen.Table) {
					d.wrong(d.keys[seen], fmt.Sprintf("table %s is released together with others of %s, which an audience sees by people", seen.Table, kind.Kind), fmt.Sprintf("remove the table here, and write people: {%s: {constraints: [{k: 25}]}} beside tables, with hide: for tables that it is not to see", kind.Kind))
				}
			}
		}
	}
}
