package catalog

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Problem is one thing that keeps a table from being published, with the fix.
type Problem struct {
	Table  Name
	Column string // empty when the whole table is concerned
	What   string
	Fix    string
}

func (p Problem) Error() string {
	where := p.Table.String()
	if p.Column != "" {
		where += "." + p.Column
	}
	return fmt.Sprintf("%s: %s (%s)", where, p.What, p.Fix)
}

// Publication is the published shape of one protected table.
type Publication struct {
	Policy   TablePolicy
	Relation Relation
	// Attributes are the quasi-identifiers, in the policy's order.
	Attributes []Attribute
	// Sensitive are the columns that constraints speak of, each once, in the order
	// in which the constraints do.
	Sensitive []SensitiveColumn
	// Columns are the published columns, in the source table's order; behind them,
	// of a guarded table, the ClassNumber and the Weight.
	Columns []PublishedColumn
	// Reserved are those that audiences alone see, in the same order; see For.
	Reserved []PublishedColumn `json:",omitempty"`
	// Membership is the table's place among those that are released together; nil for a
	// table that is released by itself.
	Membership *Membership `json:",omitempty"`
}

// Attribute is a quasi-identifier with everything needed to code and generalize it.
type Attribute struct {
	Column string
	Spec   hierarchy.Spec
	// Depth is that of hierarchy.Coarseness, for an audience.
	Depth int `json:",omitempty"`
}

// SensitiveColumn is a sensitive column of which a constraint speaks.
type SensitiveColumn struct {
	Column string
	// Spec arranges the values for the ordered or the hierarchical distance of
	// t-closeness; nil where no constraint measures one.
	Spec *hierarchy.Spec
}

// Part says which part of a column a published column shows.
type Part int

const (
	// Copy is the source value as it is.
	Copy Part = iota
	// Representative is a value of the source type that stands for the class.
	Representative
	// Range is the class's honest bounds as a native range.
	Range
	// Label is a hierarchy's label, as text.
	Label
	// ClassNumber is the number of the row's equivalence class, of guarded tables
	// only; it comes from no source column. A class keeps its number for life and
	// never gains a row.
	ClassNumber
	// Weight is the share of the rows of the class that stand for somebody, in
	// (0, 1], as far as it may be known; of guarded tables only, from no source
	// column. Its sum over all rows is the number of records behind them, but for k
	// (anonymizer/lineage, "Counts"); over some it estimates theirs.
	Weight
	// Pseudonym stands for a key of tables that are released together: a random value of
	// the source type, NULL in rows that are published without their keys.
	Pseudonym
)

// PublishedColumn is one column of the published relation.
type PublishedColumn struct {
	Name   string
	Type   string // SQL type, for example int4range
	Source string // the source column; empty for ClassNumber and Weight
	Part   Part
	// Attribute indexes Publication.Attributes; -1 for what is not Generalized.
	Attribute int
}

// Generalized says whether the column shows a quasi-identifier of its class.
func (c PublishedColumn) Generalized() bool {
	return c.Part == Representative || c.Part == Range || c.Part == Label
}

// WeighsApart reports whether weights are stored apart from rows, by classes or cells: a weight changes
// often, and can be that of a thousand rows. So it is where updates are guarded.
func (p Publication) WeighsApart() bool { return p.Policy.Updates.Mode == Guarded }

// StoredColumns are the source columns that the private store keeps besides the
// key: the quasi-identifiers, the columns published as they are and the subject,
// in the source table's order.
func (p Publication) StoredColumns() []Column {
	var stored []Column
	for _, c := range p.Relation.Columns {
		policy, named := p.Policy.Column(c.Name)
		if named && policy.Role != Identifying || c.Name == p.Policy.Subject || p.Membership.holds(c.Name) {
			stored = append(stored, c)
		}
	}
	return stored
}

// Publish derives the published shape of one table from its policy and its
// definition in the database. All problems are reported at once.
//
// The publication's policy is the one given, but that of a guarded table says
// its crowd, and has a k-anonymity constraint over all quasi-identifying columns,
// with the greatest k of any: such a table is divided into classes as one part.
func Publish(policy TablePolicy, relation Relation) (Publication, []Problem) {
	b := builder{publication: Publication{Policy: withUpdates(policy), Relation: relation}}
	if policy.IsMirrored() {
		b.buildMirrored()
	} else {
		b.build()
	}
	return b.publication, b.problems
}

// build fills the publication's shape.
func (b *builder) build() {
	policy, relation := b.publication.Policy, b.publication.Relation
	b.checkRelation()
	b.checkUpdates()
	for _, c := range policy.Columns {
		if _, exists := relation.Column(c.Name); !exists {
			b.problem(c.Name, "the table has no such column", "remove it from the policy or correct its name")
		}
	}
	attributes := b.attributes()
	b.checkSensitive()
	b.checkSubject()
	b.checkKeys()
	b.checkQuasiIdentifiers()
	for _, column := range relation.Columns {
		if slices.Contains(b.keys, column.Name) {
			b.publication.Columns = append(b.publication.Columns, PublishedColumn{Name: column.Name, Type: column.Type, Source: column.Name, Part: Pseudonym, Attribute: -1})
			continue
		}
		if c, named := policy.Column(column.Name); named {
			if column.Generated {
				b.problem(column.Name, "is a generated column, which logical replication leaves out", "name the columns it is made from instead")
				continue
			}
			if column.NamesObjects && c.Role != Identifying && !relation.KeyRepeats { // else checkIdentity tells
				b.problem(column.Name, fmt.Sprintf("is of type %s, a name that other sessions may not be able to read", column.Type), "leave it out of the policy")
				continue
			}
			b.publish(column, c, attributes)
		}
	}
	b.publishMembership()
	b.checkNames()
	b.checkMethod()
	b.checkCoalitions()
	b.checkAudiences()
	b.checkSealed()
	b.checkSummary()
}

type builder struct {
	publication Publication
	problems    []Problem
	// member says that the table is released with others, and keys are its columns that
	// are published as pseudonyms.
	member bool
	keys   []string
}

func (b *builder) problem(column, what, fix string) {
	b.problems = append(b.problems, Problem{Table: b.publication.Policy.Table, Column: column, What: what, Fix: fix})
}

// maxNameBytes is PostgreSQL's NAMEDATALEN - 1.
const maxNameBytes = 63

func (b *builder) checkRelation() {
	r := b.publication.Relation
	if release := ReleaseSchema(r.Name.Schema); len(release) > maxNameBytes {
		b.problem("", fmt.Sprintf("the name of its release schema, %s, would be longer than %d bytes", release, maxNameBytes),
			fmt.Sprintf("rename the schema: %d bytes are left for its name", maxNameBytes-len(releasePrefix)))
	}
	if r.Kind != KindTable && r.Kind != KindPartitionedTable {
		b.problem("", "is not a table", "protect the table underneath")
		return
	}
	if r.HasChildren && r.Kind == KindTable {
		b.problem("", "other tables inherit from it; their rows would be missed",
			"end the inheritance with ALTER TABLE ... NO INHERIT, or protect a plain table that holds the rows")
	}
	if r.HasParents {
		b.problem("", "it inherits from another table or is a partition: what is done to it through that table is not followed in full",
			"protect the partitioned table that it is part of, or end the inheritance with ALTER TABLE ... NO INHERIT")
	}
	b.checkIdentity()
}

func (b *builder) publish(column Column, policy ColumnPolicy, attributes map[string]int) {
	attribute := -1
	if policy.Role == QuasiIdentifying {
		var ok bool
		if attribute, ok = attributes[column.Name]; !ok {
			return
		}
	}
	shown := shownColumns(column, policy, attribute)
	if slices.Contains(b.publication.Policy.Hidden, column.Name) {
		b.publication.Reserved = append(b.publication.Reserved, shown...)
		return
	}
	b.publication.Columns = append(b.publication.Columns, shown...)
}

// shownColumns are what is published of a column of the source; of a quasi-identifying one, attribute is
// its index in Publication.Attributes.
func shownColumns(column Column, policy ColumnPolicy, attribute int) []PublishedColumn {
	of := func(name, sqlType string, part Part) PublishedColumn {
		return PublishedColumn{Name: name, Type: sqlType, Source: column.Name, Part: part, Attribute: attribute}
	}
	switch policy.Role {
	case Sensitive, Insensitive:
		return []PublishedColumn{of(column.Name, column.Type, Copy)}
	case QuasiIdentifying:
	default:
		return nil
	}
	// A domain's condition need not hold for what stands for a class, and NULL may be forbidden: the base
	// type is published.
	if kind := policy.Hierarchy.Kind; kind != hierarchy.Numeric && kind != hierarchy.Date {
		return []PublishedColumn{of(column.Name, "text", Label)}
	}
	rangeType := valueTypes[column.BaseType].rangeType
	switch policy.Publish {
	case FormValue:
		return []PublishedColumn{of(column.Name, column.BaseFormat, Representative)}
	case FormRange:
		return []PublishedColumn{of(column.Name, rangeType, Range)}
	default:
		return []PublishedColumn{of(column.Name, column.BaseFormat, Representative), of(column.Name+rangeSuffix, rangeType, Range)}
	}
}

func (b *builder) checkNames() {
	b.checkDifferent("", b.publication.Columns)
	for _, a := range b.publication.Policy.Audiences {
		seen, shown := b.publication.MadeFor(a.Audience)
		if shown && b.publication.Policy.Updates.Mode == Guarded {
			seen = b.publication.Kept(a.Audience)
		}
		if shown {
			b.checkDifferent(" for "+a.Audience, seen.Columns)
		}
	}
	for _, c := range b.publication.Relation.Columns {
		if isOwnColumn(c.Name) {
			b.problem(c.Name, "kproxy keeps a column of this name of its own beside it", "rename the column")
		}
	}
	if len(b.publication.Attributes) == 0 && len(b.problems) == 0 && !b.member && !b.publication.Policy.IsMirrored() {
		b.problem("", "no column is quasi-identifying", "give at least one column the role quasi-identifying")
	}
}

// checkDifferent refuses two columns of one name; whose says for whom they are.
func (b *builder) checkDifferent(whose string, columns []PublishedColumn) {
	seen := make(map[string]bool)
	for _, c := range columns {
		if seen[c.Name] {
			b.problem(c.Source, fmt.Sprintf("two published columns would be called %s%s", c.Name, whose), "set publish: value or publish: range")
		}
		seen[c.Name] = true
	}
}
