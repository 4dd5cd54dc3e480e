// Package upstream connects to the database of a configuration, as the owner or as a reader
// role, and tells its errors apart.
package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// ConnectError says in one line why a role could not connect, and how to fix it.
type ConnectError struct {
	Role, Address string
	Source        bool // the connection is that of the section source
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
		return fixUnanswered(e.Err, e.section())
	}
	switch refused.Code {
	case "28P01":
		return "correct the password, or run 'kproxy setup', which sets it to the configured one"
	case "28000":
		return "run 'kproxy setup', and let the role in by pg_hba.conf"
	case "3D000":
		return "correct the name of the database under " + e.section() + " in the configuration"
	default:
		return "see " + e.section() + " in the configuration"
	}
}

// SourceLostError says that the session at a source in a database of its own ended while it was needed.
type SourceLostError struct{ Err error }

func (e *SourceLostError) Error() string { return "the session at the source ended: " + e.Err.Error() }

func (e *SourceLostError) Unwrap() error { return e.Err }

// section is that of the configuration that has the connection.
func (e *ConnectError) section() string {
	if e.Source {
		return "source"
	}
	return "upstream"
}

// fixUnanswered is for errors that are not of the server's SQL. Where TLS fails, there is a server.
func fixUnanswered(err error, section string) string {
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
		return "see sslmode, sslrootcert and sslnegotiation under " + section + " in the configuration, and ssl of the server"
	default:
		return "is PostgreSQL running there? see " + section + " in the configuration"
	}
}

// OwnerConfig returns the connection of the owner.
func OwnerConfig(c *config.Config) (*pgx.ConnConfig, error) {
	owner, err := parse(c, c.Upstream.Owner)
	if err != nil {
		return nil, fmt.Errorf("the owner's connection: %w", err)
	}
	return owner, nil
}

// SourceConfig returns the connection to the source, nil if that is in the owner's database.
func SourceConfig(c *config.Config) (*pgx.ConnConfig, error) {
	if !c.IsApart() {
		return nil, nil
	}
	source, err := parse(c, c.AtSource())
	if err != nil {
		return nil, fmt.Errorf("the source's connection: %w", err)
	}
	return source, nil
}

// primaryConfig returns the connection to the primary of a source that is a standby, nil if it is none.
func primaryConfig(c *config.Config) (*pgx.ConnConfig, error) {
	if !c.HasPrimary() {
		return nil, nil
	}
	primary, err := parse(c, c.AtPrimary())
	if err != nil {
		return nil, fmt.Errorf("the connection of the source's primary: %w", err)
	}
	return primary, nil
}

// Logins returns the connections of the owner, to the source, as [SourceConfig] does, and to the primary of a source
// that is a standby, nil if it is none.
func Logins(c *config.Config) (owner, source, primary *pgx.ConnConfig, err error) {
	if owner, err = OwnerConfig(c); err != nil {
		return nil, nil, nil, err
	}
	if source, err = SourceConfig(c); err != nil {
		return nil, nil, nil, err
	}
	primary, err = primaryConfig(c)
	return owner, source, primary, err
}

func parse(c *config.Config, connection config.Connection) (*pgx.ConnConfig, error) {
	parsed, err := pgx.ParseConfig(connection.ConnString())
	if err != nil {
		return nil, err
	}
	parsed.ConnectTimeout = c.Timeouts.Connect
	return parsed, nil
}

// ConnectOwner connects as the owner, to store and release. The server prints qualified names, as for
// replication.
func ConnectOwner(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	return connect(ctx, c, c.Upstream.Owner)
}

// ConnectSource connects to the database of the protected tables, likewise.
func ConnectSource(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	conn, err := connect(ctx, c, c.AtSource())
	if refused := (*ConnectError)(nil); errors.As(err, &refused) {
		refused.Source = c.IsApart()
	}
	return conn, err
}

// ConnectPrimary connects to the primary of the protected tables' database: the source's, where that is a standby.
func ConnectPrimary(ctx context.Context, c *config.Config) (*pgx.Conn, error) {
	conn, err := connect(ctx, c, c.AtPrimary())
	if refused := (*ConnectError)(nil); errors.As(err, &refused) {
		refused.Source = c.IsApart()
	}
	return conn, err
}

// Databases are the connections to store and release, and to the source, which are one where both are
// in one database. Source is nil while a source in a database of its own is away.
type Databases struct{ Owner, Source *pgx.Conn }

// ConnectBoth connects to both. The caller closes them.
func ConnectBoth(ctx context.Context, c *config.Config) (d Databases, err error) {
	if d.Owner, err = ConnectOwner(ctx, c); err != nil || !c.IsApart() {
		return Databases{d.Owner, d.Owner}, err
	}
	if d.Source, err = ConnectSource(ctx, c); err != nil {
		_ = d.Owner.Close(context.WithoutCancel(ctx))
		return Databases{}, err
	}
	return d, nil
}

// Close closes both.
func (d Databases) Close(ctx context.Context) {
	_ = d.Owner.Close(ctx)
	if d.Source != nil && d.Source != d.Owner {
		_ = d.Source.Close(ctx)
	}
}

func connect(ctx context.Context, c *config.Config, to config.Connection) (*pgx.Conn, error) {
	config, err := parse(c, to)
	if err != nil {
		return nil, fmt.Errorf("the connection of role %q: %w", to.User, err)
	}
	maps.Copy(config.RuntimeParams, catalog.TextForms)
	config.RuntimeParams["lc_monetary"] = "C"
	config.RuntimeParams["application_name"] = "kproxy"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, &ConnectError{Role: to.User, Address: net.JoinHostPort(to.Host, fmt.Sprint(to.Port)), Err: err}
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
