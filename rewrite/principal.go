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

// listed replaces the argument that names an object, counted from the end, by its OID in the
// stand-in that lists it by name and number; a hidden one is null, as one that is not there.
func listed(relation, name string, i int) special {
	return func(e expression, f *pg.FuncCall) error {
		at := i + len(f.GetArgs())
		if at < 0 || f.Args[at].GetNamedArgExpr() != nil || isAnyone(f.Args[at]) {
			return nil // the database knows no such function
		}
		target, refusal := e.w.names.read("pg_catalog", relation)
		if refusal != nil {
			return refusal
		}
		argument := &pg.SelectStmt{TargetList: []*pg.Node{targetNode(argumentName(0), casted(f.Args[at], "text"))}}
		computed := selectNode(argument)
		argument.LimitOffset, argument.LimitOption = integerNode(0), pg.LimitOption_LIMIT_OPTION_COUNT // see guard
		is := func(column string) *pg.Node {
			return equal(casted(columnNode(guardAlias, column), "text"), columnNode(argumentAlias, argumentName(0)))
		}
		f.Args[at] = subLinkNode(pg.SubLinkType_EXPR_SUBLINK, selectNode(&pg.SelectStmt{
			TargetList:  []*pg.Node{targetNode("", columnNode(guardAlias, "oid"))},
			FromClause:  []*pg.Node{subqueryNode(computed, &pg.Alias{Aliasname: argumentAlias}), readNode(target, guardAlias)},
			WhereClause: or(is(name), is("oid")),
		}))
		return nil
	}
}

// privileges are the functions that tell what a role may do with an object.
func privileges() map[string]special {
	return map[string]special{
		"has_schema_privilege":               asked(-3, namedBy("schema_oid", -2)),
		"has_database_privilege":             asked(-3, namedBy("database_oid", -2)),
		"has_table_privilege":                asked(-3, privilegesOn(-2)),
		"has_any_column_privilege":           asked(-3, privilegesOn(-2)),
		"has_column_privilege":               asked(-4, privilegesOn(-3)),
		"has_sequence_privilege":             asked(-3, objectArgument("regclass", -2)),
		"has_function_privilege":             asked(-3, objectArgument("regprocedure", -2)),
		"has_type_privilege":                 asked(-3, objectArgument("regtype", -2)),
		"has_foreign_data_wrapper_privilege": asked(-3, listed("pg_foreign_data_wrapper", "fdwname", -2)),
		"has_language_privilege":             asked(-3, listed("pg_language", "lanname", -2)),
		"has_server_privilege":               asked(-3, listed("pg_foreign_server", "srvname", -2)),
		"has_tablespace_privilege":           asked(-3, listed("pg_tablespace", "spcname", -2)),
		"pg_has_role":                        asked(-3, listed("pg_roles", "rolname", -2)),
	}
}

// isAnyone reports whether an argument is a role that every client knows of: its own, or PUBLIC.
func isAnyone(n *pg.Node) bool {
	name, constant := stringConstant(n)
	return n.GetSqlvalueFunction() != nil || constant && name == "public"
}

// asked has a function about privileges look for the role whose they are, if one is given at i,
// counted from the end, before it looks for the object.
func asked(i int, object special) special {
	role := listed("pg_roles", "rolname", i)
	return func(e expression, f *pg.FuncCall) error {
		if err := role(e, f); err != nil {
			return err
		}
		return object(e, f)
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
