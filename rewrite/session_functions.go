package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The functions that follow the client's search path. The server's own follow the
// session's real one, which has no schema that the client knows.

// temporarySchema is the name for the schema of the session's temporary tables.
const temporarySchema = "pg_temp"

// pathsOf are the schemas in which bare names are looked up in a session: as it lists
// them, and with those that PostgreSQL searches without being told. A text can look up
// thousands of names in a path of a thousand schemas.
type pathsOf struct {
	session          *Session
	listed, implicit []string
}

// searchPath are the schemas in which bare names are looked up, in order; the slice is
// shared. With implicit, those are among them that PostgreSQL searches without being told
// (recomputeNamespacePath in namespace.c); pg_temp only if the session has any
// temporary table.
func (w *walker) searchPath(implicit bool) []string {
	if w.paths.session != w.session {
		w.paths = pathsOf{session: w.session, listed: w.readPath(false), implicit: w.readPath(true)}
	}
	if implicit {
		return w.paths.implicit
	}
	return w.paths.listed
}

func (w *walker) readPath(implicit bool) []string {
	var path []string
	listed := make(map[string]bool)
	// A reload may refuse them to a session that has some.
	temporary := w.temporaryTables && len(w.session.temporary) > 0
	for _, schema := range w.session.schemas() {
		listed[schema] = true
		if schema == temporarySchema && temporary || w.snapshot.HasSchema(schema) {
			path = append(path, schema)
		}
	}
	if !implicit {
		return path
	}
	if !listed["pg_catalog"] {
		path = append([]string{"pg_catalog"}, path...)
	}
	if !listed[temporarySchema] && temporary {
		path = append([]string{temporarySchema}, path...)
	}
	return path
}

// pathNode is the path for kproxy's own functions.
func (w *walker) pathNode() *pg.Node { return nameArray(w.searchPath(true)) }

// nameArray is a constant of type name[].
func nameArray(elements []string) *pg.Node {
	quoted := make([]string, len(elements))
	for i, element := range elements {
		quoted[i] = element
		if strings.Trim(element, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || element == "" || element == "null" {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(element) + `"`
		}
	}
	return arrayOf(textNode("{"+strings.Join(quoted, ",")+"}"), "name")
}

// currentSchema answers with the first schema of the client's search path, or null.
func (w *walker) currentSchema(node *pg.Node) {
	path := w.searchPath(false)
	if len(path) == 0 {
		w.put(node, casted(nullNode(), "name"))
		return
	}
	w.put(node, castNode(path[0], "name"))
}

func currentSchemas(w *walker, node *pg.Node, f *pg.FuncCall) error {
	implicit, constant := booleanConstant(f)
	if !constant {
		return refuse(NotSupported, "Write current_schemas(true) or current_schemas(false).",
			"kproxy supports current_schemas with a constant only").at(f.GetLocation())
	}
	w.put(node, nameArray(w.searchPath(implicit)))
	return nil
}

// tableIsVisible asks kproxy's own function, which is told the client's search path.
func tableIsVisible(w *walker, node *pg.Node, f *pg.FuncCall) error {
	w.put(node, ownCall("table_is_visible", append(f.Args, w.pathNode())...))
	return nil
}

// toClass looks up a relation's name that is made at run time.
func (w *walker) toClass(name *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
		Funcname: nameNodes(catalog.CatalogSchema, "to_class"), Args: []*pg.Node{casted(name, "text"), w.pathNode()},
		Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	}}}
}
