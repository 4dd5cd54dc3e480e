package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The functions about roles, databases and schemas. Clients know the database by the
// name that they connect to, and the schemas of published relations by those of the
// tables.

// currentDatabase answers with the name that clients connect to.
func currentDatabase(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	if w.database != "" {
		w.put(node, castNode(w.database, "name"))
	}
	return nil
}

// namedBy replaces the argument that names an object, counted from the end if i is
// negative, by its OID. One of kproxy's own functions finds it, by name or number; a
// hidden one is null.
func namedBy(function string, i int) special {
	return func(w *walker, _ *pg.Node, f *pg.FuncCall) error {
		at := i
		if at < 0 {
			at += len(f.GetArgs())
		}
		if at < 0 || at >= len(f.GetArgs()) {
			return nil // the database knows no such function
		}
		f.Args[at] = ownCall(function, casted(f.Args[at], "text"))
		return nil
	}
}

// typeIsVisible asks kproxy's own function, which is told the client's search path.
func typeIsVisible(w *walker, node *pg.Node, f *pg.FuncCall) error {
	w.put(node, ownCall("type_is_visible", append(f.Args, w.pathNode())...))
	return nil
}

// ownCall calls one of kproxy's functions.
func ownCall(function string, arguments ...*pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
		Funcname: nameNodes(catalog.CatalogSchema, function), Args: arguments,
		Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	}}}
}

// guardSharedComment reads comments on databases, roles and tablespaces from the
// stand-in for pg_shdescription.
func guardSharedComment(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if len(f.GetArgs()) != 2 {
		return nil // the database knows no such function
	}
	name, constant := stringConstant(f.Args[1])
	if !constant {
		return refuse(NotSupported, "Write the catalog's name as a constant.",
			"kproxy supports shobj_description with a constant only").at(f.GetLocation())
	}
	condition := and(
		equal(columnNode(guardAlias, "objoid"), columnNode(argumentAlias, argumentName(0))),
		equal(columnNode(guardAlias, "classoid"), catalogOID(name)),
	)
	return w.guard(node, "pg_shdescription", columnNode(guardAlias, "description"), f.Args[:1], condition)
}

// catalogOID is the OID of the system catalog with the name.
func catalogOID(name string) *pg.Node {
	return casted(castNode("pg_catalog."+catalog.QuoteIdentifier(name), "regclass"), "oid")
}
