// Package upstream connects to the database of a configuration, as the owner or as a reader
// role, and tells its errors apart.
package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// ConnectError says in one line why a role could not connect, and how to fix it.
type ConnectError struct {
	Role, Address string
	Err           error
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("connecting to %s as role %q: %v (%s)", e.Address, e.Role, ksync.Reason(e.Err), e.fix())
}

func (e *ConnectError) Unwrap() error { return e.Err }

// Code names the kind of error for scripts.
func (e *ConnectError) Code() string { return "connection" }

// Hint says what to do.
func (e *ConnectError) Hint() string { return e.fix() }

func (e *ConnectError) fix() string {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(e.Err, &refused) {
		return fixUnanswered(e.Err)
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

// fixUnanswered is for errors that are not of the server's SQL. Where TLS fails, there is a server.
func fixUnanswered(err error) string {
	var (
		untrusted *tls.CertificateVerificationError
		misnamed  x509.HostnameError
		alert     tls.AlertError
		garbled   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &misnamed):
		return "write host as the server's certificate names it, or give the server a certificate for that name"
	case errors.As(err, &untrusted):
		return "give sslrootcert the authority that has signed the server's certificate; that must be valid now"
	case errors.As(err, &alert), errors.As(err, &garbled), strings.Contains(err.Error(), "tls error"):
		return "see sslmode, sslrootcert and sslnegotiation under upstream in the configuration, and ssl of the server"
	default:
		return "is PostgreSQL running there? see upstream in the configuration"
	}
}

// OwnerConfig returns the connection of the owner.
func OwnerConfig(c *config.Config) (*pgx.ConnConfig, error) {
	owner, err := pgx.ParseConfig(c.Upstream.Owner.ConnString())
	if err != nil {
		return nil, fmt.Errorf("the owner's connection: %w", err)
	}
	owner.ConnectTimeout = c.Timeouts.Connect
	return owner, nil
}

// ConnectOwner connects as the owner. The server prints qualified names, as for replication.
func ConnectOwner(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	owner, err := OwnerConfig(c)
	if err != nil {
		return nil, err
	}
	owner.RuntimeParams["search_path"] = "pg_catalog"
	owner.RuntimeParams["application_name"] = "kproxy"
	conn, err := pgx.ConnectConfig(ctx, owner)
	if err != nil {
		return nil, &ConnectError{Role: c.Upstream.Owner.User, Address: net.JoinHostPort(c.Upstream.Owner.Host, fmt.Sprint(c.Upstream.Owner.Port)), Err: err}
	}
	return conn, nil
}

// Address returns the address of the connection's first server.
func Address(c config.Connection) string {
	server := c.Servers()[0]
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}

// ConnectReader connects as a reader role, as sessions do.
func ConnectReader(ctx context.Context, c *config.Config, reader config.Connection) (*pgconn.PgConn, error) {
	session, err := SessionConfig(c, reader)
	if err != nil {
		return nil, err
	}
	session.ConnectTimeout = c.Timeouts.Connect
	return pgconn.ConnectConfig(ctx, session)
}
