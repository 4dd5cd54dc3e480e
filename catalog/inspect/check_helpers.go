package inspect

import (
	"fmt"

	"github.com/kproxy/kproxy/catalog"
)

type helperRow struct {
	Name     string
	Stranger bool // an object of another role; else a function that is missing
}

// Codes of findings about the schema of the helpers. Both keep kproxy from serving: clients
// may call all that bears a helper's name there.
const (
	codeHelperSchema = "helper-schema"
	codeHelper       = "helper"
)

// makeRoom is the fix that frees the schema for kproxy.
const makeRoom = "ALTER SCHEMA " + catalog.HelperSchema + " RENAME TO ...;\n-- and run kproxy setup"

// checkHelpers requires the schema of the helpers to hold this version's helpers, and no object of
// another role.
func (c *checker) checkHelpers() error {
	names := catalog.Helpers()
	overloads := make([]int, len(names))
	for i, name := range names {
		overloads[i] = catalog.HelperOverloads(name)
	}
	rows, err := collect[helperRow](c.ctx, c.conn, "helpers", catalog.HelperSchema, names, overloads, c.owner, c.reader)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Stranger {
			c.report.add(Error, codeHelperSchema, none,
				fmt.Sprintf("%s lies in schema %s, which is that of kproxy's helpers, and does not belong to role %s", row.Name, catalog.HelperSchema, c.in.Owner),
				"move it to another schema, or "+makeRoom)
			continue
		}
		c.report.add(Error, codeHelper, none, fmt.Sprintf("function %s.%s is missing, out of date or not granted", catalog.HelperSchema, row.Name), "run kproxy setup")
	}
	return nil
}
