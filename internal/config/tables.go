package config

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/catalog"
)

// policySection is a policy as it is written.
type policySection struct {
	Tables    []table         `yaml:"tables" each:"table" need:"tables: with one table or more to protect" empty:"nothing is protected" fix:"schema.table: with its policy under it" doc:"The protected tables, as schema.table in the case PostgreSQL stores, each with its policy."`
	People    []personKind    `yaml:"people" each:"kind of person" empty:"no tables belong together" fix:"patient: with root:, key:, knows:, tables: and constraints: under it" doc:"Kinds of persons whose rows stand in several tables, which are released together, so that they can be joined."`
	Audiences []audience      `yaml:"audiences" each:"audience" empty:"all readers see the same" fix:"partners: with readers: and tables: under it" doc:"Groups of readers who see coarser releases than tables says, from the finest to the coarsest: the classes of each are unions of those of the one before, so that readers of several audiences who pool what they have learn what the finest of them tells."`
	Readable  []catalog.Name  `yaml:"readable" as:"table" each:"a table" fix:"a list: [public.wards, public.icd10]" doc:"Tables that are not protected, which clients may read and join with, and views. A view over protected tables is published from what its tables publish."`
	Mirrored  []mirroredTable `yaml:"mirrored" each:"table" empty:"nothing is mirrored" fix:"schema.table: with columns: under it, or remove the key" doc:"Tables of the source that are not protected, each with the columns that clients may read and join with, as they are. They come by the stream of the protected tables, so that joins with those are of one commit. Only with a source section; without one they are readable."`
	Functions []catalog.Name  `yaml:"functions" as:"function" each:"a function" fix:"a list: [public.similarity, postgis.st_area]" doc:"Functions that clients may call besides PostgreSQL's own, as schema.function, in all their overloads."`

	policy catalog.Policy
}

// check sees to it that each relation is named once, and keeps the places of all names.
func (p *policySection) check(d *decoder, _ *yaml.Node, _ string) {
	var claimed []*table
	for i := range p.Tables {
		if d.claimTable(&p.Tables[i]) {
			claimed = append(claimed, &p.Tables[i])
		}
	}
	p.policy.People = d.checkPeople(p.Tables, p.People, true)
	d.checkPeopleApart(p.Audiences, p.policy.People)
	p.policy.Audiences = d.checkAudiences(p.Tables, p.policy.People, p.Audiences)
	for _, t := range claimed {
		p.policy.Tables = append(p.policy.Tables, t.policy)
	}
	for _, kind := range p.policy.People {
		for i, t := range p.policy.Tables {
			if slices.Contains(kind.Names(), t.Table) {
				p.policy.Tables[i] = kind.Member(t, t.Table)
			}
		}
	}
	p.checkMirrored(d)
	for i, name := range p.Readable {
		at := d.at(&p.Readable[i])
		if first, twice := d.places.tables[name]; twice {
			d.wrong(at, fmt.Sprintf("table %s is both %s and readable, first on line %d", name, p.said(name), first.line), "remove it from readable: a protected table is read through kproxy, and a mirrored one is read as it is at the source")
		}
	}
	for i, name := range p.Readable {
		if _, protected := d.places.tables[name]; !protected {
			d.places.tables[name] = place{line: d.at(&p.Readable[i]).Line}
		}
	}
	for i, name := range p.Functions {
		d.places.functions[name] = d.at(&p.Functions[i]).Line
	}
	p.policy.Readable, p.policy.Functions = p.Readable, p.Functions
}

// claimTable keeps the places of a table and its columns. It is false for a table without a
// right name of its own.
func (d *decoder) claimTable(t *table) bool {
	if t.Table == (catalog.Name{}) {
		return false
	}
	key := d.keys[t]
	if first, twice := d.places.tables[t.Table]; twice {
		d.wrong(key, fmt.Sprintf("table %s stands twice, first on line %d", t.Table, first.line), "remove one of them")
		return false
	}
	at := place{line: key.Line, columns: make(map[string]int)}
	for i := range t.Columns {
		at.columns[t.Columns[i].Name] = d.keys[&t.Columns[i]].Line
	}
	d.places.tables[t.Table] = at
	return true
}

// table is the policy of a table as it is written.
type table struct {
	Table       catalog.Name      `yaml:",name" what:"a table's name" as:"table"`
	Method      string            `yaml:"method" as:"method" default:"lookahead-partition" doc:"How records are gathered into equivalence classes. {kproxy eval} compares the methods."`
	Effort      anonymizer.Effort `yaml:"effort" default:"fast" doc:"How long the method looks for classes that lose less: good takes some ten times as long as fast, best some hundred times. Of the methods, lookahead-partition alone can."`
	Constraints []constraint      `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 5}, {l: 2, of: diagnosis}]" need:"constraints: [{k: 5}] or what else every class must satisfy" unless:"people" empty:"none says k" doc:"What every published class satisfies at every moment; one of them says k. Required, except of tables in people."`
	Subject     string            `yaml:"subject" what:"a column's name" as:"column" doc:"Where a person can have several records: the column that tells persons apart. Constraints then count persons. It is never published."`
	Suppression float64           `yaml:"suppression" as:"share" range:"0..1" doc:"The share of the records that a method which generalizes all records alike may set aside; each is published with the class most similar to it. Without it: none."`
	// Updates have no default for tables that live, since the difference is one of what
	// readers learn. A file is published once, and may leave it out.
	Updates       updates               `yaml:"updates" section:"optional" need:"updates: guarded, where comparing versions tells readers no more than one release does, and new records wait for a batch; or updates: immediate, where every commit is visible at once, and whoever polls learns the sensitive values of those who come, leave or change" why:"there is no default for when changes become visible, since it decides what readers learn of whom" unless:"people" doc:"When changes become visible: so that comparing versions tells no more than one release does (guarded), or every commit at once (immediate), by which whoever polls learns the sensitive values of those who come, leave or change. Required, except of tables in people."`
	Acknowledge   acknowledge           `yaml:"acknowledge" section:"optional" doc:"What is known and meant of the table, and refused otherwise."`
	Reanonymize   float64               `yaml:"reanonymize" as:"share" range:"0<..1" doc:"From so much more information loss on all classes are made anew. For immediate updates only. Without it: never."`
	Summary       catalog.SummaryForm   `yaml:"summary" default:"view" doc:"What questions about groups are answered from: a view of the release, or a table beside it (stored), which also has sums of published numbers. It is read in less time, and has each change write more. Stored is for immediate updates with all constraints in one part, and for readers in no audience."`
	Unpublishable catalog.Unpublishable `yaml:"unpublishable" default:"withhold" doc:"What readers get while nothing of the table can be published, as its records cannot meet its constraints. Withhold and refuse are the same: an error that says so. The key can be left out."`
	Hide          []string              `yaml:"hide" as:"column" each:"column" fix:"a list: [salary]" doc:"Columns that the table's own readers do not see, and some audiences do; see show there."`
	Columns       []column              `yaml:"columns" each:"column" need:"columns: with each column to publish and its role" doc:"The columns to publish, each with its role, or with a mapping that says more. What is not named here is not published."`

	policy   catalog.TablePolicy
	breached []string // columns of which it is reported that pooling lowers what holds
}

// acknowledge is what the operator knows and means of a table.
type acknowledge struct {
	Joinable []string `yaml:"joinable" what:"joinable" each:"a joinable column" as:"column" fix:"a list: [visit_id]" need:"joinable: with the columns that are a key and are to be published all the same" doc:"Columns that are published as they are although they are a key, or nearly unique by their values, so that rows can be told apart by them, or joined with those of other tables; or although they tell a quasi-identifier or follow from one."`
}

func (t *table) check(d *decoder, n *yaml.Node, what string) {
	policy := &t.policy
	*policy = catalog.TablePolicy{
		Table: t.Table, Method: t.Method, Effort: t.Effort, Subject: t.Subject, Suppression: t.Suppression, Updates: t.Updates.policy(),
		Reanonymize: t.Reanonymize, Summary: t.Summary, Unpublishable: t.Unpublishable, Joinable: t.Acknowledge.Joinable, Hidden: t.Hide,
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: c.Name, Role: c.Role, Hierarchy: c.Hierarchy.policy(), Publish: c.Publish})
	}
	t.checkConstraints(d, what)
	t.checkSubject(d)
	t.checkJoinable(d)
	t.checkUpdates(d)
}

var tableSection = sync.OnceValue(func() *section { return sectionOf(reflect.TypeFor[table](), selection{}) })

// checkApart sees to it that a table which is released by itself says how.
// Others says that there are tables which are released with others.
func (t *table) checkApart(d *decoder, updates, others bool) {
	n, what := d.at(t), "table "+d.keys[t].Value
	if t.Table != (catalog.Name{}) {
		what = "table " + t.Table.String()
	}
	quasi, unclear := false, len(t.Columns) == 0
	for i := range t.Columns {
		c := &t.Columns[i]
		quasi = quasi || c.Role == catalog.QuasiIdentifying
		unclear = unclear || c.Role == 0 || c.Name == ""
	}
	if at := d.at(&t.Columns); at != nil && at.Kind == yaml.MappingNode && !quasi && (!unclear || len(at.Content) == 0) {
		d.wrong(at, what+" has no quasi-identifying column", "give at least one column the role quasi-identifying and a hierarchy")
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	also := ""
	if others {
		also = ", and is in no kind of people"
	}
	if d.at(&t.Constraints) == nil {
		tableSection().field("constraints").lacks(d, n, what, also)
	}
	if updates && d.at(&t.Updates) == nil {
		tableSection().field("updates").lacks(d, n, what, also)
	}
}

// checkConstraints sees to it that constraints go with one another, and with the columns.
func (t *table) checkConstraints(d *decoder, what string) {
	at := d.at(&t.Constraints)
	if at == nil || at.Kind != yaml.SequenceNode || len(at.Content) == 0 {
		return
	}
	seen := make(map[string]int)
	someK := false
	var stated []*constraint
	for i := range t.Constraints {
		c := &t.Constraints[i]
		someK = someK || c.model.key == "k"
		if !c.complete {
			continue
		}
		at, about := d.at(c), c.about()
		if line, twice := seen[about]; twice {
			d.wrong(at, fmt.Sprintf("%s states %s twice, first on line %d", what, about, line), "keep the stricter one")
			continue
		}
		seen[about] = at.Line
		stated = append(stated, c)
		t.policy.Constraints = append(t.policy.Constraints, c.spec)
	}
	if !someK {
		d.wrong(at, "the constraints of "+what+" have no k", "add {k: 5}, or how many records no one may be told apart from")
	}
	t.checkNamed(d, stated)
	if someK && len(stated) == len(at.Content) {
		t.checkCovered(d, stated)
		t.checkArranged(d, stated)
	}
}

// checkSubject sees to it that the column that names the person is not published.
func (t *table) checkSubject(d *decoder) {
	column, named := t.policy.Column(t.Subject)
	if t.Subject != "" && named && column.Role != catalog.Identifying && column.Role != 0 { // 0: already reported
		d.wrong(d.at(&t.Subject), fmt.Sprintf("the subject %s says which person a record is about, but it is published as %s", quote(t.Subject), column.Role),
			"give the column the role identifying, or leave it out of the columns")
	}
}

// checkJoinable refuses to acknowledge a column that is not published as it is.
func (t *table) checkJoinable(d *decoder) {
	var published []string
	for _, c := range t.policy.Columns {
		if c.Role == catalog.Sensitive || c.Role == catalog.Insensitive {
			published = append(published, c.Name)
		}
	}
	for i, name := range t.Acknowledge.Joinable {
		at := d.at(&t.Acknowledge.Joinable[i])
		column, named := t.policy.Column(name)
		switch {
		case !named:
			d.wrong(at, fmt.Sprintf("joinable column %s, which table %s does not publish", quote(name), t.Table),
				suggestion(name, published, "the columns published as they are:"))
		case column.Role == catalog.Identifying || column.Role == catalog.QuasiIdentifying:
			d.wrong(at, fmt.Sprintf("joinable column %s is %s: there is nothing to acknowledge", quote(name), column.Role), "remove it from joinable")
		}
	}
}

func namesOf(columns []catalog.ColumnPolicy) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
