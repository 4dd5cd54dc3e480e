package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// audience is an audience as it is written.
type audience struct {
	Name    string           `yaml:",name" what:"an audience's name" as:"audience"`
	Readers []string         `yaml:"readers" what:"the list of readers of %s" as:"name" each:"a reader" single:"yes" fix:"a name of upstream.readers, or a list of them" need:"readers: with the reader roles, of upstream.readers, whose users belong to it" doc:"The reader roles, of upstream.readers, whose users belong to the audience. A role belongs to one audience at most; upstream.reader, and roles in none, read what tables says."`
	Tables  []audienceTable  `yaml:"tables" each:"table" empty:"the audience sees nothing" fix:"schema.table: {constraints: [{k: 25}]}" doc:"The protected tables that the audience sees, with the listed views that read no other protected table. It sees no others."`
	People  []audiencePeople `yaml:"people" each:"kind of person" empty:"the audience sees nothing of them" fix:"patient: {constraints: [{k: 25}]}" doc:"The kinds of persons, of people, whose tables the audience sees: all of a kind but those that it hides, which it joins as others do."`
}

func (a *audience) check(d *decoder, n *yaml.Node, what string) {
	if n.Kind == yaml.MappingNode && d.at(&a.Tables) == nil && d.at(&a.People) == nil {
		d.wrong(n, what+" has no tables", "write tables: with the protected tables that it sees, or people: with the kinds of persons whose tables it sees")
	}
}

// audienceColumn is how an audience sees a column, as it is written.
type audienceColumn struct {
	Name    string           `yaml:",name" what:"a column's name" as:"column"`
	Steps   []float64        `yaml:"steps" each:"a step" range:"0<..<1000000000000000" order:"ascending" fix:"a list of widths: [10, 50]" empty:"no interval has a width" doc:"Of numeric: the widths of intervals that the audience sees, from the narrowest to the widest, some of those of the column's hierarchy if it has any."`
	Units   []hierarchy.Unit `yaml:"units" each:"a unit" order:"ascending" fix:"a list of units: [year, decade]" empty:"no period has a length" doc:"Of date: the calendar's units that the audience sees, from the shortest to the longest, some of those of the column's hierarchy if it has any."`
	Keep    []int            `yaml:"keep" each:"a number of leading characters" range:"1..1000" order:"descending" fix:"a list of numbers of leading characters: [2]" empty:"no level keeps anything" doc:"Of prefix: the numbers of leading characters that the audience sees, some of those of the column's hierarchy if it has any."`
	Depth   int              `yaml:"depth" range:"1..64" doc:"Of categorical: how many levels below * the labels lie at most that the audience sees. It sees * for values that the taxonomy does not name."`
	Publish catalog.Form     `yaml:"publish" doc:"As a value, a range, or both, where it is not as finer readers see it. Who sees values alone comes before audiences that do."`
}

func (c *audienceColumn) check(d *decoder, n *yaml.Node, what string) {
	if c.limits().IsZero() && d.at(&c.Publish) == nil {
		d.wrong(n, what+" says nothing of how the audience sees it", "write steps, units, keep or depth, by the kind of its hierarchy, or publish; or remove it")
	}
}

func (c *audienceColumn) limits() hierarchy.Coarseness {
	return hierarchy.Coarseness{Steps: c.Steps, Units: c.Units, Keep: c.Keep, Depth: c.Depth}
}

// policy is what the column says.
func (c *audienceColumn) policy(d *decoder) catalog.AudienceColumn {
	of := catalog.AudienceColumn{Name: c.Name, Limits: c.limits()}
	if d.at(&c.Publish) != nil {
		of.Publish = &c.Publish
	}
	return of
}

// audienceTable is what an audience sees of a table, as it is written.
type audienceTable struct {
	Table       catalog.Name     `yaml:",name" what:"a table's name" as:"table"`
	Constraints []constraint     `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 25}, {l: 3, of: diagnosis}]" empty:"the audience sees the same classes as the one before" doc:"What every class satisfies that the audience sees, besides the constraints of the table and of the audiences before."`
	Hide        []string         `yaml:"hide" as:"column" each:"column" fix:"a list: [ward]" doc:"Columns of the table that the audience does not see."`
	Columns     []audienceColumn `yaml:"columns" each:"column" empty:"the audience sees the columns as the one before" fix:"age: {steps: [10, 50]}" doc:"Quasi-identifying columns that the audience sees coarser than finer readers do, or in another form; so do the audiences after it."`
	Show        []string         `yaml:"show" as:"column" each:"column" fix:"a list: [salary]" doc:"Columns that the table hides from its own readers and the audience sees."`
}

func (t *audienceTable) check(d *decoder, n *yaml.Node, what string) {
	if n.Kind == yaml.MappingNode && d.at(&t.Constraints) == nil && d.at(&t.Hide) == nil && d.at(&t.Show) == nil && d.at(&t.Columns) == nil {
		d.wrong(n, "what an audience sees of "+what+" is what the one before sees", "write constraints: with what is stricter, as in [{k: 25}], or hide: with columns")
	}
}

func parseAudience(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !catalog.IsAudienceName(text) {
		return nil, what + " " + quote(text) + " is none", "write a lower-case letter and up to 15 lower-case letters or digits: schemas bear the name"
	}
	return text, "", ""
}

// checkAudiences sees to it that audiences see tables that there are, each stricter than the one
// before, and tells the tables' policies.
func (d *decoder) checkAudiences(tables []table, people []catalog.People, written []audience) (all []catalog.Audience) {
	for i := range written {
		a := &written[i]
		if slices.ContainsFunc(all, func(before catalog.Audience) bool { return before.Name == a.Name }) {
			d.wrong(d.keys[a], "audience "+a.Name+" stands twice", "remove one of them")
			continue
		}
		all = append(all, catalog.Audience{Name: a.Name})
		d.showPeople(tables, people, a)
		var names []string
		for j := range tables {
			names = append(names, tables[j].Table.String())
		}
		for j := range a.Tables {
			seen := &a.Tables[j]
			place := slices.IndexFunc(tables, func(t table) bool { return t.Table == seen.Table })
			switch {
			case seen.Table == (catalog.Name{}): // already reported
			case slices.ContainsFunc(people, func(kind catalog.People) bool { return slices.Contains(kind.Names(), seen.Table) }): // already reported
			case place < 0:
				d.wrong(d.keys[seen], fmt.Sprintf("audience %s sees table %s, which is not protected", a.Name, seen.Table), suggestion(seen.Table.String(), names, "the protected tables are"))
			default:
				tables[place].show(d, a.Name, seen)
			}
		}
	}
	for i := range tables {
		tables[i].checkReserved(d)
	}
	return all
}

// show has an audience see the table.
func (t *table) show(d *decoder, name string, seen *audienceTable) {
	key := d.keys[seen]
	before := ""
	for _, a := range t.policy.Audiences {
		if before = a.Audience; before == name {
			d.wrong(key, fmt.Sprintf("audience %s has table %s twice", name, t.Table), "remove one of them")
			return
		}
	}
	policy := catalog.AudiencePolicy{Audience: name, Hidden: t.hiddenFrom(seen.Hide, seen.Show)}
	var stated []*constraint
	for i := range seen.Constraints {
		c := &seen.Constraints[i]
		if !c.complete {
			continue
		}
		if what, fix := t.policy.Misplaced(c.spec); what != "" {
			at := d.at(&c.Over)
			if at == nil {
				at = d.at(c)
			}
			d.wrong(at, what, fix)
			continue
		}
		stated, policy.Constraints = append(stated, c), append(policy.Constraints, c.spec)
	}
	t.checkNamed(d, stated)
	t.checkStricter(d, before, stated)
	t.checkHidden(d, name, seen, policy.Hidden)
	for i, column := range seen.Show {
		t.checkShown(d, d.at(&seen.Show[i]), column, slices.Contains(seen.Hide, column))
	}
	var columns []seenColumn
	for i := range seen.Columns {
		c := &seen.Columns[i]
		columns = append(columns, seenColumn{c, c.Name, d.keys[c], d.at(c)})
	}
	policy.Columns = t.coarser(d, before, columns, policy.Hidden)
	t.policy.Audiences = append(t.policy.Audiences, policy)
	t.checkCoalitions(d, key, t.policy)
}

// hiddenFrom are the columns that an audience does not see: what it hides, and what the table does and is
// not shown here.
func (t *table) hiddenFrom(hide, show []string) []string {
	hidden := slices.Clone(hide)
	for _, name := range t.policy.Hidden {
		if !slices.Contains(show, name) && !slices.Contains(hidden, name) {
			hidden = append(hidden, name)
		}
	}
	return hidden
}

// seenColumn is a column that an audience sees in its own way, with where it is named and said how.
type seenColumn struct {
	*audienceColumn
	name    string
	key, at *yaml.Node
}

// coarser are the columns that an audience sees in its own way, without those that finer readers do not see
// well enough for that.
func (t *table) coarser(d *decoder, before string, seen []seenColumn, hidden []string) (all []catalog.AudienceColumn) {
	finer := t.policy
	if before != "" {
		finer, _ = t.policy.ForAll(before)
	}
	for _, c := range seen {
		column, named := finer.Column(c.name)
		switch {
		case c.name == "" || named && (column.Role == 0 || column.Role == catalog.QuasiIdentifying && column.Hierarchy == nil): // already reported
		case !named || column.Role != catalog.QuasiIdentifying:
			d.wrong(c.key, fmt.Sprintf("column %s is none of the quasi-identifying columns of table %s", quote(c.name), t.Table), suggestion(c.name, namesOf(t.policy.ByRole(catalog.QuasiIdentifying)), "they are"))
		case slices.Contains(hidden, c.name):
			d.wrong(c.key, fmt.Sprintf("column %s is hidden from the audience", quote(c.name)), "remove it from columns, or from hide")
		default:
			all = append(all, t.coarserColumn(d, c, column)...)
		}
	}
	return all
}

// coarserColumn is a column of the audience, of the policy for finer readers; none where there is a mistake.
func (t *table) coarserColumn(d *decoder, c seenColumn, finer catalog.ColumnPolicy) []catalog.AudienceColumn {
	spec, of := *finer.Hierarchy, c.policy(d)
	of.Name = c.name
	spec.Domain = domainOf[spec.Kind]
	if err := of.Limits.Within(spec, finer.Depth); err != nil {
		d.wrong(c.at, fmt.Sprintf("the audience cannot see column %s so: %s", quote(c.name), strings.ReplaceAll(err.Error(), "\n", "; ")), "write some of what finer readers see, or hide the column")
		return nil
	}
	if of.Publish != nil {
		at := d.at(&c.Publish)
		if spec.Kind != hierarchy.Numeric && spec.Kind != hierarchy.Date {
			d.wrong(at, fmt.Sprintf("%s has %s hierarchy, which is published as a label only", quote(c.name), article(spec.Kind.String())), "remove publish; it is for numeric and date hierarchies")
			return nil
		}
		if !of.Publish.MayFollow(finer.Publish) {
			d.wrong(at, fmt.Sprintf("the audience is to see ranges of column %s, and finer readers see values alone, which do not tell them", quote(c.name)), "write publish: value here, or publish: range for the finer readers")
			return nil
		}
	}
	return []catalog.AudienceColumn{of}
}

// checkShown refuses to show a column that is not hidden.
func (t *table) checkShown(d *decoder, at *yaml.Node, name string, hides bool) {
	switch {
	case hides:
		d.wrong(at, fmt.Sprintf("the audience both hides and shows column %s", quote(name)), "remove one of them")
	case len(t.policy.Hidden) == 0:
		d.wrong(at, fmt.Sprintf("column %s is shown, but table %s hides no columns", quote(name), t.Table), "remove show, or write hide: ["+name+"] for the table")
	case !slices.Contains(t.policy.Hidden, name):
		d.wrong(at, fmt.Sprintf("column %s is shown, but table %s does not hide it", quote(name), t.Table), suggestion(name, t.policy.Hidden, "remove it from show; the table hides"))
	}
}

// checkCoalitions refuses an audience that sees a column under constraints that the classes of finer readers,
// who do not see it, need not satisfy: they would hold for neither when the two pool what they have. The policy is
// the table's with all constraints that hold for it.
func (t *table) checkCoalitions(d *decoder, at *yaml.Node, policy catalog.TablePolicy) {
	for _, coalition := range policy.Coalitions() {
		for _, column := range coalition.Joined {
			what, fix := coalition.Breach(column)
			if what == "" || slices.Contains(t.breached, column.Name) {
				continue
			}
			t.breached = append(t.breached, column.Name)
			d.wrong(at, fmt.Sprintf("column %s: %s", quote(column.Name), what), fix)
		}
	}
}

// checkStricter refuses constraints of an audience that those of the one before imply: an operator who
// writes k: 3 where 5 holds expects 3.
func (t *table) checkStricter(d *decoder, before string, stated []*constraint) {
	held := t.policy.ConstraintsFor(before)
	for _, c := range stated {
		if place := slices.IndexFunc(held, func(spec privacy.Spec) bool { return spec.Implies(c.spec) }); place >= 0 {
			whose := "the table's own readers"
			if before != "" {
				whose = "audience " + before
			}
			d.notStricter(d.at(c), c.spec, held[place], whose)
		}
	}
}

// notStricter reports a constraint of an audience that follows from one which holds for finer readers.
func (d *decoder) notStricter(at *yaml.Node, stated, held privacy.Spec, whose string) {
	stricter := ""
	if !stated.Implies(held) {
		stricter = fmt.Sprintf(", as %v does", held)
	}
	d.wrong(at, fmt.Sprintf("%v holds for %s already%s: audiences stand from the finest to the coarsest, and what each sees is made of the classes of the one before", stated, whose, stricter),
		"remove it, or state a stricter one")
}

// checkHidden sees to it that an audience hides what is published and what its constraints do not
// speak of. Hidden is what it does not see altogether.
func (t *table) checkHidden(d *decoder, audience string, seen *audienceTable, hidden []string) {
	for i, name := range seen.Hide {
		at := d.at(&seen.Hide[i])
		d.places.hidden[hiddenColumn{audience, t.Table, name}] = at.Line
		t.checkPublished(d, at, name)
		speaks := func(c constraint) bool { return c.Of == name || slices.Contains(c.Over, name) }
		if slices.ContainsFunc(seen.Constraints, speaks) {
			d.wrong(at, fmt.Sprintf("column %s is hidden from the audience, whose constraints speak of it", quote(name)), "remove it from hide, or the constraint: what holds for the audiences before holds in any case")
		}
	}
	t.checkVisible(d, d.at(&seen.Hide), hidden)
}

// checkPublished refuses to hide what nobody sees.
func (t *table) checkPublished(d *decoder, at *yaml.Node, name string) bool {
	column, named := t.policy.Column(name)
	if !named || column.Role == catalog.Identifying {
		d.wrong(at, fmt.Sprintf("column %s is hidden, but table %s does not publish it", quote(name), t.Table), "remove it from hide")
		return false
	}
	return true
}

// checkVisible refuses to hide all quasi-identifying columns of a table that has any from an audience.
func (t *table) checkVisible(d *decoder, at *yaml.Node, hidden []string) {
	if at != nil && t.hidesAll(hidden) {
		d.wrong(at, fmt.Sprintf("the audience sees no quasi-identifying column of table %s: of each table that has any, it sees at least one", t.Table), "leave one of them out of hide")
	}
}

// hidesAll reports whether no quasi-identifying column is left without the hidden ones.
func (t *table) hidesAll(hidden []string) bool {
	quasi := t.policy.ByRole(catalog.QuasiIdentifying)
	return len(quasi) > 0 && !slices.ContainsFunc(quasi, func(c catalog.ColumnPolicy) bool { return !slices.Contains(hidden, c.Name) })
}

// checkReserved sees to it that a table hides from its own readers what it publishes and an audience sees.
func (t *table) checkReserved(d *decoder) {
	for i, name := range t.Hide {
		at := d.at(&t.Hide[i])
		d.places.hidden[hiddenColumn{"", t.Table, name}] = at.Line
		if !t.checkPublished(d, at, name) {
			continue
		}
		if !slices.ContainsFunc(t.policy.Audiences, func(a catalog.AudiencePolicy) bool { return a.Sees(name) }) {
			d.wrong(at, fmt.Sprintf("column %s is hidden, and no audience shows it", quote(name)), "remove it from hide and leave it out of columns, or write show: ["+name+"] for an audience")
		}
	}
	if at := d.at(&t.Hide); at != nil && t.hidesAll(t.policy.Hidden) {
		d.wrong(at, fmt.Sprintf("the table's own readers see no quasi-identifying column of table %s", t.Table), "leave one of them out of hide")
	}
}

// compareAudiences tells audiences their roles: each is that of a further reader, and of one audience.
func (c *Config) compareAudiences(d *decoder, written []audience) {
	taken := make(map[string]string)
	for i := range written {
		a := &written[i]
		place := slices.IndexFunc(c.Policy.Audiences, func(known catalog.Audience) bool { return known.Name == a.Name })
		for j := range a.Readers {
			if a.Name == "" {
				break // already reported
			}
			name := a.Readers[j]
			at := d.at(&a.Readers[j])
			c.compareReader(d, &a.Readers[j], "a reader of audience "+a.Name)
			if other, twice := taken[name]; twice {
				d.wrong(at, fmt.Sprintf("reader %s belongs to audience %s already", quote(name), other), "leave it in one of them")
				continue
			}
			taken[name] = a.Name
			for _, r := range c.Upstream.Readers {
				if r.Name == name && place >= 0 {
					c.Policy.Audiences[place].Roles = append(c.Policy.Audiences[place].Roles, r.Connection.User)
				}
			}
		}
	}
	c.compareOthers(d, taken)
	c.showMirrored()
	for _, t := range c.Policy.Tables {
		for i, seen := range t.Audiences {
			for _, a := range c.Policy.Audiences {
				if a.Name == seen.Audience && len(a.Roles) > 0 {
					t.Audiences[i].Role = a.Roles[0]
				}
			}
		}
	}
}

// showMirrored shows mirrored tables to all audiences: they are not protected.
func (c *Config) showMirrored() {
	for i := range c.Policy.Tables {
		t := &c.Policy.Tables[i]
		if !t.IsMirrored() {
			continue
		}
		for _, a := range c.Policy.Audiences {
			of := catalog.AudiencePolicy{Audience: a.Name}
			if len(a.Roles) > 0 {
				of.Role = a.Roles[0]
			}
			t.Viewers = append(t.Viewers, of)
		}
	}
}

// compareOthers sees to it that readers in no audience read the finest release because that is said, and
// not because somebody forgot them.
func (c *Config) compareOthers(d *decoder, taken map[string]string) {
	for _, r := range c.Upstream.Readers {
		line := c.places.setting("upstream.readers." + r.Name).Line
		switch audience, belongs := taken[r.Name]; {
		case belongs && r.Reads != "":
			d.report(line, 0, fmt.Sprintf("reader %s reads what tables says, but belongs to audience %s", quote(r.Name), audience), "remove reads, or the reader from the audience")
		case !belongs && r.Reads == "" && len(c.Policy.Audiences) > 0:
			d.report(line, 0, fmt.Sprintf("reader %s is in no audience, and would read the finest release", quote(r.Name)), "name it in readers: of an audience, or write reads: tables under it if that is meant")
		}
	}
}
