package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// The functions that follow the client's search path. The server's own follow the
// session's real one, which has no schema that the client knows.

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
func currentSchema(e expression, _ *pg.FuncCall) error {
	if path := e.w.names.searchPath().listed; len(path) > 0 {
		e.put(castNode(path[0], "name"))
	} else {
		e.put(casted(nullNode(), "name"))
	}
	return nil
}

func currentSchemas(e expression, f *pg.FuncCall) error {
	implicit, constant := booleanConstant(f)
	if !constant {
		return refuse(NotSupported, "Write current_schemas(true) or current_schemas(false).",
			"kproxy supports current_schemas with a constant only").at(f.GetLocation())
	}
	path := e.w.names.searchPath()
	if implicit {
		e.put(nameArray(path.implicit))
	} else {
		e.put(nameArray(path.listed))
	}
	return nil
}

// visible asks one of kproxy's own functions, which takes the client's search path.
func visible(function string) special {
	return func(e expression, f *pg.FuncCall) error {
		e.put(ownCall(function, append(f.Args, e.w.names.pathNode())...))
		return nil
	}
}
