package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy/access"
	"github.com/kproxy/kproxy/proxy/answers"
	"github.com/kproxy/kproxy/proxy/pool"
)

// Config is what a [Server] needs. Sizes are in bytes.
type Config struct {
	// Gate decides on statements; required.
	Gate Gate

	// Access says who may log in; required. Its readers are names in Readers; its
	// MaxPending is twice MaxSessions where it is 0, but 200 at least.
	Access access.Config

	// Database is the only database name accepted; required.
	Database string

	// Upstream is the connection each session gets, made by
	// pgconn.ParseConfig; required. Its RuntimeParams are pinned: a client's
	// startup parameter of the same name is ignored.
	Upstream *pgconn.Config

	// Readers are further connections, by name, for users who are not served by
	// Upstream: other roles on the same servers and database, with the same parameters
	// pinned.
	Readers map[string]*pgconn.Config

	// Pool bounds the upstream connections, which are kept between sessions, and
	// chooses among several servers. Where its MaxConnections or ConnectTimeout is 0,
	// it is MaxSessions or ConnectTimeout.
	Pool pool.Options

	// Referred has the database servers serve only as Server.Refer allows: see
	// pool.Config.
	Referred bool

	// TLS is the certificate to serve; nil answers requests for TLS with 'N'.
	TLS *tls.Config

	// TLSRequired refuses sessions that are not encrypted (FATAL 28000).
	TLSRequired bool

	// Available says whether statements can be served; nil, or a nil result,
	// means yes. Otherwise every statement and login is refused with the error
	// (SQLSTATE from its SQLState method, else 57P03). It is called for each
	// Query, Parse, Bind and Execute and must be cheap.
	Available func() error

	// MaxStatementBytes caps the body of Query and Parse; 0 = 1 MiB. A longer
	// one is refused with 54000.
	MaxStatementBytes int

	// MaxMessageBytes caps the body of every other client message; 0 = 64 MiB.
	// A longer one ends the session.
	MaxMessageBytes int

	// MaxSessions caps the authenticated sessions; 0 = 500. Further ones get
	// FATAL 53300. Connections in whatever state are capped
	// at as many and Access.MaxPending more.
	MaxSessions int

	// MaxSessionsPerUser caps the authenticated sessions of each user; 0 = MaxSessions.
	// Further ones get FATAL 53300.
	MaxSessionsPerUser int

	// Forwarders are the addresses of load balancers that speak the PROXY protocol, version 2:
	// connections from them must begin with its header, and are of the client that the header
	// names. From everywhere else a header is a malformed startup packet. Empty means none.
	Forwarders []netip.Prefix

	// AuthTimeout bounds the time from accept to the end of authentication;
	// 0 = 60 s.
	AuthTimeout time.Duration

	// ConnectTimeout bounds connecting upstream; 0 = 10 s.
	ConnectTimeout time.Duration

	// DrainTimeout is how long running statements may go on when the server
	// stops; 0 = 30 s.
	DrainTimeout time.Duration

	// Timeouts bound what a session may take after login.
	Timeouts Timeouts

	// Withdrawn tells whether an error of the server, in its own words, means that a relation was
	// withdrawn after the Gate had let the statement pass; clients then get the Gate's refusal
	// instead, an error with SQLState and Hint. nil = no error means that.
	Withdrawn func(state, message string) error

	// Answers keeps answers to statements; nil = none are kept.
	Answers *answers.Store

	// Observer is notified of what clients do; nil = none. A session keeps the Observer that it
	// began with.
	Observer Observer

	// EventLoops is how many threads relay; 0 = one for two processors: the sessions of
	// one loop share its turns, which costs less the more there are.
	EventLoops int

	// Logger gets sessions' beginnings and ends, never statements, values or
	// secrets; nil discards.
	Logger *slog.Logger
}

const (
	defaultMaxStatementBytes = 1 << 20
	defaultMaxMessageBytes   = 64 << 20
	defaultMaxSessions       = 500
	defaultAuthTimeout       = 60 * time.Second
	defaultConnectTimeout    = 10 * time.Second
	defaultDrainTimeout      = 30 * time.Second

	// leastPending is room for strangers even where few sessions are allowed.
	leastPending = 200

	// largestMessageBytes is what PostgreSQL itself can take: MaxAllocSize.
	largestMessageBytes = 1<<30 - 1
)

// withDefaults returns c with zero values replaced.
func (c Config) withDefaults() Config {
	orInt := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	orDuration := func(value *time.Duration, otherwise time.Duration) {
		if *value == 0 {
			*value = otherwise
		}
	}
	orInt(&c.MaxStatementBytes, defaultMaxStatementBytes)
	orInt(&c.MaxMessageBytes, defaultMaxMessageBytes)
	orInt(&c.MaxSessions, defaultMaxSessions)
	orInt(&c.MaxSessionsPerUser, c.MaxSessions)
	orInt(&c.Access.MaxPending, max(2*c.MaxSessions, leastPending))
	orDuration(&c.AuthTimeout, defaultAuthTimeout)
	orDuration(&c.ConnectTimeout, defaultConnectTimeout)
	orDuration(&c.DrainTimeout, defaultDrainTimeout)
	orInt(&c.EventLoops, max(1, runtime.GOMAXPROCS(0)/2))
	if c.Available == nil {
		c.Available = func() error { return nil }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check returns all mistakes of c, whose defaults are set, joined.
func (c Config) check() error {
	var mistakes []error
	wrong := func(format string, args ...any) {
		mistakes = append(mistakes, fmt.Errorf("proxy: "+format, args...))
	}
	if c.Gate == nil {
		wrong("Gate is missing")
	}
	if c.Database == "" || strings.ContainsRune(c.Database, 0) {
		wrong("Database is missing or has a NUL")
	}
	if c.Upstream == nil {
		wrong("Upstream is missing")
	} else if err := c.upstreams().Check(); err != nil {
		mistakes = append(mistakes, err)
	}
	if c.TLSRequired && c.TLS == nil {
		wrong("TLSRequired without TLS: no client could connect")
	}
	if c.TLS != nil && len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil && c.TLS.GetConfigForClient == nil {
		wrong("TLS has no certificate")
	}
	for name, value := range map[string]int{
		"MaxStatementBytes": c.MaxStatementBytes,
		"MaxMessageBytes":   c.MaxMessageBytes,
	} {
		if value < 0 || value > largestMessageBytes {
			wrong("%s is %d; it must be from 1 to %d", name, value, largestMessageBytes)
		}
	}
	if c.MaxSessions < 0 || c.MaxSessionsPerUser < 0 {
		wrong("MaxSessions or MaxSessionsPerUser is negative")
	}
	if c.AuthTimeout < 0 || c.ConnectTimeout < 0 || c.DrainTimeout < 0 || c.Timeouts.negative() {
		wrong("a timeout is negative")
	}
	for _, reader := range c.Access.Readers() {
		if _, ok := c.Readers[reader]; !ok && reader != "" {
			wrong("a user reads as %q, which is none of Readers", reader)
		}
	}
	if c.Access.NeedsCertificates() && (c.TLS == nil || c.TLS.ClientCAs == nil || c.TLS.ClientAuth < tls.VerifyClientCertIfGiven) {
		wrong("a rule asks for client certificates, which TLS does not verify")
	}
	return errors.Join(mistakes...)
}
