package catalog

import "strings"

// Disposition says what a client that names a relation may have.
type Disposition int

const (
	// Missing means: no such relation as far as the client may know (SQLSTATE 42P01).
	Missing Disposition = iota
	// Protected means: the published relation is read in its place.
	Protected
	// Withdrawn means: protected, but its guarantees cannot be given now, or readable, but
	// not at the moment (SQLSTATE 55000).
	Withdrawn
	// Readable means: unprotected, listed by the operator, read by its stand-in.
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
	// Key is the primary key of a Readable relation that is a table, of which its stand-in
	// has none.
	Key []string
	// HasChildren says of a Readable relation that it has partitions, or that tables inherit
	// from it.
	HasChildren bool
	// FormAlone says that plans are to show their form alone: stand-ins of Readable relations, and
	// what reads such, look into the catalogs for parents of tables and fields of types, and under
	// views are rows and values that they do not show.
	FormAlone bool
	// Marked says of a Protected relation that its mark tells of all that can change what readers
	// see of it. It does not where the labels of a type of users may be renamed, or a type's input
	// and output be replaced; nor of times of day, which mean another moment every day.
	Marked bool
	// Summed says of a Protected relation that its summary is to have sums. Before these go, the policy says so.
	Summed bool
	// Reason says why a Withdrawn table is not published; of a Forbidden one it may be a
	// hint for the client.
	Reason string
}

// Snapshot is what clients' names resolve to at one moment. It is immutable
// and safe for concurrent use.
type Snapshot struct {
	// audience is the one for which names are resolved.
	audience  string
	relations map[Name]Resolution
	// schemas are those that clients may use.
	schemas map[string]bool
	// released are the tables by the numbers of their generations.
	released map[int64]Name
	types    map[Name]Name
	// functions are those that the operator lets clients call besides PostgreSQL's own.
	functions map[Name]bool
	// uncallable are those of them that must not be called now, and are in functions no more.
	uncallable map[Name]bool
	words      map[string]bool // see Names
	names      ServerNames
}

// NewSnapshot resolves the policy against the relations that exist. Withdrawn
// maps protected tables that are not published now, and readable relations that cannot
// be read, to the reason.
func NewSnapshot(policy Policy, relations []Relation, withdrawn map[Name]string) *Snapshot {
	policy = policy.shown()
	s := &Snapshot{audience: policy.Audience, relations: make(map[Name]Resolution, len(relations))}
	known := make(map[Name]Relation, len(relations))
	for _, r := range relations {
		known[r.Name] = r
		if IsOwn(r.Name.Schema) || isSystem(r.Name.Schema) {
			continue
		}
		s.relations[r.Name] = Resolution{Disposition: Forbidden, Source: r.Name}
	}
	for _, name := range policy.Readable {
		if _, exists := s.relations[name]; !exists {
			continue
		}
		r := known[name]
		s.relations[name] = Resolution{
			Disposition: Readable, Source: name, Target: PublishedFor(policy.Audience, name),
			Key: r.PrimaryKey, HasChildren: r.HasChildren,
			FormAlone: true,
		}
		if reason, gone := withdrawn[name]; gone {
			s.relations[name] = Resolution{Disposition: Withdrawn, Source: name, Reason: reason}
		}
	}
	for _, t := range policy.Tables {
		if reason, gone := withdrawn[t.Table]; gone {
			s.relations[t.Table] = Resolution{Disposition: Withdrawn, Source: t.Table, Reason: reason}
			continue
		}
		s.relations[t.Table] = Resolution{Disposition: Protected, Source: t.Table, Target: t.Published(), Marked: isMarked(t, known[t.Table]), Summed: t.Summary == SummaryStored}
	}
	s.schemas = usable(s.relations)
	s.types = visibleTypes(policy, relations, withdrawn)
	s.functions = make(map[Name]bool, len(policy.Functions))
	for _, name := range policy.Functions {
		s.functions[name] = true
	}
	s.words = vocabulary(s, policy, relations)
	return s
}

// isMarked tells whether all published columns of a table are of PostgreSQL's own types, of values that
// mean the same every day.
func isMarked(t TablePolicy, r Relation) bool {
	for _, c := range r.Columns {
		if policy, named := t.Column(c.Name); !named || policy.Role == Identifying {
			continue
		}
		base := strings.TrimPrefix(c.BaseType, "_") // of an array
		if c.UserType != (Name{}) || c.NamesObjects || !isOwnType(c) || base == "time" || base == "timetz" {
			return false
		}
	}
	return len(r.Columns) > 0
}

// usable are the schemas that clients may use: the system's, the helpers', public, and
// those with a table that is published or readable.
func usable(relations map[Name]Resolution) map[string]bool {
	schemas := map[string]bool{"pg_catalog": true, "information_schema": true, "public": true, HelperSchema: true}
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

// PublishedNames lists the published relations with the names clients know them
// by, so that messages can be put into the clients' words.
func (s *Snapshot) PublishedNames() map[Name]Name {
	names := make(map[Name]Name)
	for source, r := range s.relations {
		if r.Disposition == Protected || r.Disposition == Readable {
			names[r.Target] = source
		}
	}
	return names
}

func (s *Snapshot) lookup(name Name) Resolution {
	if name.Schema == "information_schema" && !informationRelations[name.Relation] {
		return Resolution{Disposition: Missing, Source: name}
	}
	if isSystem(name.Schema) {
		return resolveSystem(name)
	}
	if r, ok := s.relations[name]; ok {
		return r
	}
	return Resolution{Disposition: Missing, Source: name}
}

// HasFunction says whether the operator lets clients call the functions of that name.
func (s *Snapshot) HasFunction(schema, name string) bool {
	return s.functions[Name{Schema: schema, Relation: name}]
}

// FunctionSchema is the schema in which the operator lets clients call functions of that
// name, the first by name where there are several; empty where there is none.
func (s *Snapshot) FunctionSchema(name string) string {
	first := ""
	for function := range s.functions {
		if function.Relation == name && (first == "" || function.Schema < first) {
			first = function.Schema
		}
	}
	return first
}

// WithReleased is the snapshot that knows the tables by the numbers of their
// generations.
func (s *Snapshot) WithReleased(tables map[int64]Name) *Snapshot {
	with := *s
	with.released = tables
	return &with
}

// Released is the table of whose release a generation is. The relations of the private
// store bear its number.
func (s *Snapshot) Released(generation int64) (Name, bool) {
	name, ok := s.released[generation]
	return name, ok
}
