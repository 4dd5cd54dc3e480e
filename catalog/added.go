package catalog

import "maps"

// Added is what an extension or a superuser has added to pg_catalog, where clients' statements
// find it without naming a schema. Names that kproxy lets pass must mean PostgreSQL's own
// objects, never these.
type Added struct {
	// Functions, Operators and Types are the names of such objects in pg_catalog.
	Functions, Operators, Types map[string]bool
	// Implicit describes the first added cast or default operator class, which PostgreSQL puts
	// into statements without their naming it; empty where there is none.
	Implicit string
}

// Same reports whether both are equal.
func (a Added) Same(b Added) bool {
	return a.Implicit == b.Implicit && maps.Equal(a.Functions, b.Functions) && maps.Equal(a.Operators, b.Operators) && maps.Equal(a.Types, b.Types)
}

// Added is what the database has added to pg_catalog.
func (s *Snapshot) Added() Added { return s.names.Added }
