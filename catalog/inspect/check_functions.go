package inspect

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

type listedFunction struct {
	Schema    string
	Name      string
	Routine   *string // nil where there is no such function
	Procedure bool
	Definer   bool
	Volatile  bool
	Language  string
	Internal  bool
	Extension string
	Granted   bool
}

// runsText are extensions with functions that run a text as SQL and are not volatile.
var runsText = []string{"dblink", "tablefunc", "xml2"}

// checkFunctions requires every function that analysts may call to exist, and all of its overloads
// to compute from their arguments alone.
func (c *checker) checkFunctions() error {
	if len(c.in.Policy.Functions) == 0 {
		return nil
	}
	schemas, functions := split(c.in.Policy.Functions)
	rows, err := collect[listedFunction](c.ctx, c.conn, "functions", schemas, functions, c.reader)
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := catalog.Name{Schema: row.Schema, Relation: row.Name}
		if row.Routine == nil { // which checkNames reports
			continue
		}
		if what := row.unsafe(); what != "" {
			c.report.add(Error, "function-unsafe", name, *row.Routine+" "+what, "remove it from functions; grants alone would keep its callers from protected tables")
			continue
		}
		if !row.Granted {
			c.report.add(Error, CodeFunctionGrant, name, fmt.Sprintf("role %s may not call %s", c.in.Reader, *row.Routine),
				fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;\nGRANT EXECUTE ON FUNCTION %s TO %[2]s",
					catalog.QuoteIdentifier(row.Schema), catalog.QuoteIdentifier(c.in.Reader), *row.Routine))
		}
	}
	return nil
}

// unsafe tells why a function may do more than compute; empty if nothing suggests it.
func (f listedFunction) unsafe() string {
	switch {
	case f.Procedure:
		return "is a procedure"
	case f.Definer:
		return "runs with its owner's rights (SECURITY DEFINER)"
	case f.Volatile:
		return "is volatile: it may change something, or tell more than its arguments"
	case !slices.Contains([]string{"c", "internal", "sql"}, f.Language):
		return "is written in " + f.Language + ", in which a text can be run as SQL"
	case f.Internal:
		return "takes or gives a type that is not a client's"
	case slices.Contains(runsText, f.Extension):
		return "belongs to extension " + f.Extension + ", whose functions run texts as SQL"
	}
	return ""
}
