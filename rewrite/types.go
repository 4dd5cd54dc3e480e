package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
)

// typeName lets the built-in types pass, under their full names. All others are
// refused: a table's row type would lead to the table's columns.
func (w *walker) typeName(n *pg.TypeName, s *scope) error {
	parts := names(n.GetNames())
	if n.GetPctType() || n.GetSetof() || len(parts) == 0 {
		return refuse(stateNotSupported, "Write the type's name.", "kproxy does not support this type").at(n.GetLocation())
	}
	schema, name := "pg_catalog", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	allowed := schema == "pg_catalog" && allowedTypes[name] ||
		schema == "information_schema" && informationTypes[name]
	if !allowed || len(parts) > 2 {
		return refuse(stateUndefinedType, "Only built-in types can be named.",
			"type %q does not exist", dotted(n.GetNames())).at(n.GetLocation())
	}
	n.Names = nameNodes(schema, name)
	return w.children(n.ProtoReflect(), s)
}

// isRegclass says whether the checked type is regclass itself, not an array.
func isRegclass(n *pg.TypeName) bool {
	parts := names(n.GetNames())
	return len(parts) == 2 && parts[0] == "pg_catalog" && parts[1] == "regclass" && len(n.GetArrayBounds()) == 0
}
