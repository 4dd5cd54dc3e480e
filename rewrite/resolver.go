package rewrite

import (
	"cmp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// temporarySchema is the name for the schema of the session's temporary tables.
const temporarySchema = "pg_temp"

// resolver finds what the names in a text mean: relations, functions, types and operators.
// It knows the session in which the next statement will run and remembers what was read.
type resolver struct {
	snapshot *catalog.Snapshot
	// session is the one in which the statement that is checked will run, if those before it
	// in the text succeed.
	session  *Session
	database string
	// temporaryTables says that the session may have some.
	temporaryTables bool
	// definition says that the statement is a view's definition, not a client's.
	definition bool

	path searchPath
	// reads are the protected and readable tables that were read, each once.
	reads []catalog.Name
	// calls are the functions met so far that the operator lists, each once.
	calls []string
	// unmarked says that the statement reads something without a mark.
	unmarked bool
	// hidesCosts says that the statement reads a relation whose plans are shown without costs.
	hidesCosts bool
}

// searchPath holds the schemas in which bare names are looked up in a session: those that
// the session lists, and with those that PostgreSQL searches implicitly. They are kept, as a
// text can look up thousands of names in a path of a thousand schemas.
type searchPath struct {
	session          *Session
	listed, implicit []string
}

// schemas returns the schemas in which bare names are looked up, in order; the slice is
// shared.
func (r *resolver) schemas() []string { return r.searchPath().implicit }

func (r *resolver) searchPath() *searchPath {
	if r.path.session != r.session {
		r.path = r.readPath()
	}
	return &r.path
}

// readPath follows recomputeNamespacePath in namespace.c; pg_temp counts only if the session
// has a temporary table.
func (r *resolver) readPath() searchPath {
	path := searchPath{session: r.session}
	// After a reload, a session may have tables that are no longer allowed.
	temporary := r.temporaryTables && len(r.session.temporary) > 0
	schemas := r.session.schemas()
	for _, schema := range schemas {
		if schema == temporarySchema && temporary || r.snapshot.HasSchema(schema) {
			path.listed = append(path.listed, schema)
		}
	}
	if !slices.Contains(schemas, temporarySchema) && temporary {
		path.implicit = append(path.implicit, temporarySchema)
	}
	if !slices.Contains(schemas, "pg_catalog") {
		path.implicit = append(path.implicit, "pg_catalog")
	}
	path.implicit = append(path.implicit, path.listed...)
	return path
}

// pathNode is the path as an argument for kproxy's own functions.
func (r *resolver) pathNode() *pg.Node { return nameArray(r.schemas()) }

// relation finds the relation that a name means; an empty schema means the session's path.
func (r *resolver) relation(schema, relation string) catalog.Resolution {
	if schema != "" {
		return r.relationIn(schema, relation)
	}
	for _, schema := range r.schemas() {
		if found := r.relationIn(schema, relation); found.Disposition != catalog.Missing {
			return found
		}
	}
	return catalog.Resolution{Disposition: catalog.Missing, Source: catalog.Name{Relation: relation}}
}

// relationIn resolves a name in one schema. A temporary table is read as it is.
func (r *resolver) relationIn(schema, relation string) catalog.Resolution {
	if schema != temporarySchema || !r.temporaryTables {
		return r.snapshot.Resolve(schema, relation)
	}
	name := catalog.Name{Schema: temporarySchema, Relation: relation}
	if !r.session.hasTemporaryTable(relation) {
		return catalog.Resolution{Disposition: catalog.Missing, Source: name}
	}
	return catalog.Resolution{Disposition: catalog.Readable, Source: name, Target: name}
}

// read returns the relation to read in place of the one that a name means, and remembers
// that it was read.
func (r *resolver) read(schema, relation string) (catalog.Name, *Refusal) {
	name := relation
	if schema != "" {
		name = schema + "." + relation
	}
	found := r.relation(schema, relation)
	switch found.Disposition {
	case catalog.Protected, catalog.Readable:
		if found.Source.Schema != temporarySchema && !slices.Contains(r.reads, found.Source) {
			r.reads = append(r.reads, found.Source)
		}
		r.hidesCosts = r.hidesCosts || found.FormAlone
		r.unmarked = r.unmarked || !found.Marked
		return found.Target, nil
	case catalog.SystemCatalog:
		r.unmarked = true
		return found.Target, nil
	case catalog.Withdrawn:
		return catalog.Name{}, refuse(NotPublished, found.Reason, "table %q is not published now", name).about(name)
	case catalog.Forbidden:
		return catalog.Name{}, refuse(RelationDenied, cmp.Or(found.Reason, "Only published tables and those that the operator lists can be read."),
			"permission denied for table %s", name).about(name)
	}
	return catalog.Name{}, refuse(UndefinedRelation, "", "relation %q does not exist", name).about(name)
}

// allowDatabase refuses names of other databases than the session's.
func (r *resolver) allowDatabase(name string, location int32) error {
	if name == "" || name == r.database {
		return nil
	}
	return refuse(NotSupported, "Leave the database's name out.",
		"cross-database references are not implemented: %q", name).at(location)
}
