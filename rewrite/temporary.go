package rewrite

import (
	"slices"
	"strings"
)

// temporaryTable is a temporary table of a session.
type temporaryTable struct {
	name string
	// dropped says that it ends with the transaction: ON COMMIT DROP.
	dropped bool
}

// withTable is the tables with one more, in order.
func withTable(tables []temporaryTable, more temporaryTable) []temporaryTable {
	at, _ := slices.BinarySearchFunc(tables, more, func(a, b temporaryTable) int { return strings.Compare(a.name, b.name) })
	return slices.Insert(slices.Clone(tables), at, more)
}

// withoutTables returns the tables except those of these names.
func withoutTables(tables []temporaryTable, names []string) []temporaryTable {
	return slices.DeleteFunc(slices.Clone(tables), func(t temporaryTable) bool { return slices.Contains(names, t.name) })
}

// withoutDropped is what is left of the tables once the transaction has committed.
func withoutDropped(tables []temporaryTable) []temporaryTable {
	if !slices.ContainsFunc(tables, func(t temporaryTable) bool { return t.dropped }) {
		return tables
	}
	return slices.DeleteFunc(slices.Clone(tables), func(t temporaryTable) bool { return t.dropped })
}

// sameTemporary is quick for tables that nothing was done to since.
func sameTemporary(a, b []temporaryTable) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

func (s *Session) hasTemporaryTable(name string) bool {
	return slices.ContainsFunc(s.temporary, func(t temporaryTable) bool { return t.name == name })
}
