package catalog

import "fmt"

// MirrorTable is the policy of a table that is not protected and lies at a source of its own: the rows
// of the listed columns are published as they are, by the stream that brings the protected tables, so
// that readers see both as of one commit.
func MirrorTable(table Name, columns []string) TablePolicy {
	policy := TablePolicy{Table: table, Updates: Updates{Mode: Mirrored}}
	for _, name := range columns {
		policy.Columns = append(policy.Columns, ColumnPolicy{Name: name, Role: Insensitive})
	}
	return policy
}

// IsMirrored reports whether the table is not protected: its rows are published as they are.
func (t TablePolicy) IsMirrored() bool { return t.Updates.Mode == Mirrored }

// Mirrored are the tables that are not protected, in the policy's order.
func (p Policy) Mirrored() []Name {
	var names []Name
	for _, t := range p.Tables {
		if t.IsMirrored() {
			names = append(names, t.Table)
		}
	}
	return names
}

// Protecting is the policy without the tables that are mirrored: what is said of constraints, of
// classes and of what readers may learn is said of these.
func (p Policy) Protecting() Policy {
	tables := p.Tables
	p.Tables = nil
	for _, t := range tables {
		if !t.IsMirrored() {
			p.Tables = append(p.Tables, t)
		}
	}
	return p
}

// buildMirrored fills the shape of a mirrored table: its listed columns, in the source's order.
func (b *builder) buildMirrored() {
	policy, relation := b.publication.Policy, b.publication.Relation
	b.checkRelation()
	if len(policy.Columns) == 0 {
		b.problem("", "lists no column to mirror", "list the columns that readers may have")
	}
	for _, c := range policy.Columns {
		if c.Role != Insensitive || c.Hierarchy != nil {
			b.problem(c.Name, fmt.Sprintf("is mirrored as it is, and cannot be %s", c.Role), "list it by its name alone, or protect the table")
		}
		if _, exists := relation.Column(c.Name); !exists {
			b.problem(c.Name, "the table has no such column", "remove it from the policy or correct its name")
		}
	}
	for _, column := range relation.Columns {
		c, named := policy.Column(column.Name)
		switch {
		case !named:
		case column.Generated:
			b.problem(column.Name, "is a generated column, which logical replication leaves out", "list the columns it is made from instead")
		case column.NamesObjects && !relation.KeyRepeats: // else checkIdentity tells
			b.problem(column.Name, fmt.Sprintf("is of type %s, a name that other sessions may not be able to read", column.Type), "leave it out of the policy")
		default:
			b.publish(column, c, nil)
		}
	}
	b.checkNames()
	b.checkSealed()
}
