package login

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// lookupConnections bounds the simultaneous lookups. Others wait.
const lookupConnections = 4

// Lookup reads the verifiers of users from a database, by the query of a configuration.
type Lookup struct {
	query  string
	config *pgx.ConnConfig
	// slots holds one element per connection, nil for one that is not open.
	slots  chan *pgx.Conn
	closed atomic.Bool
}

// NewLookup does not connect. It returns nil for a configuration without a query.
func NewLookup(c *config.Config) (*Lookup, error) {
	if c.AuthQuery.Query == "" {
		return nil, nil
	}
	asks, err := pgx.ParseConfig(c.AuthQuery.Connection.ConnString())
	if err != nil {
		return nil, fmt.Errorf("auth_query's connection: %w", err)
	}
	// If one server hangs, there is time for the next one.
	asks.ConnectTimeout = min(c.Timeouts.Connect, c.AuthQuery.Timeout/time.Duration(len(c.AuthQuery.Connection.Servers())))
	asks.MaxProtocolMessageBodyLen = maxAnswerBytes
	for name, setting := range map[string]string{
		"application_name": "kproxy auth_query", "search_path": "pg_catalog", "default_transaction_read_only": "on",
		"statement_timeout": fmt.Sprint(max(c.AuthQuery.Timeout, time.Millisecond).Milliseconds()),
	} {
		asks.RuntimeParams[name] = setting
	}
	l := &Lookup{query: c.AuthQuery.Query, config: asks, slots: make(chan *pgx.Conn, lookupConnections)}
	for range lookupConnections {
		l.slots <- nil
	}
	return l, nil
}

// Find is an access.Lookup. If a kept connection fails, it opens a new one. Its errors have an
// SQLSTATE, and never the words of the query or of its functions: these may hold secrets.
func (l *Lookup) Find(ctx context.Context, user string) (verifier string, found bool, err error) {
	var conn *pgx.Conn
	select {
	case conn = <-l.slots:
	case <-ctx.Done():
		return "", false, fmt.Errorf("waiting to look up a user: %w", context.Cause(ctx))
	}
	defer func() { l.keep(ctx, conn, err) }()
	if conn != nil {
		if verifier, found, err = l.ask(ctx, conn, user); !conn.IsClosed() || errors.Is(err, errManyRows) {
			return verifier, found, err
		}
	}
	if conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
		return "", false, fmt.Errorf("%w as role %q: %w", ErrConnection, l.config.User, ksync.Reason(err))
	}
	return l.ask(ctx, conn, user)
}

// texts are the types that verifiers may have.
var texts = []uint32{pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID}

// ErrConnection says that the role cannot connect.
var ErrConnection = errors.New("connecting to look up a user")

var (
	errNoText   = errors.New("the query gives other columns than one text")
	errManyRows = errors.New("the query gives more than one row")
)

// maxAnswerBytes bounds a message of the server. A verifier has about 130 bytes.
const maxAnswerBytes = 64 << 10

// ask reads two rows at most. Of more, the server would have to send all, or be told to stop by a
// request that may be lost: the connection is closed.
func (l *Lookup) ask(ctx context.Context, conn *pgx.Conn, user string) (verifier string, found bool, err error) {
	rows, err := conn.Query(ctx, l.query, user)
	if err != nil {
		return "", false, failed(err)
	}
	defer rows.Close()
	if fields := rows.FieldDescriptions(); len(fields) > 1 || len(fields) == 1 && !slices.Contains(texts, fields[0].DataTypeOID) {
		return "", false, drop(conn, errNoText)
	}
	var stored *string
	if rows.Next() {
		if err := rows.Scan(&stored); err != nil {
			return "", false, failed(err)
		}
		if rows.Next() {
			return "", false, drop(conn, errManyRows)
		}
	}
	if err := rows.Err(); err != nil {
		return "", false, failed(err)
	}
	if stored == nil {
		return "", false, nil
	}
	return *stored, true, nil
}

// drop closes a connection at once, whatever the server is sending.
func drop(conn *pgx.Conn, err error) error {
	_ = conn.PgConn().Conn().Close()
	return err
}

// failed is an error of the query without its text.
func failed(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return fmt.Errorf("the query fails (SQLSTATE %s)", refused.Code)
	}
	return fmt.Errorf("asking the database: %w", ksync.Reason(err))
}

// keep puts a connection back for the next lookup, unless it failed.
func (l *Lookup) keep(ctx context.Context, conn *pgx.Conn, failed error) {
	if conn != nil && failed != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		conn = nil
	}
	l.slots <- conn
	// Check now: Close may have run before the connection was back.
	if l.closed.Load() {
		l.empty(context.WithoutCancel(ctx))
	}
}

// Close closes the connections. One that is in use is closed afterwards.
func (l *Lookup) Close() {
	if l == nil {
		return
	}
	l.closed.Store(true)
	l.empty(context.Background())
}

// empty closes the unused connections.
func (l *Lookup) empty(ctx context.Context) {
	for range lookupConnections {
		select {
		case conn := <-l.slots:
			if conn != nil {
				_ = conn.Close(ctx)
			}
			l.slots <- nil
		default:
		}
	}
}
