package accept

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// Changes tells, in words for the operator, what makes names or values of a table mean
// something else than when it was accepted; none where a policy that named columns for which
// needed says yes, in whatever role, still says what it said. Columns that were added, and
// dropped ones that the policy does not need and whose names nobody has taken, change nothing
// of what is published. Labels that were added leave the others and their order as they were.
func (t Table) Changes(now Table, needed func(column string) bool) []string {
	if t.OID != now.OID {
		return []string{"the table was dropped, and another one has its name"}
	}
	var changes []string
	for _, before := range t.Columns {
		column, there := now.column(before.Number)
		other, taken := now.Column(before.Name)
		switch {
		case there && before.Same(column):
		case there && before.String() == column.String():
			changes = append(changes, fmt.Sprintf("column %d, %s, has another type of that name, another collation, or is no longer generated", before.Number, before))
		case there:
			changes = append(changes, fmt.Sprintf("column %d was %s, is now %s", before.Number, before, column))
		case taken:
			changes = append(changes, fmt.Sprintf("column %d, %s, was dropped, and column %d has its name, now %s", before.Number, before, other.Number, other))
		case needed(before.Name):
			changes = append(changes, fmt.Sprintf("column %d, %s, was dropped", before.Number, before))
		}
	}
	changes = append(changes, catalog.TypeChanges(t.Types, now.Types)...)
	for _, before := range t.Leaves {
		i := slices.IndexFunc(now.Leaves, func(l Leaf) bool { return l.OID == before.OID })
		if i >= 0 && before.movedIn(t, now.Leaves[i], now) {
			changes = append(changes, fmt.Sprintf("the partition with the object identifier %d had its columns renamed or made anew while it was detached", before.OID))
		}
	}
	return changes
}

// movedIn tells whether the partition of table t has another column now for one of the table's
// columns. A column that was replaced in the table was replaced in its partitions, too.
func (l Leaf) movedIn(t Table, now Leaf, table Table) bool {
	present := now.places(table)
	for number, place := range l.places(t) {
		if other, there := present[number]; there && other != place {
			return true
		}
	}
	return false
}

// places are the partition's numbers for the table's columns, by the table's numbers.
func (l Leaf) places(t Table) map[int16]int16 {
	places := make(map[int16]int16, len(l.Columns))
	for _, c := range l.Columns {
		if column, there := t.Column(c.Name); there {
			places[column.Number] = c.Number
		}
	}
	return places
}

// Holds tells whether every column of the table is still there in the present one, so that
// nothing has gone of what a place in a row of the stream is found by.
func (t Table) Holds(now Table) bool {
	return t.OID == now.OID && !slices.ContainsFunc(t.Columns, func(c Column) bool {
		column, there := now.column(c.Number)
		return !there || !c.Same(column)
	})
}

// Sent is a column as the replication stream describes it.
type Sent struct {
	Name     string
	TypeOID  uint32
	Modifier int32
}

// Describes tells whether a relation that the stream describes by these columns, which are
// in the order of their numbers, has those of the table first, in their order: of the table
// itself or, where leaf is not 0, of that partition. Columns after them were added later.
// The stream tells no numbers; together with a later look at the catalogs that finds all
// columns in place (Holds), the order tells them (sync/DESIGN.md).
func (t Table) Describes(leaf uint32, sent []Sent) bool {
	columns := t.Columns
	if leaf != 0 {
		var known bool
		if columns, known = t.ofLeaf(leaf); !known {
			return false
		}
	}
	at := 0
	for _, c := range columns {
		switch {
		case at < len(sent) && sent[at] == Sent{c.Name, uint32(c.TypeOID), c.Modifier}:
			at++
		case !c.Generated: // those are sent by some publications alone
			return false
		}
	}
	return true
}

// ofLeaf are the table's columns in the order in which a partition has them.
func (t Table) ofLeaf(oid uint32) ([]Column, bool) {
	i := slices.IndexFunc(t.Leaves, func(l Leaf) bool { return uint32(l.OID) == oid })
	if i < 0 {
		return nil, false
	}
	var columns []Column
	for _, c := range t.Leaves[i].Columns {
		if column, there := t.Column(c.Name); there {
			columns = append(columns, column)
		}
	}
	return columns, len(columns) == len(t.Columns)
}
