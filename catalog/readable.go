package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ReadableRelation is an unprotected relation that the policy lists under readable, or one that a
// listed view reads.
type ReadableRelation struct {
	OID  OID
	Name Name
	Kind Kind
	// Listed says that the policy lists it.
	Listed bool
	// Columns are its ordinary columns, in order.
	Columns []ReadableColumn
	// Key are the columns of its primary key, in index order; empty where there is none, or
	// it may be deferred.
	Key []string
	// Definition is the query of a view, or of a materialized one, as the server writes it,
	// with every name outside pg_catalog qualified; empty for what is neither. Unread says, in words, what keeps it
	// from being read.
	Definition, Unread string
	// Rule stands for that query as the server keeps it: the MD5 of pg_rewrite.ev_action.
	Rule string
	// Made is the transaction that gave the view this query: the xmin of its row in pg_rewrite.
	Made string
	// Reads are the relations that the definition names, each once, ordered by name.
	Reads []Name
	// Barrier says that the view is a security barrier (PostgreSQL, chapter "Rules and
	// Privileges").
	Barrier bool
	// Parts are the relations whose rows it shows besides its own, by their numbers:
	// partitions and what inherits from it. Foreign says that one of them, or the relation,
	// is a foreign table.
	Parts   []ReadablePart
	Foreign bool
	// Tree are the numbers of the relation itself, of all that is below it, and of all that any
	// of these is a partition of or inherits from, at any depth, ascending.
	Tree []OID
	// Types are those of users that its values are of, or consist of, and those that a view's
	// definition names.
	Types []UserType
	// RowSecurity says that policies may show different rows to different roles.
	RowSecurity bool
	// Function is one that a view's definition calls and that may read tables with the rights
	// of whoever runs it: one that initdb did not make and
	// that is not IMMUTABLE; empty for none.
	Function string
	// SystemReads are the catalogs and views of PostgreSQL itself that a view's definition
	// reads, with TOAST tables and sequences, and SystemCalls the names of its functions that are not IMMUTABLE.
	SystemReads, SystemCalls []string
	// Raw says that it shows rows of protected tables, or is kproxy's own.
	Raw bool
	// Granted says that kproxy's owner role may read it.
	Granted bool
}

// ReadableColumn is one column of a readable relation.
type ReadableColumn struct {
	Number int16  `json:"number"` // pg_attribute.attnum
	Name   string `json:"name"`
	Type   string `json:"type"` // with its modifier; see Column.Type
	// TypeOID is the type's number; 0 where it is not known.
	TypeOID OID `json:"type_oid,omitempty"`
	// Shown is the type in which readers get its values, where those are names of objects
	// (regclass and its like) or have such in them; else empty.
	Shown string `json:"-"`
}

// ReadablePart is a relation whose rows another one shows. It has numbers of its own for the other's
// columns, and has them by their names: whoever takes it off can rename them, and put it back.
type ReadablePart struct {
	OID OID `json:"oid"`
	// Numbers are those that it has for the columns 1, 2 and so on of the other relation; 0
	// for a column that was dropped.
	Numbers []int16 `json:"numbers"`
}

// same reports whether the part still shows the same under each column that both know.
func (p ReadablePart) same(now ReadablePart) bool {
	for i := range min(len(p.Numbers), len(now.Numbers)) {
		if p.Numbers[i] != now.Numbers[i] && p.Numbers[i] != 0 && now.Numbers[i] != 0 {
			return false
		}
	}
	return true
}

// Identity describes a listed relation when it was accepted. Readers get that relation and no
// other that has its name later.
type Identity struct {
	// OverProtected stands for a view over protected tables. Such a one is published from
	// what its tables publish, whatever its definition, and nothing more of it is kept.
	OverProtected bool   `json:"over_protected,omitempty"`
	OID           OID    `json:"oid,omitempty"`
	Kind          string `json:"kind,omitempty"` // as in pg_class.relkind
	// Columns are those that readers are served, or that a view reads as they are. Types are
	// those that ReadableRelation.Types tells of. Both are nil where they are not known.
	Columns    []ReadableColumn `json:"columns,omitzero"`
	Types      []UserType       `json:"types,omitzero"`
	Definition string           `json:"definition,omitempty"`
	// Made is that of a view; see ReadableRelation. It is empty where it is not known.
	Made string `json:"made,omitempty"`
	// Parts are those whose rows were served, and are there still, attached or not.
	Parts []ReadablePart `json:"parts,omitempty"`
	// Reads are the relations under a view, by their names as String writes them.
	Reads map[string]Identity `json:"reads,omitempty"`
	// Doubted says that what a materialized view is filled from was another for a time. It may
	// hold rows from then, whatever it would be filled from now.
	Doubted bool `json:"doubted,omitempty"`
}

// String is the text that is stored.
func (i Identity) String() string {
	text, err := json.Marshal(i)
	if err != nil {
		return "" // an identity holds nothing that has no form in JSON
	}
	return string(text)
}

// ParseIdentity reads what String wrote.
func ParseIdentity(text string) (i Identity, err error) {
	if err = json.Unmarshal([]byte(text), &i); err != nil {
		return i, fmt.Errorf("reading what was accepted: %w", err)
	}
	return i, nil
}

// IdentityOf is what a relation is now, given the relations under it.
func IdentityOf(r ReadableRelation, under map[Name]ReadableRelation) Identity {
	i := Identity{
		OID: r.OID, Kind: string(r.Kind), Definition: r.Definition, Made: r.Made, Parts: r.Parts,
		Columns: append([]ReadableColumn{}, r.Columns...), Types: append([]UserType{}, r.Types...),
	}
	for _, name := range r.Reads {
		if i.Reads == nil {
			i.Reads = make(map[string]Identity, len(r.Reads))
		}
		if inner, known := under[name]; known {
			i.Reads[name.String()] = IdentityOf(inner, under)
		}
	}
	return i
}

var kindNames = map[string]string{
	string(KindTable): "table", string(KindPartitionedTable): "partitioned table", string(KindView): "view",
	string(KindMaterializedView): "materialized view", string(KindForeignTable): "foreign table",
}

// what is the name of the relation in messages to the operator.
func (i Identity) what() string {
	if i.OverProtected {
		return "a view over protected tables"
	}
	return fmt.Sprintf("%s %d", kindNames[i.Kind], i.OID)
}

// Changes describes the differences between the present relation and the accepted one, each in
// a few words; there are none if readers may have it. Columns that were added to a
// table are no difference: nobody is served them before they are accepted. Those of which a
// materialized view holds whole rows are.
func (i Identity) Changes(now Identity) []string {
	if i.OverProtected || now.OverProtected {
		if i.OverProtected == now.OverProtected {
			return nil
		}
		return []string{i.what() + " was accepted, and " + now.what() + " has its name"}
	}
	changes := append(i.addedToCopies(now), i.redefinedInCopies(now)...)
	if i.Doubted && !now.Doubted {
		changes = append(changes, "what it is filled from was not as it was accepted for a time, and it may hold rows from then: refresh it first")
	}
	for _, before := range i.Columns {
		at := slices.IndexFunc(now.Columns, func(c ReadableColumn) bool { return c.Number == before.Number })
		switch {
		case i.OID != now.OID || i.Kind != now.Kind: // which changesWithin tells
		case at < 0:
			changes = append(changes, "column "+before.Name+" is gone")
		case now.Columns[at].Name != before.Name:
			changes = append(changes, "column "+before.Name+" is called "+now.Columns[at].Name)
		default:
			changes = append(changes, before.retyped(now.Columns[at])...)
		}
	}
	return append(changes, i.changesWithin(now)...)
}

func (c ReadableColumn) retyped(now ReadableColumn) []string {
	switch {
	case c.Type != now.Type:
		return []string{fmt.Sprintf("column %s is of type %s, and was %s", c.Name, now.Type, c.Type)}
	case c.TypeOID != now.TypeOID && c.TypeOID != 0:
		return []string{fmt.Sprintf("column %s is of another type %s", c.Name, now.Type)}
	}
	return nil
}

// changesWithin are those of what the relation is and shows, whatever the names of its columns.
func (i Identity) changesWithin(now Identity) []string {
	switch {
	case i.OID != now.OID || i.Kind != now.Kind:
		return []string{i.what() + " was accepted, and " + now.what() + " has its name"}
	case i.Definition != now.Definition:
		return []string{"its definition is another one"}
	}
	changes := append(TypeChanges(i.Types, now.Types), i.changesOfParts(now)...)
	for name, before := range i.Reads {
		for _, change := range append(before.newlyTyped(now.Reads[name]), before.changesWithin(now.Reads[name])...) {
			changes = append(changes, "of "+name+", which it reads: "+change)
		}
	}
	slices.Sort(changes)
	return changes
}

// newlyTyped are the changes of columns under a view that have got types of users. The server
// keeps those that the view names from that, and not those that it reads by whole rows.
func (i Identity) newlyTyped(now Identity) []string {
	var changes []string
	for _, before := range i.Columns {
		at := slices.IndexFunc(now.Columns, func(c ReadableColumn) bool { return c.Number == before.Number })
		if at >= 0 && now.Columns[at].TypeOID >= firstUserType {
			changes = append(changes, before.retyped(now.Columns[at])...)
		}
	}
	return changes
}

// firstUserType is the least number of a type that initdb did not make.
const firstUserType = 16384

// changesOfParts are those of the parts that are there before and now. What comes to the
// relation brings rows, as INSERT does.
func (i Identity) changesOfParts(now Identity) []string {
	var changes []string
	for _, before := range i.Parts {
		at := slices.IndexFunc(now.Parts, func(p ReadablePart) bool { return p.OID == before.OID })
		if at >= 0 && !before.same(now.Parts[at]) {
			changes = append(changes, fmt.Sprintf("the partition, or inheriting table, with the object identifier %d had its columns renamed or made anew while it was taken off", before.OID))
		}
	}
	return changes
}

// Knowing is the identity with what it does not know of another one of the same relation:
// parts, columns and types. Parts that are gone are left out.
func (i Identity) Knowing(other Identity, gone func(OID) bool) Identity {
	if i.OID != other.OID {
		return i
	}
	if i.Columns == nil {
		i.Columns = other.Columns
	}
	if i.Types == nil {
		i.Types = other.Types
	}
	if i.Made == "" {
		i.Made = other.Made
	}
	i.Columns = slices.Clone(i.Columns)
	for at, c := range i.Columns {
		known := slices.IndexFunc(other.Columns, func(o ReadableColumn) bool { return o.Number == c.Number })
		if c.TypeOID == 0 && known >= 0 {
			i.Columns[at].TypeOID = other.Columns[known].TypeOID
		}
	}
	parts := slices.Clone(i.Parts)
	for _, p := range other.Parts {
		if !slices.ContainsFunc(i.Parts, func(known ReadablePart) bool { return known.OID == p.OID }) {
			parts = append(parts, p)
		}
	}
	i.Parts = slices.DeleteFunc(parts, func(p ReadablePart) bool { return gone(p.OID) })
	slices.SortFunc(i.Parts, func(a, b ReadablePart) int { return cmp.Compare(a.OID, b.OID) })
	i.Reads = maps.Clone(i.Reads)
	for name, inner := range i.Reads {
		i.Reads[name] = inner.Knowing(other.Reads[name], gone)
	}
	return i
}

// AllParts are the object identifiers of its parts, and of what it reads.
func (i Identity) AllParts() []OID {
	var all []OID
	for _, p := range i.Parts {
		all = append(all, p.OID)
	}
	for _, inner := range i.Reads {
		all = append(all, inner.AllParts()...)
	}
	return all
}

// Added are the columns of the relation that is there now which were not accepted.
func (i Identity) Added(now Identity) []string {
	var added []string
	for _, c := range now.Columns {
		if !slices.ContainsFunc(i.Columns, func(before ReadableColumn) bool { return before.Number == c.Number }) {
			added = append(added, c.Name)
		}
	}
	return added
}

// AddedUnder are the columns that were added to relations of which a view shows whole rows, each
// in a few words.
func (i Identity) AddedUnder(now Identity) []string {
	var added []string
	unserved := ", and is not served"
	if i.Kind == string(KindMaterializedView) { // whose rows may have it since the last REFRESH
		unserved = ""
	}
	for name, before := range i.Reads {
		if strings.Contains(i.Definition, ".*") { // as the server writes a whole row
			for _, column := range before.Added(now.Reads[name]) {
				added = append(added, "of "+name+", which it reads: column "+column+" was added"+unserved)
			}
		}
		for _, more := range before.AddedUnder(now.Reads[name]) {
			added = append(added, "of "+name+", which it reads: "+more)
		}
	}
	slices.Sort(added)
	return added
}

// Served are the relation's columns that were accepted, as they are now.
func (i Identity) Served(columns []ReadableColumn) []ReadableColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c ReadableColumn) bool {
		return !slices.ContainsFunc(i.Columns, func(accepted ReadableColumn) bool { return accepted.Number == c.Number })
	})
}

// AllTypes are its types, and those of what it reads, each once, ordered by number.
func (i Identity) AllTypes() []UserType {
	all := slices.Clone(i.Types)
	for _, inner := range i.Reads {
		all = append(all, inner.AllTypes()...)
	}
	return UniqueTypes(all)
}
