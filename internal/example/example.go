// Package example fills databases with generated tables.
package example

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Table is a table with all of its rows, each with a value for each column.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]any
}

// Load executes the statements of a schema and fills the tables that these create, in their order.
// It does all or nothing.
func Load(ctx context.Context, conn *pgx.Conn, schema string, tables []Table) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, schema); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
		for _, t := range tables {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromRows(t.Rows)); err != nil {
				return fmt.Errorf("filling %s: %w", t.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := conn.Exec(ctx, "ANALYZE "+pgx.Identifier{t.Name}.Sanitize()); err != nil {
			return fmt.Errorf("analyzing %s: %w", t.Name, err)
		}
	}
	return nil
}
