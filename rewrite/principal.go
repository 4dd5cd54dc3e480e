package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The functions about roles, databases and schemas. Clients know the database by the
// name that they connect to, and the schemas of published relations by those of the
// tables.

// currentDatabase answers with the name that clients connect to.
func currentDatabase(e expression, _ *pg.FuncCall) error {
	if e.w.names.database != "" {
		e.put(castNode(e.w.names.database, "name"))
	}
	return nil
}

// namedBy replaces the argument that names an object, counted from the end if i is
// negative, by its OID. One of kproxy's own functions finds it, by name or number; a
// hidden one is null.
func namedBy(function string, i int) special {
	return func(e expression, f *pg.FuncCall) error {
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

// guardSharedComment reads comments on databases, roles and tablespaces from the
// stand-in for pg_shdescription.
func guardSharedComment(e expression, f *pg.FuncCall) error {
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
	return e.guard("pg_shdescription", columnNode(guardAlias, "description"), f.Args[:1], condition)
}

// catalogOID is the OID of the system catalog with the name.
func catalogOID(name string) *pg.Node {
	return casted(castNode("pg_catalog."+catalog.QuoteIdentifier(name), "regclass"), "oid")
}
