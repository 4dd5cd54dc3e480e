package rewrite

import "slices"

// temporaryTable is a temporary table of a session.
type temporaryTable struct {
	name string
	// dropped says that it ends with the transaction: ON COMMIT DROP.
	dropped bool
}

func withoutDropped(tables []temporaryTable) []temporaryTable {
	if !slices.ContainsFunc(tables, func(t temporaryTable) bool { return t.dropped }) {
		return tables
	}
	return slices.DeleteFunc(slices.Clone(tables), func(t temporaryTable) bool { return t.dropped })
}

// temporaryKey tells sets of temporary tables apart.
func temporaryKey(tables []temporaryTable) []string {
	parts := make([]string, len(tables))
	for i, t := range tables {
		parts[i] = t.name
		if t.dropped {
			parts[i] += " dropped"
		}
	}
	return parts
}

func sameTemporary(a, b []temporaryTable) bool { return slices.Equal(a, b) }
