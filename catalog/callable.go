package catalog

import "slices"

// ServerNames are the names in a server's catalogs that may follow a dot in clients' statements:
// where value has no column f, PostgreSQL reads value.f as a call.
type ServerNames struct {
	// Callable are the names of the functions and types of pg_catalog. Nil says that they
	// are not known.
	Callable map[string]bool
	// Columns are those of the relations that clients may read, by the names of the relations that are
	// read in their place.
	Columns map[Name][]ColumnName
	// Added is what was added to pg_catalog since initdb.
	Added Added
}

// ColumnName is a column of a relation.
type ColumnName struct {
	Name string
	// Composite says that its values may have columns themselves.
	Composite bool
	// Type is the type of its values, in SQL; empty where it is not known.
	Type string
}

// Same reports whether both are equal.
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

// Callable reports whether pg_catalog may have a function or a type of the name. It is true of every
// name while the server's are not known.
func (s *Snapshot) Callable(name string) bool {
	return s.names.Callable == nil || s.names.Callable[name]
}

// Columns are the columns that a relation is known to have, by the name of what is read.
func (s *Snapshot) Columns(target Name) []ColumnName { return s.names.Columns[target] }
