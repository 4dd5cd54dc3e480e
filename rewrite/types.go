package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
)

// typeName checks a type outside of a cast. There, kproxy could not route values
// of types that print names of objects through a stand-in; see object.go.
func (w *walker) typeName(n *pg.TypeName, s *scope) error {
	if err := w.builtinType(n, s); err != nil {
		return err
	}
	if name := objectType(n); name != "" {
		return refuseObjectType(name, n.GetLocation())
	}
	return nil
}

func refuseObjectType(name string, location int32) *Refusal {
	return refuse(stateNotSupported, "Cast single values in the query instead.",
		"kproxy supports type %s in casts of single values only", name).at(location)
}

// builtinType lets the built-in types pass, under their full names. All others are
// refused: a table's row type would lead to the table's columns.
func (w *walker) builtinType(n *pg.TypeName, s *scope) error {
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
	// The deparser takes modifiers for integers, whatever they are.
	for _, modifier := range n.GetTypmods() {
		if _, integer := modifier.GetAConst().GetVal().(*pg.A_Const_Ival); !integer {
			return refuse(stateSyntax, "", "type modifiers must be integer constants").at(n.GetLocation())
		}
	}
	n.Names = nameNodes(schema, name)
	if name := objectType(n); name != "" && len(n.GetArrayBounds()) > 0 {
		return refuseObjectType(name+"[]", n.GetLocation())
	}
	return w.children(n.ProtoReflect(), s)
}

// builtinName is the unqualified name of a checked type of pg_catalog.
func builtinName(n *pg.TypeName) string {
	if parts := names(n.GetNames()); len(parts) == 2 && parts[0] == "pg_catalog" {
		return parts[1]
	}
	return ""
}

// isText says whether a value of this type, checked or not, is a text of any length.
func isText(n *pg.TypeName) bool {
	parts := names(n.GetNames())
	return len(parts) > 0 && (parts[len(parts)-1] == "text" || parts[len(parts)-1] == "varchar") &&
		len(n.GetTypmods()) == 0 && len(n.GetArrayBounds()) == 0
}
