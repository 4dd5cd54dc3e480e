package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Codes of findings about objects in pg_catalog that initdb did not make.
const (
	// codeAdded: kproxy refuses the names.
	codeAdded = "catalog-object"
	// codeImplicit: statements reach it without a name, so nothing can be served.
	codeImplicit = "catalog-implicit"
)

type addedRow struct {
	Kind string
	Name string // empty where statements need not name it
	What string
	// Function is what it calls, or is itself, unless that is PostgreSQL's own.
	Function    string
	Extension   string
	Relocatable bool // of the extension
}

// readAdded reads the objects that initdb did not make and that statements may find without naming a schema.
func readAdded(ctx context.Context, conn *pgx.Conn) (catalog.Added, []addedRow, error) {
	rows, err := collect[addedRow](ctx, conn, "added")
	var added catalog.Added
	for _, row := range rows {
		switch row.Kind {
		case "function":
			add(&added.Functions, row.Name)
		case "operator":
			add(&added.Operators, row.Name)
		case "type":
			add(&added.Types, row.Name)
		default:
			added.Implicit = cmp.Or(added.Implicit, row.Kind+" "+row.What)
		}
	}
	return added, rows, err
}

func add(to *map[string]bool, name string) {
	if *to == nil {
		*to = make(map[string]bool)
	}
	(*to)[name] = true
}

// auditAdded reports these objects. Those of one extension are one finding.
func (a *auditor) auditAdded() error {
	_, rows, err := readAdded(a.ctx, a.conn)
	made := make(map[string][]addedRow)
	for _, row := range rows {
		switch {
		case row.Name == "":
			a.report.add(Error, codeImplicit, none, row.Kind+" "+row.What+" is not PostgreSQL's own, and may become part of any statement", row.fix(a.quoted()))
		case row.Extension != "":
			made[row.Extension] = append(made[row.Extension], row)
		default:
			a.report.add(Warning, codeAdded, none, row.Kind+" "+row.What+" is not PostgreSQL's own: statements that use its name are refused", row.fix(a.quoted()))
		}
	}
	for _, extension := range slices.Sorted(maps.Keys(made)) {
		var all []string
		for _, row := range made[extension] {
			all = append(all, row.Kind+" "+row.What)
		}
		fix := "DROP EXTENSION " + catalog.QuoteIdentifier(extension)
		if made[extension][0].Relocatable {
			fix = "CREATE SCHEMA IF NOT EXISTS extensions;\nALTER EXTENSION " + catalog.QuoteIdentifier(extension) + " SET SCHEMA extensions"
		}
		a.report.add(Warning, codeAdded, none, fmt.Sprintf("extension %s has %d objects in pg_catalog: statements that use their names are refused: %s",
			extension, len(all), strings.Join(all, ", ")), fix)
	}
	return err
}

// fix is a script after which no statement of a client can reach the object.
func (r addedRow) fix(readers string) string {
	if r.Function == "" {
		return "DROP " + strings.ToUpper(r.Kind) + " " + r.What
	}
	return "REVOKE EXECUTE ON ROUTINE " + r.Function + " FROM PUBLIC, " + readers + ";\n-- grant it to the roles that need it; or drop the " + r.Kind
}
