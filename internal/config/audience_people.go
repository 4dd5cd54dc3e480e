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
	Constraints []personConstraint     `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 25}]" empty:"the audience sees the same classes as the one before" doc:"How many persons are alike, at least, in what the audience sees: {k: 25}, more than in the tables and for the audiences before."`
	Hide        []string               `yaml:"hide" as:"literal" each:"column" fix:"a list: [public.visits.ward]" doc:"Columns of the tables, as schema.table.column, that the audience does not see."`
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
		d.wrong(n, "what an audience sees of "+what+" is what the one before sees", "write constraints: with a greater k, as in [{k: 25}], or hide: with columns")
	}
}

// showPeople has audiences see the tables of kinds of persons, all of those of a kind.
func (d *decoder) showPeople(tables []table, people []catalog.People, kinds []personKind, a *audience) {
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
		case kinds[place].Updates.Mode == catalog.Guarded && people[place].CountsValues():
			d.wrong(key, fmt.Sprintf("the tables of %s have guarded updates and constraints on sensitive values, and audiences see tables of persons with guarded updates where k is the only constraint", seen.Kind), "remove it here, state k alone in people, or write updates: immediate for it")
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
	held, before := kind.K(), ""
	for _, a := range members[0].policy.Audiences {
		if a.Audience == audience {
			d.wrong(d.keys[seen], fmt.Sprintf("audience %s has %s twice", audience, kind.Kind), "remove one of them")
			return
		}
		before = a.Audience
		for _, spec := range a.Constraints {
			held = max(held, spec.K)
		}
	}
	if at := d.at(&seen.Columns); at != nil && members[0].policy.Updates.Mode == catalog.Guarded {
		d.wrong(at, fmt.Sprintf("the tables of %s have guarded updates, and audiences see columns of such tables as finer readers do", kind.Kind), "remove columns here, hide columns, or write updates: immediate")
		return
	}
	stated := d.statedK(seen, held, before)
	for _, m := range members {
		policy := catalog.AudiencePolicy{Audience: audience, Constraints: stated, Hidden: m.hiddenFrom(d.hiddenOf(m, audience, seen), d.shownOf(m, seen))}
		m.checkVisible(d, d.at(&seen.Hide), policy.Hidden)
		policy.Columns = m.coarser(d, before, d.columnsOf(m, seen), policy.Hidden)
		m.policy.Audiences = append(m.policy.Audiences, policy)
		m.checkCoalitions(d, d.keys[seen], kind.Member(m.policy, m.Table))
	}
	d.checkColumns(kind, seen)
}

// checkColumns wants columns to be those of tables of the kind.
func (d *decoder) checkColumns(kind catalog.People, seen *audiencePeople) {
	check := func(at *yaml.Node, name, what string) {
		if table, _, ok := catalog.ParseQualifiedColumn(name); name != "" && (!ok || !slices.Contains(kind.Names(), table)) {
			d.wrong(at, fmt.Sprintf("column %s is %s, which is of no table of %s", quote(name), what, kind.Kind), "name a column of one of its tables as schema.table.column")
		}
	}
	for i, name := range seen.Hide {
		check(d.at(&seen.Hide[i]), name, "hidden")
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

// statedK are the constraints that are stated for an audience: those of k alone, each greater than what holds
// before.
func (d *decoder) statedK(seen *audiencePeople, held int, before string) (stated []privacy.Spec) {
	for i := range seen.Constraints {
		c := &seen.Constraints[i]
		whose := "the tables' own readers"
		if before != "" {
			whose = "audience " + before
		}
		switch at := d.at(c); {
		case d.flawed[c]: // already reported
		case c.spec.Model != privacy.K:
			d.wrong(at, fmt.Sprintf("%v is stated for an audience of persons in several tables: unions of classes are made by the number of persons alone", c.spec), "state it in people, where it holds for all, or write {k: 25}")
		case len(stated) > 0:
			d.wrong(at, "k stands twice in what an audience sees", "keep the greater one")
		case c.spec.K <= held:
			d.wrong(at, fmt.Sprintf("%v holds for %s already, whose k is %d: audiences stand from the finest to the coarsest, and what each sees is made of the classes of the one before", c.spec, whose, held), "remove it, or state a greater k")
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

// checkPeopleApart refuses to show an audience single tables of those that are released together.
func (d *decoder) checkPeopleApart(written []audience, people []catalog.People) {
	for i := range written {
		for j := range written[i].Tables {
			seen := &written[i].Tables[j]
			for _, kind := range people {
				if slices.Contains(kind.Names(), seen.Table) {
					d.wrong(d.keys[seen], fmt.Sprintf("table %s is released together with others of %s, of which an audience sees all tables or none", seen.Table, kind.Kind), fmt.Sprintf("remove the table here, and write people: {%s: {constraints: [{k: 25}]}} beside tables", kind.Kind))
				}
			}
		}
	}
}
