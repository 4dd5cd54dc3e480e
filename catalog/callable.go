package catalog

import "slices"

// ServerNames are what the catalogs of a server say of names that may stand behind a dot
// in clients' statements: where value has no column f, PostgreSQL reads value.f as a call.
type ServerNames struct {
	// Callable are the names of the functions and types of pg_catalog. Nil says that they
	// are not known.
	Callable map[string]bool
	// Columns are those of the relations that clients may read, under the names of what is
	// read in their place.
	Columns map[Name][]ColumnName
	// Added is what of pg_catalog initdb did not make.
	Added Added
}

// ColumnName is a column of a relation.
type ColumnName struct {
	Name string
	// Composite says that its values may have columns themselves.
	Composite bool
	// Type is that of its values as SQL writes it; empty where it is not known.
	Type string
}

// Same says whether nothing has changed.
func (n ServerNames) Same(other ServerNames) bool {
	if !n.Added.Same(other.Added) || (n.Callable == nil) != (other.Callable == nil) || len(n.Callable) != len(other.Callable) || len(n.Columns) != len(other.Columns) {
		return false
	}
	for name := range n.Callable {
		if !other.Callable[name] {
			return false
		}
	}
	for name, columns := range n.Columns {
		if !slices.Equal(columns, other.Columns[name]) {
			return false
		}
	}
	return true
}

// WithNames is the snapshot that knows the server's names.
func (s *Snapshot) WithNames(names ServerNames) *Snapshot {
	with := *s
	with.names = names
	return &with
}

// WithColumns is the snapshot that knows other columns of relations.
func (s *Snapshot) WithColumns(columns map[Name][]ColumnName) *Snapshot {
	return s.WithNames(ServerNames{Callable: s.names.Callable, Columns: columns, Added: s.names.Added})
}

// Callable says whether pg_catalog may have a function or a type of the name: any name, as
// long as the server's are not known.
func (s *Snapshot) Callable(name string) bool {
	return s.names.Callable == nil || s.names.Callable[name]
}

// Columns are the columns that a relation is known to have, by the name of what is read.
func (s *Snapshot) Columns(target Name) []ColumnName { return s.names.Columns[target] }
