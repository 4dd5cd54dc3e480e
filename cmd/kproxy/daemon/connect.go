package daemon

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	ksync "github.com/kproxy/kproxy/sync"
)

// connectError says in one line why a role could not connect, and what to do.
type connectError struct {
	role, address string
	err           error
}

func (e *connectError) Error() string {
	return fmt.Sprintf("connecting to %s as role %q: %v (%s)", e.address, e.role, ksync.Reason(e.err), e.fix())
}

func (e *connectError) Unwrap() error { return e.err }

// Code names the kind of error for scripts.
func (e *connectError) Code() string { return "connection" }

// Hint says what to do.
func (e *connectError) Hint() string { return e.fix() }

func (e *connectError) fix() string {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(e.err, &refused) {
		return "is PostgreSQL running there? see upstream in the configuration"
	}
	switch refused.Code {
	case "28P01":
		return "correct the password, or run 'kproxy setup', which sets it to the configured one"
	case "28000":
		return "run 'kproxy setup', and let the role in by pg_hba.conf"
	case "3D000":
		return "correct upstream.owner.database"
	default:
		return "see upstream in the configuration"
	}
}
