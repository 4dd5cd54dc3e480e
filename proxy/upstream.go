package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/charset"
	"github.com/kproxy/kproxy/proxy/pool"
	"github.com/kproxy/kproxy/proxy/reactor"
)

// upstream is a session's own connection to PostgreSQL.
type upstream struct {
	link       *pool.Link // nil in tests
	raw        *reactor.Conn
	conn       net.Conn                    // raw, or TLS over it
	parameters map[string]string           // as reported at login
	cancel     func(context.Context) error // asks the server to cancel what runs on conn
}

// connect gets the upstream connection of a session that begins in a state. Parameters are the
// client's; those pinned by the configuration win.
func (a *attempt) connect(ctx context.Context, parameters map[string]string, begin State) (*upstream, error) {
	link, err := a.server.pool.Get(ctx, pool.Want{
		User: a.who.User, Role: a.who.Reader,
		Parameters: parameters, Application: parameters["application_name"], Client: a.raw.RemoteAddr(),
	})
	if err != nil {
		return nil, err
	}
	u := &upstream{link: link, conn: link.Conn(), parameters: link.Parameters(), cancel: link.Cancel}
	below := u.conn
	if encrypted, is := below.(*tls.Conn); is {
		below = encrypted.NetConn()
	}
	raw, is := below.(*reactor.Conn)
	if !is {
		u.close()
		return nil, fmt.Errorf("an upstream connection is a %T, which has no descriptor", below)
	}
	u.raw = raw
	for name, value := range u.parameters {
		if err := checkPinned(name, value); err != nil {
			u.close()
			return nil, err
		}
	}
	database, _ := charset.Find(u.parameters[encodingOfDatabase])
	if err := checkEncoding(u.parameters[encodingParameter], begin, database); err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

// settle waits until the connection is ready. By then the client knows that it is logged in, and
// takes some time to send its first message.
func (a *attempt) settle(ctx context.Context, u *upstream) error {
	err := u.link.Settle(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errShutdown
	}
	return &unreached{connectFailure(err), fmt.Errorf("a kept connection to the database server is of no use: %w", withoutParameters(err))}
}

// close closes the connection at once.
func (u *upstream) close() { u.release(0, false) }

// release ends the use of the connection. Status is the transaction's, as in
// ReadyForQuery, or 0 if the connection is not to be used again. Traceless is as in
// Statement, of all that was sent.
func (u *upstream) release(status byte, traceless bool) {
	if u.link == nil {
		_ = u.conn.Close() // nothing to do about it
		return
	}
	if traceless {
		u.link.Traceless()
	}
	u.link.Release(status)
}

// upstreams is the configuration of the pool.
func (c Config) upstreams() pool.Config {
	roles := make(map[string]*pgconn.Config, len(c.Readers)+1)
	maps.Copy(roles, c.Readers)
	roles[""] = c.Upstream
	options := c.Pool
	if options.MaxConnections == 0 {
		options.MaxConnections = c.MaxSessions
	}
	if options.ConnectTimeout == 0 {
		options.ConnectTimeout = c.ConnectTimeout
	}
	return pool.Config{Roles: roles, Options: options, Referred: c.Referred, Logger: c.Logger}
}

// NotBefore has sessions read nothing older than what was committed before a moment: those
// on a standby that is not known to show it are refused statements until it does. With
// one database server it changes nothing.
func (s *Server) NotBefore(least time.Time) { s.pool.NotBefore(least) }

// Refer tells what the server says of itself that kproxy writes to: see pool.Config.Referred.
func (s *Server) Refer(r pool.Reference) { s.pool.Refer(r) }

// Apart tells whether heartbeats are needed to know whom the readers' servers follow.
func (s *Server) Apart() bool { return s.pool.Apart() }

// checkPinned refuses a reported parameter under which the server would read texts otherwise
// than the gate.
func checkPinned(name, value string) error {
	if name == "standard_conforming_strings" && value != "on" {
		return newFatal(stateFeatureNotSupported, name+" must be on")
	}
	return nil
}

// timeLimitStates are the SQLSTATEs with which settings such as statement_timeout end what
// takes too long; 55P03 is lock_not_available.
var timeLimitStates = []string{
	stateQueryCanceled, "55P03", stateIdleInTransactionTimeout, stateTransactionTimeout, stateIdleSessionTimeout,
}

// connectFailure is the error for a client whose upstream connection cannot be made. It says
// nothing about addresses, users or passwords.
func connectFailure(err error) *fatal {
	var own *fatal
	if errors.As(err, &own) {
		return own
	}
	var full *pool.Refusal
	if errors.As(err, &full) {
		return newFatal(full.SQLState(), full.Error()).withHint(full.Hint())
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch {
		case slices.Contains(timeLimitStates, refused.Code):
			return newFatal(refused.Code, "a time limit has ended the login to the database server").
				withHint("Check the time limits that the client sets when it connects, also in PGOPTIONS.")
		case strings.HasPrefix(refused.Code, "22"), refused.Code == stateSyntaxError, refused.Code == "42602": // invalid name
			return newFatal(stateInvalidParameterValue, "a startup parameter has an invalid value").
				withHint("Check what the client sets when it connects, also in PGOPTIONS.")
		case refused.Code == stateFeatureNotSupported:
			return newFatal(stateFeatureNotSupported, "the database server does not convert to this client_encoding").
				withHint("Use client_encoding UTF8.")
		case refused.Code == stateUndefinedObject:
			return newFatal(stateUndefinedObject, "this version of the database server does not know a startup parameter").
				withHint("Check what the client sets when it connects, also in PGOPTIONS.")
		case refused.Code == stateTooManyConnections:
			return newFatal(stateTooManyConnections, "the database server has too many connections")
		case strings.HasPrefix(refused.Code, "57"):
			return newFatal(stateCannotConnectNow, "the database server does not accept connections now")
		}
	}
	return newFatal(stateConnectionFailure, "could not connect to the database server").
		withHint("The operator finds the reason in the log of kproxy.")
}
