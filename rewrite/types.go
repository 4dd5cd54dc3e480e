package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// typeName checks a type outside of a cast. There, kproxy could not route values
// of types that print names of objects through a stand-in; see object.go.
func (w *walker) typeName(n *pg.TypeName, s *scope) error {
	if err := w.visibleType(n, s); err != nil {
		return err
	}
	if objectType(n) != "" {
		return refuseObjectType(n)
	}
	return nil
}

func refuseObjectType(n *pg.TypeName) *Refusal {
	if len(n.GetArrayBounds()) > 0 {
		return refuse(NotSupported, "Write the array as a constant, or cast single values in the query.",
			"kproxy supports type %s[] in casts of constant arrays only", objectType(n)).at(n.GetLocation())
	}
	return refuse(NotSupported, "Cast single values in the query instead.",
		"kproxy supports type %s in casts of single values only", objectType(n)).at(n.GetLocation())
}

// visibleType lets the built-in types pass, and those of users that published and
// readable relations show, under their full names. All others are refused: the row type
// of a table would lead to the table's columns.
func (w *walker) visibleType(n *pg.TypeName, s *scope) error {
	parts := names(n.GetNames())
	if n.GetPctType() || n.GetSetof() || len(parts) == 0 {
		return refuse(NotSupported, "Write the type's name.", "kproxy does not support this type").at(n.GetLocation())
	}
	name, ok := w.names.lookupType(parts)
	if !ok {
		return refuse(UndefinedType, "Built-in types, and those of columns that can be read, can be named.",
			"type %q does not exist", dotted(n.GetNames())).at(n.GetLocation())
	}
	// The deparser takes modifiers for integers, whatever they are.
	for _, modifier := range n.GetTypmods() {
		if !isInteger(modifier) {
			return refuse(SyntaxError, "", "type modifiers must be integer constants").at(n.GetLocation())
		}
	}
	n.Names = nameNodes(name.Schema, name.Relation)
	if name == (catalog.Name{Schema: "pg_catalog", Relation: "bpchar"}) && len(n.GetTypmods()) == 0 {
		// Qualified, the deparser would write char, which is char(1). Bare names mean
		// those of pg_catalog on any search path.
		n.Names = nameNodes(name.Relation)
	}
	return w.children(n.ProtoReflect(), s)
}

// lookupType finds what a type is called in the database. Bare names are looked up on
// the client's path; the types of temporary tables are not found.
func (r *resolver) lookupType(parts []string) (catalog.Name, bool) {
	switch len(parts) {
	case 2:
		return r.typeInSchema(parts[0], parts[1])
	case 1:
		for _, schema := range r.schemas() {
			if name, ok := r.typeInSchema(schema, parts[0]); ok {
				return name, true
			}
		}
	}
	return catalog.Name{}, false
}

func (r *resolver) typeInSchema(schema, name string) (catalog.Name, bool) {
	switch schema {
	case "pg_catalog":
		return catalog.Name{Schema: schema, Relation: name}, (allowedTypes[name] || allowedArray(name)) && !r.snapshot.Added().Types[strings.TrimPrefix(name, "_")]
	case "information_schema":
		return catalog.Name{Schema: schema, Relation: name}, informationTypes[name]
	}
	return r.snapshot.Type(schema, name)
}

// allowedArray says whether this is PostgreSQL's name of an array of an allowed type:
// _int4 is int4[].
func allowedArray(name string) bool {
	element, array := strings.CutPrefix(name, "_")
	return array && allowedTypes[element] && objectCatalogs[element] == "" && !pseudoTypes[element]
}

// pseudoTypes have no arrays by these names.
var pseudoTypes = words("void unknown")

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

// isTextArray says the same of an array of texts.
func isTextArray(n *pg.TypeName) bool {
	if len(n.GetArrayBounds()) == 0 || len(n.GetTypmods()) != 0 {
		return false
	}
	name := lastName(n.GetNames())
	return name == "text" || name == "varchar"
}
