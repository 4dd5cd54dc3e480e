package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// CommonKey is the key that all leaves of a partitioned table agree on, and
// whether equal rows are possible; empty where they do not. Without leaves it is
// the primary key that leaves to come will have, or the table's own. unique are
// the columns of the table's unique indexes: a key that is unique in each leaf
// alone tells no rows of two leaves apart. (PostgreSQL, chapter "Logical
// Replication": a change of a partition is identified by the partition's replica
// identity; the partitioned table's own is not used.)
func (r Relation) CommonKey(unique [][]string) (key []string, repeats bool) {
	leaves := slices.DeleteFunc(slices.Clone(r.Leaves), func(leaf Leaf) bool { return leaf.Kind != KindTable })
	switch {
	case len(leaves) == 0 && len(r.PrimaryKey) > 0:
		return r.PrimaryKey, false
	case len(leaves) == 0:
		return r.Key, r.KeyRepeats
	}
	first := leaves[0]
	agree, full := !first.KeyRepeats, true
	for _, leaf := range leaves {
		agree = agree && !leaf.KeyRepeats && sameColumns(leaf.Key, first.Key)
		full = full && leaf.ReplicaIdentity == 'f'
	}
	switch {
	case agree && sameColumns(first.Key, r.PrimaryKey):
		return r.PrimaryKey, false
	case agree && slices.ContainsFunc(unique, func(columns []string) bool { return holds(first.Key, columns) }):
		return first.Key, false
	case full:
		return r.Replicated(), true
	default:
		return nil, false
	}
}

// holds says whether all of the columns are among those of the key.
func holds(key, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return !slices.Contains(key, name) })
}

// sameColumns compares keys without regard to the order of their columns.
func sameColumns(a, b []string) bool { return len(a) == len(b) && holds(a, b) }

// isUnstable says whether the texts of a column's values change while the values stay: they
// name objects and roles, which can be renamed, or depend on lc_monetary.
//
// Rows without a key are found by the texts of their columns as the server's
// output functions write them, so that values which have no equality (json, xml,
// point) or a loose one (texts under a collation that is not deterministic) tell
// rows apart as well: equal texts are equal rows as far as a reader can see. Not
// seen here are money inside of composite and range types, types that extensions
// define, and new definitions: renamed labels of enumerations and altered composite
// types change the texts of rows that are there already.
func isUnstable(c Column) bool {
	return c.NamesObjects || strings.TrimPrefix(c.BaseType, "_") == "money"
}

// checkIdentity checks that changed rows can be found again.
func (b *builder) checkIdentity() {
	r := b.publication.Relation
	told := b.checkLeaves()
	if len(r.Key) == 0 && !told {
		what, fix := unidentified(r.Name, r.ReplicaIdentity, r.PrimaryKey)
		b.problem("", what, fix)
	}
	for _, name := range r.Key {
		column, _ := r.Column(name)
		switch {
		case column.Generated:
			b.problem(name, "is part of the key and a generated column, which logical replication leaves out",
				fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY USING INDEX ...;\n-- a unique index over other columns, none of them nullable", r.Name.SQL()))
		case r.KeyRepeats && isUnstable(column):
			b.problem(name, fmt.Sprintf("the table has no key, so that its rows are told apart by the texts of their columns, and that of type %s can change by itself", column.Type),
				fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (...);\n-- or give the column another type", r.Name.SQL()))
		}
	}
}

// failing warns of what publishing such a table does to the applications that
// write it.
const failing = "; once it is published, UPDATE and DELETE fail at the source until this is mended"

// unidentified says why the rows of one table cannot be identified, and the
// statement that mends it.
func unidentified(name Name, identity byte, primaryKey []string) (what, fix string) {
	switch {
	case len(primaryKey) > 0:
		return "changed rows cannot be identified: its replica identity is not the primary key that it has" + failing,
			"ALTER TABLE " + name.SQL() + " REPLICA IDENTITY DEFAULT"
	case identity == 'n':
		what = "changed rows cannot be identified: its replica identity is NOTHING"
	case identity == 'i':
		what = "changed rows cannot be identified: the index of its replica identity is gone"
	case identity == 'f':
		return "changed rows cannot be identified: it has no column that is replicated", "ALTER TABLE " + name.SQL() + " ADD PRIMARY KEY (...)"
	default:
		what = "changed rows cannot be identified: it has neither a primary key that is not deferrable nor a replica identity index"
	}
	return what + failing, "ALTER TABLE " + name.SQL() + " REPLICA IDENTITY FULL;\n-- or ADD PRIMARY KEY (...), REPLICA IDENTITY DEFAULT, which costs the source less"
}

// checkLeaves checks that all leaves are in this server's log and agree on a key. It reports
// whether it found one that does not.
func (b *builder) checkLeaves() (told bool) {
	r := b.publication.Relation
	var foreign, detach, unfit, alter []string
	for _, leaf := range r.Leaves {
		if leaf.Kind != KindTable {
			foreign = append(foreign, leaf.Name.String())
			detach = append(detach, fmt.Sprintf("ALTER TABLE %s DETACH PARTITION %s", leaf.Parent.SQL(), leaf.Name.SQL()))
			continue
		}
		if identity, fits := r.wanted(leaf); !fits {
			unfit = append(unfit, leaf.Name.String())
			alter = append(alter, fmt.Sprintf("ALTER TABLE %s REPLICA IDENTITY %s", leaf.Name.SQL(), identity))
		}
	}
	if len(foreign) > 0 {
		b.problem("", "has partitions that are foreign tables, whose changes are not in this server's log: "+strings.Join(foreign, ", "),
			strings.Join(detach, ";\n"))
	}
	if len(r.Key) > 0 || len(unfit) == 0 {
		return len(foreign) > 0
	}
	if len(r.PrimaryKey) == 0 {
		alter[len(alter)-1] += fmt.Sprintf(";\n-- or ALTER TABLE %s ADD PRIMARY KEY (...), which costs the source less", r.Name.SQL())
	}
	b.problem("", "changed rows cannot be identified by columns that are one key of all of its partitions: "+strings.Join(unfit, ", ")+failing,
		strings.Join(alter, ";\n"))
	return true
}

// wanted is the replica identity by which the leaf agrees with the others, and
// whether it has it.
func (r Relation) wanted(leaf Leaf) (identity string, fits bool) {
	if len(r.PrimaryKey) > 0 && (leaf.ReplicaIdentity == 'n' || leaf.ReplicaIdentity == 'i') {
		return "DEFAULT", false
	}
	if len(r.PrimaryKey) > 0 && sameColumns(leaf.Key, r.PrimaryKey) {
		return "", true
	}
	return "FULL", leaf.ReplicaIdentity == 'f'
}
