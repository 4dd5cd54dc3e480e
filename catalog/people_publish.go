package catalog

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// PeoplePublication is the published shape of the tables of one kind of person.
type PeoplePublication struct {
	People People
	Root   Publication
	// Tables are in the order of People.Tables.
	Tables []Publication
}

// PublishPeople derives the published shape of the tables of one kind of person. Policies
// and relations are those of its tables, by name. All problems are reported at once.
func PublishPeople(p People, policies map[Name]TablePolicy, relations map[Name]Relation) (PeoplePublication, []Problem) {
	publication := PeoplePublication{People: p}
	member := func(name Name, keys []string) (Publication, []Problem) {
		policy := policies[name]
		policy = p.Member(policy, name)
		b := builder{publication: Publication{Policy: policy, Relation: relations[name]}, keys: keys, member: true}
		b.build()
		return b.publication, b.problems
	}
	root, problems := member(p.Root, p.Key)
	publication.Root = root
	for _, t := range p.Tables {
		table, found := member(t.Table, t.Keys())
		publication.Tables = append(publication.Tables, table)
		problems = append(problems, found...)
	}
	problems = append(problems, publication.checkAudiences()...)
	return publication, append(problems, publication.join()...)
}

// join gives all tables their membership, with the forms of their pseudonyms.
func (p *PeoplePublication) join() (problems []Problem) {
	forms := make(map[int][]PseudonymForm)
	for table := people.Root; table < len(p.Tables); table++ {
		of, found := p.keyForms(table)
		forms[table] = of
		problems = append(problems, found...)
	}
	p.Root.Membership = &Membership{People: p.People, Table: people.Root, Own: forms[people.Root]}
	for i := range p.Tables {
		m := &Membership{People: p.People, Table: i, Own: forms[i], Of: forms[p.parentOf(i)]}
		p.Tables[i].Membership = m
		for _, column := range m.Key() {
			if slices.Contains(m.Link(), column) {
				problems = append(problems, Problem{
					Table: p.Tables[i].Policy.Table, Column: column,
					What: "belongs to two keys in people, and can show one pseudonym only", Fix: "leave out key, where no table is through this one, or name a key of other columns",
				})
			}
		}
	}
	return problems
}

// Member is the policy of one of the tables, with what holds for all of them.
func (p People) Member(policy TablePolicy, name Name) TablePolicy {
	policy.Constraints = p.constraintsOf(name)
	if policy.Updates.Mode != Guarded {
		policy.Updates = Updates{Mode: Immediate}
	}
	return policy
}

// constraintsOf are k, and the constraints of sensitive columns of a table.
func (p People) constraintsOf(name Name) []privacy.Spec {
	var own []privacy.Spec
	for _, c := range p.Constraints {
		table, column, ok := ParseQualifiedColumn(c.Of)
		if ok && table != name {
			continue
		}
		c.Of = column
		own = append(own, c)
	}
	return own
}

// checkKeys wants the columns that are published as pseudonyms to be there, and their
// values to be equal exactly where their texts are.
func (b *builder) checkKeys() {
	for _, name := range b.keys {
		column, exists := b.publication.Relation.Column(name)
		switch {
		case !exists:
			b.problem(name, "is a key in people, but the table has no such column", "correct its name in people")
		case column.Generated:
			b.problem(name, "is a generated column, which logical replication leaves out", "name in people what it is made from")
		default:
			b.checkCountable(column, "rows are found by it", "name in people")
		}
	}
}

// Schema joins the schemas of the tables, the root's first, to one whose sensitive
// attributes have qualified names, as constraints of People have them.
func (p PeoplePublication) Schema(root privacy.Schema, tables []privacy.Schema) privacy.Schema {
	var joined privacy.Schema
	for i, schema := range slices.Insert(slices.Clone(tables), 0, root) {
		for _, s := range schema.Sensitive {
			s.Name = QualifiedColumn(p.People.Names()[i], s.Name)
			joined.Sensitive = append(joined.Sensitive, s)
		}
	}
	return joined
}

// ConstraintSet makes the constraints over a schema of Schema, whose dictionaries are
// of Canonical texts.
func (p PeoplePublication) ConstraintSet(schema privacy.Schema) (privacy.ConstraintSet, error) {
	specs := slices.Clone(p.People.Constraints)
	for i, spec := range specs {
		table, name, _ := ParseQualifiedColumn(spec.Of)
		for _, publication := range slices.Insert(slices.Clone(p.Tables), 0, p.Root) {
			if column, exists := publication.Relation.Column(name); exists && publication.Policy.Table == table {
				specs[i].Values = canonicalAll(column.BaseType, spec.Values)
			}
		}
	}
	set, err := privacy.NewSet(specs, schema)
	if err != nil {
		return nil, fmt.Errorf("constraints of %s: %w", p.People.Kind, err)
	}
	return set, nil
}
