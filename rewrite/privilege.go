package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

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

// listed replaces the argument that names an object, counted from the end, by its OID in the
// stand-in that lists it by name and number; a hidden one is null, as one that is not there.
func listed(relation, name string, i int) special {
	return func(e expression, f *pg.FuncCall) error {
		at := i + len(f.GetArgs())
		if at < 0 || f.Args[at].GetNamedArgExpr() != nil || isAnyone(f.Args[at]) {
			return nil // the database knows no such function
		}
		is := func(column string) *pg.Node {
			return equal(casted(columnNode(guardAlias, column), "text"), columnNode(argumentAlias, argumentName(0)))
		}
		found, err := e.find(relation, columnNode(guardAlias, "oid"), []*pg.Node{casted(f.Args[at], "text")}, or(is(name), is("oid")))
		if err != nil {
			return err
		}
		f.Args[at] = found
		return nil
	}
}

// isAnyone reports whether an argument is a role that every client knows of: its own, or PUBLIC.
func isAnyone(n *pg.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().GetArg()
	}
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
