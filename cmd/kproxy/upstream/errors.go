package upstream

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
	UndefinedSchema = "3F000"
	UndefinedTable  = "42P01"
	UndefinedColumn = "42703"

	InsufficientPrivilege = "42501"
)

// MissingStore reports whether there is no private store that the owner may read.
func MissingStore(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && slices.Contains([]string{UndefinedSchema, UndefinedTable, InsufficientPrivilege}, refused.Code)
}

// MissingError is an error about what the database must have, and has not.
type MissingError struct{ What, Fix string }

func (e *MissingError) Error() string { return e.What + ": " + e.Fix }

// Code names the kind of error for scripts.
func (e *MissingError) Code() string { return "missing" }

// Hint says what to do.
func (e *MissingError) Hint() string { return e.Fix }

// Unprepared replaces errors of a private store that does not exist, or was created by an earlier
// version.
func Unprepared(err error) error {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case UndefinedSchema, UndefinedTable:
		return &MissingError{"the database has no private store", "run 'kproxy setup', and then 'kproxy serve'"}
	case UndefinedColumn:
		return &MissingError{"the private store was made by an earlier version", "run 'kproxy setup', which keeps what is there"}
	default:
		return err
	}
}

// Querier is a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// SQLState returns the code of an error of the database, empty for other errors.
func SQLState(err error) string {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// WithoutValues removes the text of a database's error, which can quote a row.
func WithoutValues(err error) error {
	if code := SQLState(err); code != "" {
		return fmt.Errorf("the database refuses it (SQLSTATE %s)", code)
	}
	return err
}
