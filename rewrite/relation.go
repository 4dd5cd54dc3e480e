package rewrite

import (
	"cmp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// relation puts what may be read in the place of the relation that was named,
// under an alias that keeps the client's name, so that column references,
// whole-row references and USING go on as they were.
func (w *walker) relation(n *pg.RangeVar, s *scope) error {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		return w.children(n.ProtoReflect(), s)
	}
	if err := w.sameDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return err
	}
	target, err := w.resolve(n.GetSchemaname(), n.GetRelname())
	if err != nil {
		return err.at(n.GetLocation())
	}
	if !n.GetInh() && w.lookup(n.GetSchemaname(), n.GetRelname()).HasChildren {
		return refuse(NotSupported, "Leave ONLY out.", "kproxy does not read ONLY %q: what stands for it has the rows of the tables below it, too", n.GetRelname()).at(n.GetLocation())
	}
	if n.GetAlias() == nil {
		n.Alias = &pg.Alias{Aliasname: n.GetRelname()}
	}
	n.Catalogname, n.Schemaname, n.Relname = "", target.Schema, target.Relation
	return w.children(n.ProtoReflect(), s)
}

// resolve returns the relation to read, or why there is none.
func (w *walker) resolve(schema, relation string) (catalog.Name, *Refusal) {
	name := relation
	if schema != "" {
		name = schema + "." + relation
	}
	r := w.lookup(schema, relation)
	switch r.Disposition {
	case catalog.Protected, catalog.Readable:
		if r.Source.Schema != temporarySchema && !slices.Contains(w.reads, r.Source) {
			w.reads = append(w.reads, r.Source)
		}
		w.formAlone = w.formAlone || r.FormAlone
		return r.Target, nil
	case catalog.SystemCatalog:
		return r.Target, nil
	case catalog.Withdrawn:
		return catalog.Name{}, refuse(NotPublished, r.Reason, "table %q is not published now", name).about(name)
	case catalog.Forbidden:
		return catalog.Name{}, refuse(RelationDenied, cmp.Or(r.Reason, "Only published tables and those that the operator lists can be read."),
			"permission denied for table %s", name).about(name)
	}
	return catalog.Name{}, refuse(UndefinedRelation, "", "relation %q does not exist", name).about(name)
}

// lookup finds what a name stands for; an empty schema means the session's path.
func (w *walker) lookup(schema, relation string) catalog.Resolution {
	if schema != "" {
		return w.inSchema(schema, relation)
	}
	for _, schema := range w.searchPath(true) {
		if r := w.inSchema(schema, relation); r.Disposition != catalog.Missing {
			return r
		}
	}
	return catalog.Resolution{Disposition: catalog.Missing, Source: catalog.Name{Relation: relation}}
}

func (w *walker) sameDatabase(name string, location int32) error {
	if name == "" || name == w.database {
		return nil
	}
	return refuse(NotSupported, "Leave the database's name out.",
		"cross-database references are not implemented: %q", name).at(location)
}
