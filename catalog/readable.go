package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	// Definition is a view's query as the server writes it, with every name outside
	// pg_catalog qualified; empty for what is no view.
	Definition string
	// Reads are the relations that a view's definition names, each once, ordered by name.
	Reads []Name
	// Barrier says that it is a security barrier (PostgreSQL, chapter "Rules and
	// Privileges").
	Barrier bool
	// Parts are the relations whose rows it shows besides its own, by their numbers:
	// partitions and what inherits from it. Foreign says that one of them, or the relation,
	// is a foreign table.
	Parts   []ReadablePart
	Foreign bool
	// RowSecurity says that policies may show different rows to different roles.
	RowSecurity bool
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
	// Shown is the type in which readers get its values, where those are names of objects
	// (regclass and its like) or have such in them; else empty.
	Shown string `json:"-"`
	// Types are those of users that the values are of, or consist of; nil where there are
	// none, or they are not known.
	Types []UserType `json:"types,omitempty"`
}

// ReadablePart is a relation whose rows another one shows. It has numbers of its own for the other's
// columns, and has them by their names: whoever takes it off can rename them, and put it back.
type ReadablePart struct {
	OID OID `json:"oid"`
	// Numbers are those that it has for the columns 1, 2 and so on of the other relation; 0
	// for a column that was dropped.
	Numbers []int16 `json:"numbers"`
}

// same says whether the part shows under each column that both know of what it showed.
func (p ReadablePart) same(now ReadablePart) bool {
	for i := range min(len(p.Numbers), len(now.Numbers)) {
		if p.Numbers[i] != now.Numbers[i] && p.Numbers[i] != 0 && now.Numbers[i] != 0 {
			return false
		}
	}
	return true
}

// Identity is what a listed relation was when it was accepted. Readers are served that and
// nothing else, whatever bears its name later.
type Identity struct {
	// OverProtected stands for a view over protected tables. Such a one is published from
	// what its tables publish, whatever its definition, and nothing more of it is kept.
	OverProtected bool             `json:"over_protected,omitempty"`
	OID           OID              `json:"oid,omitempty"`
	Kind          string           `json:"kind,omitempty"` // as in pg_class.relkind
	Columns       []ReadableColumn `json:"columns,omitempty"`
	Definition    string           `json:"definition,omitempty"`
	// Parts are those whose rows were served, and are there still, attached or not.
	Parts []ReadablePart `json:"parts,omitempty"`
	// Reads are the relations under a view, by their names as String writes them. Of
	// tables among them the columns are not kept: what the view reads of them cannot be
	// dropped or get another type.
	Reads map[string]Identity `json:"reads,omitempty"`
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

// IdentityOf is what a listed relation is now, given the relations under it.
func IdentityOf(r ReadableRelation, under map[Name]ReadableRelation) Identity {
	i := identity(r, under)
	i.Columns = r.Columns
	return i
}

func identity(r ReadableRelation, under map[Name]ReadableRelation) Identity {
	i := Identity{OID: r.OID, Kind: string(r.Kind), Definition: r.Definition, Parts: r.Parts}
	for _, name := range r.Reads {
		if i.Reads == nil {
			i.Reads = make(map[string]Identity, len(r.Reads))
		}
		if inner, known := under[name]; known {
			i.Reads[name.String()] = identity(inner, under)
		}
	}
	return i
}

var kindNames = map[string]string{
	string(KindTable): "table", string(KindPartitionedTable): "partitioned table", string(KindView): "view",
	string(KindMaterializedView): "materialized view", string(KindForeignTable): "foreign table",
}

// what names the relation for the operator.
func (i Identity) what() string {
	if i.OverProtected {
		return "a view over protected tables"
	}
	return fmt.Sprintf("%s %d", kindNames[i.Kind], i.OID)
}

// Changes says how the relation that is there now differs from the accepted one, each
// difference in a few words; none where readers may have it. Columns that were added to a
// table are no difference: nobody is served them before they are accepted.
func (i Identity) Changes(now Identity) []string {
	if i.OverProtected || now.OverProtected {
		if i.OverProtected == now.OverProtected {
			return nil
		}
		return []string{i.what() + " was accepted, and " + now.what() + " has its name"}
	}
	if i.OID != now.OID || i.Kind != now.Kind {
		return []string{i.what() + " was accepted, and " + now.what() + " has its name"}
	}
	var changes []string
	for _, before := range i.Columns {
		at := slices.IndexFunc(now.Columns, func(c ReadableColumn) bool { return c.Number == before.Number })
		switch {
		case at < 0:
			changes = append(changes, "column "+before.Name+" is gone")
		case now.Columns[at].Name != before.Name:
			changes = append(changes, "column "+before.Name+" is called "+now.Columns[at].Name)
		case now.Columns[at].Type != before.Type:
			changes = append(changes, fmt.Sprintf("column %s is of type %s, and was %s", before.Name, now.Columns[at].Type, before.Type))
		default:
			changes = append(changes, TypeChanges(before.Types, now.Columns[at].Types)...)
		}
	}
	slices.Sort(changes) // what differs in a type of several columns is told once
	return append(slices.Compact(changes), i.changesUnder(now)...)
}

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
// parts, and the types of columns. Parts that are gone are left out.
func (i Identity) Knowing(other Identity, gone func(OID) bool) Identity {
	if i.OID != other.OID {
		return i
	}
	parts := slices.Clone(i.Parts)
	for _, p := range other.Parts {
		if !slices.ContainsFunc(i.Parts, func(known ReadablePart) bool { return known.OID == p.OID }) {
			parts = append(parts, p)
		}
	}
	i.Parts = slices.DeleteFunc(parts, func(p ReadablePart) bool { return gone(p.OID) })
	slices.SortFunc(i.Parts, func(a, b ReadablePart) int { return cmp.Compare(a.OID, b.OID) })
	i.Columns = slices.Clone(i.Columns)
	for at, c := range i.Columns {
		known := slices.IndexFunc(other.Columns, func(o ReadableColumn) bool { return o.Number == c.Number })
		if c.Types == nil && known >= 0 {
			i.Columns[at].Types = other.Columns[known].Types
		}
	}
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

// changesUnder are those of a view's definition and of what it reads.
func (i Identity) changesUnder(now Identity) []string {
	if i.Definition != now.Definition {
		return []string{"its definition is another one"}
	}
	changes := i.changesOfParts(now)
	for name, before := range i.Reads {
		for _, change := range before.Changes(now.Reads[name]) {
			changes = append(changes, "of "+name+", which it reads: "+change)
		}
	}
	slices.Sort(changes)
	return changes
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
