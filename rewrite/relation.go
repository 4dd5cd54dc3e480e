package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// relation puts what may be read in the place of the relation that was named,
// under an alias that keeps the client's name, so that column references,
// whole-row references and USING go on as they were.
func (w *walker) relation(n *pg.RangeVar, s *scope) error {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		return w.children(n.ProtoReflect(), s)
	}
	if err := w.names.allowDatabase(n.GetCatalogname(), n.GetLocation()); err != nil {
		return err
	}
	target, err := w.names.read(n.GetSchemaname(), n.GetRelname())
	if err != nil {
		return err.at(n.GetLocation())
	}
	if !n.GetInh() && w.names.relation(n.GetSchemaname(), n.GetRelname()).HasChildren {
		return refuse(NotSupported, "Leave ONLY out.", "kproxy does not read ONLY %q: what stands for it has the rows of the tables below it, too", n.GetRelname()).at(n.GetLocation())
	}
	if n.GetAlias() == nil {
		n.Alias = &pg.Alias{Aliasname: n.GetRelname()}
	}
	n.Catalogname, n.Schemaname, n.Relname = "", target.Schema, target.Relation
	return w.children(n.ProtoReflect(), s)
}
