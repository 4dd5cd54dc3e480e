package inspect

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// CodeTypeFunction is a function that statements call by a column's type, and that analysts
// may not call by its name.
const CodeTypeFunction = "type-function"

type typeFunctionRow struct {
	Type    uint32
	Routine string
	Schema  string
	Name    string
	By      string // the cast, domain, operator class or range type that calls it
	Asked   bool   // PostgreSQL asks for the right to execute it
}

// checkTypes requires that the types of columns that readers see call only functions that the policy
// lists. Statements call such functions without naming them, so the rewriter cannot refuse
// them.
func (c *checker) checkTypes() error {
	columns := c.visibleColumns()
	var types []uint32
	for _, column := range columns {
		types = append(types, uint32(column.TypeOID))
	}
	slices.Sort(types)
	rows, err := collect[typeFunctionRow](c.ctx, c.conn, "type_functions", slices.Compact(types), c.reader)
	if err != nil {
		return err
	}
	for _, column := range columns {
		for _, row := range rows {
			listed := slices.Contains(c.in.Policy.Functions, catalog.Name{Schema: row.Schema, Relation: row.Name})
			if row.Type != uint32(column.TypeOID) || listed {
				continue
			}
			c.report = append(c.report, Finding{
				Severity: Error, Code: CodeTypeFunction, Table: column.table, Column: column.Name,
				What: fmt.Sprintf("statements can have %s called, which is not among functions: by %s", row.Routine, row.By), Fix: c.fixTypeFunction(row),
			})
		}
	}
	return nil
}

func (c *checker) fixTypeFunction(row typeFunctionRow) string {
	list := fmt.Sprintf("list %s.%s under functions, which takes a function that 'kproxy check' finds nothing against", row.Schema, row.Name)
	if row.Asked {
		return fmt.Sprintf("REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC, %s;\n-- or drop the %s, or %s", row.Routine, catalog.QuoteIdentifier(c.in.Reader), row.By, list)
	}
	return "drop the " + row.By + ", or " + list
}

type visibleColumn struct {
	table catalog.Name
	catalog.Column
}

// visibleColumns are the columns of protected tables that are not identifying, and all columns of
// readable relations.
func (c *checker) visibleColumns() []visibleColumn {
	var columns []visibleColumn
	for _, t := range c.in.Policy.Tables {
		for _, column := range c.byName[t.Table].Columns {
			if p, named := t.Column(column.Name); named && p.Role != catalog.Identifying {
				columns = append(columns, visibleColumn{t.Table, column})
			}
		}
	}
	for _, name := range c.in.Policy.Readable {
		for _, column := range c.byName[name].Columns {
			columns = append(columns, visibleColumn{name, column})
		}
	}
	return columns
}
