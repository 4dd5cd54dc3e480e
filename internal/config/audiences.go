package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// audience is an audience as it is written.
type audience struct {
	Name    string          `yaml:",name" what:"an audience's name" as:"audience"`
	Readers []string        `yaml:"readers" what:"the readers of %s" as:"name" each:"a reader" single:"yes" fix:"a name of upstream.readers, or a list of them" need:"readers: with the reader roles, of upstream.readers, whose users belong to it" doc:"The reader roles, of upstream.readers, whose users belong to the audience. A role belongs to one audience at most; upstream.reader, and roles in none, read what tables says."`
	Tables  []audienceTable `yaml:"tables" each:"table" need:"tables: with the protected tables that it sees" empty:"the audience sees nothing" fix:"schema.table: {constraints: [{k: 25}]}" doc:"The protected tables that the audience sees. It does not see others, nor views over protected tables."`
}

// audienceTable is what an audience sees of a table, as it is written.
type audienceTable struct {
	Table       catalog.Name `yaml:",name" what:"a table's name" as:"table"`
	Constraints []constraint `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 25}, {l: 3, of: diagnosis}]" empty:"the audience sees the same classes as the one before" doc:"What every class satisfies that the audience sees, besides the constraints of the table and of the audiences before."`
	Hide        []string     `yaml:"hide" as:"column" each:"column" fix:"a list: [ward]" doc:"Columns of the table that the audience does not see."`
}

func (t *audienceTable) check(d *decoder, n *yaml.Node, what string) {
	if n.Kind == yaml.MappingNode && d.at(&t.Constraints) == nil && d.at(&t.Hide) == nil {
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
func (d *decoder) checkAudiences(tables []table, written []audience) (all []catalog.Audience) {
	for i := range written {
		a := &written[i]
		if slices.ContainsFunc(all, func(before catalog.Audience) bool { return before.Name == a.Name }) {
			d.wrong(d.keys[a], "audience "+a.Name+" stands twice", "remove one of them")
			continue
		}
		all = append(all, catalog.Audience{Name: a.Name})
		var names []string
		for j := range tables {
			names = append(names, tables[j].Table.String())
		}
		for j := range a.Tables {
			seen := &a.Tables[j]
			place := slices.IndexFunc(tables, func(t table) bool { return t.Table == seen.Table })
			switch {
			case seen.Table == (catalog.Name{}): // already reported
			case place < 0:
				d.wrong(d.keys[seen], fmt.Sprintf("audience %s sees table %s, which is not protected", a.Name, seen.Table), suggestion(seen.Table.String(), names, "the protected tables are"))
			default:
				tables[place].show(d, a.Name, seen)
			}
		}
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
	if t.policy.Updates.Mode == catalog.Guarded {
		d.wrong(key, fmt.Sprintf("table %s has guarded updates, and audiences are for tables with immediate ones", t.Table), "remove the table here, or write updates: immediate for it")
	}
	policy := catalog.AudiencePolicy{Audience: name, Hidden: seen.Hide}
	var stated []*constraint
	for i := range seen.Constraints {
		c := &seen.Constraints[i]
		if !c.complete {
			continue
		}
		if at := d.at(&c.Over); at != nil {
			d.wrong(at, "the constraints of audiences are over all quasi-identifying columns", "remove over")
			continue
		}
		stated, policy.Constraints = append(stated, c), append(policy.Constraints, c.spec)
	}
	t.checkNamed(d, stated)
	t.checkStricter(d, before, stated)
	t.checkHidden(d, seen)
	t.policy.Audiences = append(t.policy.Audiences, policy)
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
			d.wrong(d.at(c), fmt.Sprintf("%v holds for %s already, as %v does: audiences stand from the finest to the coarsest, and what each sees is made of the classes of the one before", c.spec, whose, held[place]),
				"remove it, or state a stricter one")
		}
	}
}

// checkHidden sees to it that an audience hides what is published and what its constraints do not
// speak of.
func (t *table) checkHidden(d *decoder, seen *audienceTable) {
	left := len(t.policy.ByRole(catalog.QuasiIdentifying))
	for i, name := range seen.Hide {
		at := d.at(&seen.Hide[i])
		column, named := t.policy.Column(name)
		if !named || column.Role == catalog.Identifying {
			d.wrong(at, fmt.Sprintf("column %s is hidden, but table %s does not publish it", quote(name), t.Table), "remove it from hide")
			continue
		}
		if column.Role == catalog.QuasiIdentifying {
			left--
		}
		speaks := func(c constraint) bool { return c.Of == name || slices.Contains(c.Over, name) }
		if slices.ContainsFunc(seen.Constraints, speaks) {
			d.wrong(at, fmt.Sprintf("column %s is hidden from the audience, whose constraints speak of it", quote(name)), "remove it from hide, or the constraint: what holds for the audiences before holds in any case")
		}
	}
	if at := d.at(&seen.Hide); at != nil && left == 0 && len(t.policy.ByRole(catalog.QuasiIdentifying)) > 0 {
		d.wrong(at, fmt.Sprintf("the audience sees no quasi-identifying column of table %s", t.Table), "leave one of them out of hide")
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

// checkPeopleApart refuses to show an audience tables that are released together.
func (d *decoder) checkPeopleApart(written []audience, people []catalog.People) {
	for i := range written {
		for j := range written[i].Tables {
			seen := &written[i].Tables[j]
			for _, kind := range people {
				if slices.Contains(kind.Names(), seen.Table) {
					d.wrong(d.keys[seen], fmt.Sprintf("table %s is released together with others of %s, and audiences are for tables that stand alone", seen.Table, kind.Kind), "remove the table here")
				}
			}
		}
	}
}
