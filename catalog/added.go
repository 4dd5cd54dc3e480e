package catalog

import "maps"

// Added is what clients' statements may find in the database's own schema, or without
// any, and what initdb did not make: an extension or a superuser did. Names that kproxy
// lets pass mean PostgreSQL's own objects alone, and so none of these.
type Added struct {
	// Functions, Operators and Types are the names of such objects in pg_catalog.
	Functions, Operators, Types map[string]bool
	// Implicit says of the first cast or default operator class that PostgreSQL itself
	// puts into statements, which no name tells, what it is; empty where there is none.
	Implicit string
}

// Same reports whether both are equal.
func (a Added) Same(b Added) bool {
	return a.Implicit == b.Implicit && maps.Equal(a.Functions, b.Functions) && maps.Equal(a.Operators, b.Operators) && maps.Equal(a.Types, b.Types)
}

// Added is what initdb did not make and statements may find.
func (s *Snapshot) Added() Added { return s.names.Added }
