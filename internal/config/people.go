package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// personKind is a kind of person as it is written.
type personKind struct {
	Kind        string             `yaml:",name" what:"a kind of person" as:"name"`
	Root        catalog.Name       `yaml:"root" what:"the root of %s" as:"table" need:"root: with the table that has one row for each person" doc:"The table with one row for each person. It stands below tables, as all others of the block do."`
	Key         []string           `yaml:"key" what:"the key of %s" as:"column" each:"column" single:"yes" fix:"a column, or a list: [hospital_id, patient_id]" need:"key: with the column, or the list of columns, that tells persons apart" doc:"The column of the root that tells persons apart, or the columns. Published as a pseudonym."`
	Knows       knows              `yaml:"knows" need:"knows: all, where an outsider may know all rows of a person; or knows: {rows: 1, per: 1y}, where it is at most one row in each calendar year" why:"there is no default, since what an outsider may know decides what is blurred" doc:"What an outsider may know of a person besides the root row: all, or a mapping. Whatever is known of that, k persons are left."`
	Tables      []personTable      `yaml:"tables" each:"table" need:"tables: with the tables whose rows belong to persons" empty:"there is nothing to join; a single table needs no people" fix:"schema.table: {person: patient_id}" doc:"The tables whose rows belong to persons, each with the columns that say to whom. They have no constraints, method or updates of their own; what they acknowledge is theirs."`
	Method      string             `yaml:"method" as:"method" default:"rounded-partition" doc:"How persons are gathered into classes. Methods that recode by levels, and those for alpha alone, do not divide persons."`
	Effort      anonymizer.Effort  `yaml:"effort" default:"fast" doc:"How long the method looks for classes that lose less, as for tables."`
	Updates     personUpdates      `yaml:"updates" section:"optional" need:"updates: guarded, where comparing versions tells readers no more than one release does, and new persons and rows wait for others; or updates: immediate, where every commit is visible at once, and whoever polls learns the sensitive values of those whose rows come, leave or change" why:"there is no default for when changes become visible, since it decides what readers learn of whom" doc:"When changes become visible: so that comparing versions tells no more than one release does (guarded), or every commit at once (immediate), by which whoever polls learns the sensitive values of those whose rows come, leave or change. Policies of {kproxy eval} may leave it out."`
	Constraints []personConstraint `yaml:"constraints" each:"a constraint" fix:"a list: [{k: 5}, {alpha: 0.5, of: public.conditions.icd10}]" need:"constraints: [{k: 5}], counted in persons" empty:"none says k" doc:"What every class of persons satisfies, counted in persons; one of them says k."`
}

// knows is what an outsider may know as it is written.
type knows struct {
	All   bool           `yaml:"-" as:"all" what:"knows" alone:"all, or {rows: 1, per: 1y}"`
	Rows  int            `yaml:"rows" range:"1..2147483647" need:"rows: 1" doc:"How many rows of a person are known, in each window where per is written. More than 1 is not supported."`
	Per   catalog.Period `yaml:"per" as:"period" doc:"The length of the windows, on the calendar: 1mo, 2mo, 3mo, 4mo, 6mo, or years such as 1y. Rows are linked within a window only. Without it: the whole history is one window."`
	Crowd int            `yaml:"crowd" default:"8" range:"1..1000" doc:"So many times k persons have the same root values. More of them make rows more precise and, with guarded updates, fresher, and root rows less precise."`
}

func (k *knows) check(d *decoder, _ *yaml.Node, _ string) {
	if at := d.at(&k.Rows); at != nil && k.Rows > 1 {
		d.wrong(at, fmt.Sprintf("%d known rows are not supported: only one in each window, or all", k.Rows), "write rows: 1, with a shorter per, or knows: all")
	}
}

func (k *knows) policy() catalog.Knowledge {
	if k.All {
		return catalog.Knowledge{All: true}
	}
	return catalog.Knowledge{Rows: k.Rows, Per: k.Per, Crowd: k.Crowd}
}

func parsePeriod(_ *decoder, what, text string) (value any, wrong, fix string) {
	period, err := catalog.ParsePeriod(text)
	if err != nil {
		return nil, what + " " + quote(text) + " is not a period on the calendar", "write 1mo, 2mo, 3mo, 4mo or 6mo, or years such as 1y"
	}
	return period, "", ""
}

// personTable is a table of persons' rows as it is written.
type personTable struct {
	Table   catalog.Name `yaml:",name" what:"a table's name" as:"table"`
	Person  []string     `yaml:"person" as:"column" each:"column" single:"yes" fix:"the column that holds the root's key, or a list" doc:"The columns that hold the root's key, where rows belong to persons directly."`
	Through catalog.Name `yaml:"through" as:"table" doc:"The table of the block whose rows these belong to, where they do not belong to persons directly."`
	By      []string     `yaml:"by" as:"column" each:"column" single:"yes" fix:"the column that holds the key of the table in through, or a list" doc:"The columns that hold the key of the table in through."`
	Key     []string     `yaml:"key" as:"column" each:"column" single:"yes" fix:"a column, or a list" doc:"The columns that tell the rows apart. Needed where other tables are through this one. Published as a pseudonym."`
	Known   bool         `yaml:"known" default:"true" doc:"Whether an outsider may know rows of the table at all. False for what is kept secret by itself, such as laboratory values: then no outsider knows which persons have rows or when one comes or changes, all rows keep their keys wherever their parents do, and all columns are sensitive or insensitive."`
	Order   string       `yaml:"order" as:"column" doc:"The quasi-identifying column, a date or a number, by which a person's rows are ordered. Windows go by it."`
}

func (t *personTable) check(d *decoder, n *yaml.Node, what string) {
	person, through, by := d.at(&t.Person), d.at(&t.Through), d.at(&t.By)
	switch {
	case n.Kind != yaml.MappingNode: // already reported
	case person == nil && through == nil:
		d.wrong(n, what+" does not say whose its rows are", "write person: with the column that holds the root's key, or through: and by: with another table of the block and the column that holds its key")
	case person != nil && through != nil:
		d.wrong(through, what+" belongs to persons both directly and through another table", "remove person, or through and by: the shorter way is enough where both lead to the same person")
	case through != nil && by == nil:
		d.wrong(n, what+" is through "+t.Through.String()+", but does not say by which column", "write by: with the column that holds its key")
	case person != nil && by != nil:
		d.wrong(by, "by goes with through, and "+what+" belongs to persons directly", "remove by, or write through: in place of person:")
	}
}

func (t *personTable) policy() catalog.PeopleTable {
	return catalog.PeopleTable{Table: t.Table, Person: t.Person, Through: t.Through, By: t.By, Key: t.Key, Order: t.Order, Unknown: !t.Known}
}

// personConstraint is a constraint over several tables as it is written.
type personConstraint struct {
	K     int     `yaml:"k" range:"2..2147483647" doc:"At least so many persons that are alike."`
	L     int     `yaml:"l" range:"2..2147483647" doc:"At least so many different values of a sensitive column among the persons of a class."`
	Alpha float64 `yaml:"alpha" range:"0<..<1" doc:"No value held by more than this share of the persons of a class."`
	Of    string  `yaml:"of" as:"literal" doc:"The sensitive column that the constraint bounds, as schema.table.column."`
	// Values are those that Alpha bounds.
	Values []string `yaml:"values" each:"a value" as:"literal" fix:"a list: [HIV, hepatitis]" empty:"the constraint bounds nothing" doc:"Of alpha: the values it bounds. Without it: all."`

	EntropyL   float64  `yaml:"entropy_l" refused:"entropy_l needs one value of a person, who can have several here" fix:"write l or alpha"`
	RecursiveL int      `yaml:"recursive_l" refused:"recursive_l needs one value of a person, who can have several here" fix:"write l or alpha"`
	T          float64  `yaml:"t" refused:"t needs one value of a person, who can have several here" fix:"write l or alpha"`
	Beta       float64  `yaml:"beta" refused:"beta needs one value of a person, who can have several here" fix:"write l or alpha"`
	Delta      float64  `yaml:"delta" refused:"delta needs one value of a person, who can have several here" fix:"write l or alpha"`
	Over       []string `yaml:"over" refused:"constraints over some columns are not supported for persons" fix:"remove over: the constraint is over all quasi-identifying columns"`

	spec privacy.Spec
}

func (c *personConstraint) check(d *decoder, n *yaml.Node, _ string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	k, l, alpha, of, values := d.at(&c.K), d.at(&c.L), d.at(&c.Alpha), d.at(&c.Of), d.at(&c.Values)
	stated := 0
	for _, at := range []*yaml.Node{k, l, alpha} {
		if at != nil {
			stated++
		}
	}
	c.spec = privacy.Spec{Model: privacy.K, K: c.K, L: float64(c.L), Alpha: c.Alpha, Of: c.Of, Values: c.Values}
	switch {
	case l != nil:
		c.spec.Model = privacy.DistinctL
	case alpha != nil:
		c.spec.Model = privacy.AlphaK
	}
	switch {
	case stated == 0 && !d.flawed[c]:
		d.wrong(n, "a constraint does not say which: none of k, l or alpha is there", "write {k: 5} or {alpha: 0.5, of: public.conditions.icd10}")
	case stated > 1:
		d.wrong(n, "a constraint says several things", "write one of k, l or alpha in each")
	case k != nil && of != nil:
		d.wrong(of, "of does not belong to a k constraint", "remove it")
	case k == nil && of == nil && stated == 1:
		d.wrong(n, "a constraint does not say of which column", "write of: public.conditions.icd10, with a sensitive column of one of the tables")
	case values != nil && alpha == nil:
		d.wrong(values, "values does not belong to this constraint", "remove it; it goes with alpha")
	}
}
