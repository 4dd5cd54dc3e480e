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
	return publication, append(problems, publication.join(p.held(policies))...)
}

// join gives all tables their membership, with the forms of their pseudonyms and what is held for audiences.
func (p *PeoplePublication) join(held map[string][]privacy.Spec) (problems []Problem) {
	forms := make(map[int][]PseudonymForm)
	for table := people.Root; table < len(p.Tables); table++ {
		of, found := p.keyForms(table)
		forms[table] = of
		problems = append(problems, found...)
	}
	unseen := p.unseen()
	p.Root.Membership = &Membership{People: p.People, Table: people.Root, Own: forms[people.Root], Held: held, unseenBy: unseen}
	for i := range p.Tables {
		m := &Membership{People: p.People, Table: i, Own: forms[i], Of: forms[p.parentOf(i)], Held: held, unseenBy: unseen}
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

// unseen are the tables that each audience does not see.
func (p *PeoplePublication) unseen() map[string][]Name {
	by := make(map[string][]Name)
	for _, t := range append([]Publication{p.Root}, p.Tables...) {
		for _, a := range t.Policy.Audiences {
			if a.Unseen {
				by[a.Audience] = append(by[a.Audience], t.Policy.Table)
			}
		}
	}
	return by
}

// Member is the policy of one of the tables, with what holds for all of them.
func (p People) Member(policy TablePolicy, name Name) TablePolicy {
	policy.Constraints = p.constraintsOf(name, p.Constraints)
	policy.Audiences = slices.Clone(policy.Audiences)
	for i := range policy.Audiences {
		policy.Audiences[i].Constraints = p.constraintsOf(name, policy.Audiences[i].Constraints)
	}
	if policy.Updates.Mode != Guarded {
		policy.Updates = Updates{Mode: Immediate}
	}
	return policy
}

// constraintsOf are k, and the constraints of sensitive columns of a table.
func (p People) constraintsOf(name Name, all []privacy.Spec) []privacy.Spec {
	var own []privacy.Spec
	for _, c := range all {
		if table, column := p.columnOf(name, c.Of); table == name {
			c.Of = column
			own = append(own, c)
		}
	}
	return own
}

// columnOf is the column of one of the tables that a constraint in the policy of a table speaks of, by a qualified name or by one of its own.
func (p People) columnOf(in Name, of string) (table Name, column string) {
	if table, column, qualified := ParseQualifiedColumn(of); qualified && slices.Contains(p.Names(), table) {
		return table, column
	}
	return in, of
}

// held are what is stated for each audience by the policies of the tables: of k, and of sensitive columns with qualified names.
func (p People) held(policies map[Name]TablePolicy) map[string][]privacy.Spec {
	all := make(map[string][]privacy.Spec)
	for _, name := range p.Names() {
		for _, a := range policies[name].Audiences {
			for _, spec := range a.Constraints {
				if spec.Of != "" {
					spec.Of = QualifiedColumn(p.columnOf(name, spec.Of))
				}
				if !slices.ContainsFunc(all[a.Audience], func(known privacy.Spec) bool { return known.Implies(spec) }) {
					all[a.Audience] = append(all[a.Audience], spec)
				}
			}
		}
	}
	return all
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
	return p.constraintSet(p.People.Constraints, schema)
}

// StatedFor are the constraints that are stated for an audience and for those before it, likewise.
func (p PeoplePublication) StatedFor(audience string, schema privacy.Schema) (privacy.ConstraintSet, error) {
	return p.constraintSet(p.Root.statedFor(audience), schema)
}

func (p PeoplePublication) constraintSet(specs []privacy.Spec, schema privacy.Schema) (privacy.ConstraintSet, error) {
	specs = slices.Clone(specs)
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
