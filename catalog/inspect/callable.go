package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

type callableRow struct{ Names []string }

type columnsRow struct {
	Schema, Relation string
	Columns          []string
	Composites       []bool
	Types            []string
}

// Callable reads what a name after a dot can call in clients' statements.
func Callable(ctx context.Context, conn *pgx.Conn) (catalog.ServerNames, error) {
	names := catalog.ServerNames{Callable: make(map[string]bool), Columns: make(map[catalog.Name][]catalog.ColumnName)}
	err := reading(ctx, conn, func() error {
		callable, err := collect[callableRow](ctx, conn, "callable")
		if err != nil {
			return err
		}
		for _, row := range callable {
			for _, name := range row.Names {
				names.Callable[name] = true
			}
		}
		if names.Added, _, err = readAdded(ctx, conn); err != nil {
			return err
		}
		rows, err := collect[columnsRow](ctx, conn, "columns")
		for _, row := range rows {
			name := catalog.Name{Schema: row.Schema, Relation: row.Relation}
			for i, column := range row.Columns {
				names.Columns[name] = append(names.Columns[name], catalog.ColumnName{Name: column, Composite: row.Composites[i], Type: row.Types[i]})
			}
		}
		return err
	})
	if err != nil {
		return catalog.ServerNames{}, fmt.Errorf("reading the names that statements may call: %w", err)
	}
	return names, nil
}
