package catalog

import "slices"

// Disposition says what a client that names a relation may have.
type Disposition int

const (
	// Missing means: no such relation as far as the client may know (SQLSTATE 42P01).
	Missing Disposition = iota
	// Protected means: the published relation is read in its place.
	Protected
	// Withdrawn means: protected, but its guarantees cannot be given now (SQLSTATE 55000).
	Withdrawn
	// Readable means: unprotected, listed by the operator, read as it is.
	Readable
	// SystemCatalog means: a system relation or the stand-in for it.
	SystemCatalog
	// Forbidden means: exists and must not be read (SQLSTATE 42501).
	Forbidden
)

// Resolution is what a name in a client's statement stands for.
type Resolution struct {
	Disposition Disposition
	// Source is the relation the client named, with its schema.
	Source Name
	// Target is the relation to read; set for Protected, Readable and SystemCatalog.
	Target Name
	// Reason says why a Withdrawn table is not published.
	Reason string
}

// Snapshot is what clients' names resolve to at one moment. It is immutable
// and safe for concurrent use.
type Snapshot struct {
	relations map[Name]Resolution
	// schemas are those that clients may use.
	schemas map[string]bool
}

// DefaultSearchPath is where bare names of clients that set no search path are looked
// up, after pg_catalog, which PostgreSQL always searches first.
var DefaultSearchPath = []string{"public"}

// NewSnapshot resolves the policy against the relations that exist. Withdrawn
// maps protected tables that are not published now to the reason.
func NewSnapshot(policy Policy, relations []Relation, withdrawn map[Name]string) *Snapshot {
	s := &Snapshot{relations: make(map[Name]Resolution, len(relations))}
	for _, r := range relations {
		if IsOwn(r.Name.Schema) || isSystem(r.Name.Schema) {
			continue
		}
		s.relations[r.Name] = Resolution{Disposition: Forbidden, Source: r.Name}
	}
	for _, name := range policy.Readable {
		if _, exists := s.relations[name]; exists {
			s.relations[name] = Resolution{Disposition: Readable, Source: name, Target: name}
		}
	}
	for _, t := range policy.Tables {
		if reason, gone := withdrawn[t.Table]; gone {
			s.relations[t.Table] = Resolution{Disposition: Withdrawn, Source: t.Table, Reason: reason}
			continue
		}
		s.relations[t.Table] = Resolution{Disposition: Protected, Source: t.Table, Target: Published(t.Table)}
	}
	s.schemas = usable(s.relations)
	return s
}

// usable are the schemas that clients may use: the system's, public, and those with
// a table that is published or readable.
func usable(relations map[Name]Resolution) map[string]bool {
	schemas := map[string]bool{"pg_catalog": true, "information_schema": true, "public": true}
	for name, r := range relations {
		if r.Disposition != Forbidden {
			schemas[name.Schema] = true
		}
	}
	return schemas
}

// HasSchema says whether the schema exists for clients. Others are passed over in
// search paths, as PostgreSQL does with schemas that do not exist or that the user has
// no USAGE on.
func (s *Snapshot) HasSchema(name string) bool { return s.schemas[name] }

// Resolve is what a name with its schema stands for.
func (s *Snapshot) Resolve(schema, relation string) Resolution {
	return s.lookup(Name{Schema: schema, Relation: relation})
}

// ResolveIn looks a bare name up on a search path as PostgreSQL does: pg_catalog
// first, unless the path names it; schemas that do not exist are passed over.
func (s *Snapshot) ResolveIn(path []string, relation string) Resolution {
	if !slices.Contains(path, "pg_catalog") {
		if r := s.lookup(Name{Schema: "pg_catalog", Relation: relation}); r.Disposition != Missing {
			return r
		}
	}
	for _, schema := range path {
		if !s.HasSchema(schema) {
			continue
		}
		if r := s.lookup(Name{Schema: schema, Relation: relation}); r.Disposition != Missing {
			return r
		}
	}
	return Resolution{Disposition: Missing, Source: Name{Relation: relation}}
}

// PublishedNames lists the published relations with the names clients know them
// by, so that messages can be put into the clients' words.
func (s *Snapshot) PublishedNames() map[Name]Name {
	names := make(map[Name]Name)
	for source, r := range s.relations {
		if r.Disposition == Protected {
			names[r.Target] = source
		}
	}
	return names
}

func (s *Snapshot) lookup(name Name) Resolution {
	if isSystem(name.Schema) {
		return resolveSystem(name)
	}
	if r, ok := s.relations[name]; ok {
		return r
	}
	return Resolution{Disposition: Missing, Source: name}
}
