package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL's errors (appendix "PostgreSQL Error Codes").
const (
	undefinedSchema = "3F000"
	undefinedTable  = "42P01"
	undefinedColumn = "42703"

	insufficientPrivilege = "42501"
)

// missingStore tells whether there is no private store that the owner may read.
func missingStore(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && slices.Contains([]string{undefinedSchema, undefinedTable, insufficientPrivilege}, refused.Code)
}

// unprepared tells of a store that setup has not made, or has made in an earlier
// version.
func unprepared(err error) error {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case undefinedSchema, undefinedTable:
		return errors.New("the database has no private store: run 'kproxy setup', and then 'kproxy serve'")
	case undefinedColumn:
		return errors.New("the private store was made by an earlier version: run 'kproxy setup', which keeps what is there")
	default:
		return err
	}
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// sqlState is the code of what the database refused, empty for other errors.
func sqlState(err error) string {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// withoutValues keeps of the database's errors what cannot quote a row.
func withoutValues(err error) error {
	if code := sqlState(err); code != "" {
		return fmt.Errorf("the database refuses it (SQLSTATE %s)", code)
	}
	return err
}
