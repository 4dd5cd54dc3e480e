package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/config"
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

func ownerConfig(c *config.Config) (*pgx.ConnConfig, error) {
	owner, err := pgx.ParseConfig(c.Upstream.Owner.ConnString())
	if err != nil {
		return nil, fmt.Errorf("the owner's connection: %w", err)
	}
	owner.ConnectTimeout = c.Timeouts.Connect
	return owner, nil
}

// connectOwner connects for looking at the database. Names are qualified in
// what the server prints, as they are for replication.
func connectOwner(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	owner, err := ownerConfig(c)
	if err != nil {
		return nil, err
	}
	owner.RuntimeParams["search_path"] = "pg_catalog"
	owner.RuntimeParams["application_name"] = "kproxy"
	conn, err := pgx.ConnectConfig(ctx, owner)
	if err != nil {
		return nil, &connectError{role: c.Upstream.Owner.User, address: net.JoinHostPort(c.Upstream.Owner.Host, fmt.Sprint(c.Upstream.Owner.Port)), err: err}
	}
	return conn, nil
}

// address is where the connection's first server listens.
func address(c config.Connection) string {
	server := c.Servers()[0]
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}

func connectReader(ctx context.Context, c *config.Config, reader config.Connection) (*pgconn.PgConn, error) {
	session, err := sessionConfig(c, reader)
	if err != nil {
		return nil, err
	}
	session.ConnectTimeout = c.Timeouts.Connect
	return pgconn.ConnectConfig(ctx, session)
}
