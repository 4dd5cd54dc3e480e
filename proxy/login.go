package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/proxy/access"
	"github.com/kproxy/kproxy/proxy/reactor"
)

// errNoPending is the end of a connection for which there is no place before it has
// logged in; there is no answer before the startup packet.
var errNoPending = errors.New("too many connections that have not logged in")

// handle serves one connection until a session has it, or to its end. Leave is called
// when it has ended.
func (s *Server) handle(ctx context.Context, began *settings, conn net.Conn, leave func()) {
	log := began.Logger.With("remote", conn.RemoteAddr())
	raw := reactor.Wrap(conn)
	a := &attempt{settings: began, server: s, log: log, accepted: conn, raw: raw, conn: raw, leaving: []func(){leave}}
	err := guard(func() error { return a.serve(ctx) })
	a.end(ctx, err)
}

// attempt is a connection on its way to a session.
type attempt struct {
	*settings
	server     *Server
	log        *slog.Logger
	accepted   net.Conn
	raw        *reactor.Conn // over accepted
	conn       net.Conn      // raw, or TLS over it
	introduced bool          // the startup packet has been read
	user       string        // in it, as it is told and logged
	observed   bool          // the Observer has been told what became of it
	over       bool          // a session has conn

	deadline time.Time // of the login

	encrypted   bool                  // conn is TLS
	binding     xscram.ChannelBinding // to the certificate presented; empty = none can be
	certificate *x509.Certificate     // of the client, verified; nil = none
	who         access.Identity       // once authenticated
	// unsent says that the client is authenticated. It goes with what follows, in one
	// packet: each costs the client a wake-up.
	unsent []pgproto3.BackendMessage

	leaving []func() // what to do when the connection has ended
}

// leave does what is to be done when the connection has ended.
func (a *attempt) leave() {
	for _, do := range slices.Backward(a.leaving) {
		do()
	}
}

// serve runs the connection's phases: encryption, startup, authentication,
// connecting upstream, session.
func (a *attempt) serve(ctx context.Context) error {
	if err := a.readForwarder(ctx); err != nil {
		return err
	}
	a.deadline = time.Now().Add(a.AuthTimeout)
	if err := a.raw.SetDeadline(a.deadline); err != nil {
		return err
	}
	interrupt := context.AfterFunc(ctx, func() { _ = a.raw.SetDeadline(time.Unix(1, 0)) })
	defer interrupt()

	leave, ok := a.access.Enter(clientAddress(a.raw))
	if !ok {
		return errNoPending
	}
	// Until the connection is closed: who is refused may be slow to read why.
	a.leaving = append(a.leaving, leave)
	packet, err := a.negotiate()
	if err != nil {
		return err
	}
	a.introduced = true
	if packet.code == cancelRequestCode {
		return a.cancel(ctx, packet.body)
	}
	st, err := parseStartup(packet)
	if err != nil {
		return err
	}
	a.user = shownName(st.user)
	a.log = a.log.With("user", a.user, "database", shownName(st.database), "tls", a.encrypted)
	if answer := st.negotiation(); answer != nil {
		if err := sendMessages(a.conn, answer); err != nil {
			return err
		}
	}
	if st.user == "" {
		return newFatal(stateInvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if a.TLSRequired && a.transport() == access.Plain {
		return newFatal(stateInvalidAuthorization, "this server accepts encrypted connections only").
			withHint("Connect with sslmode=require or stronger.")
	}
	if a.who, err = a.authenticate(ctx, st); err != nil {
		return err
	}
	// Counted only now, so that strangers cannot take the places of users.
	if err := a.server.limit.acquire(st.user, a.MaxSessions, a.MaxSessionsPerUser); err != nil {
		return err
	}
	a.leaving = append(a.leaving, func() { a.server.limit.release(st.user) })
	leave()
	if st.database != a.Database {
		return newFatal(stateInvalidCatalogName, "database \""+shownName(st.database)+"\" does not exist").
			withHint("This server publishes one database only.")
	}
	if err := a.Available(); err != nil {
		return newRefusal(err, stateCannotConnectNow).fatal()
	}
	return a.session(ctx, interrupt, st)
}

// shownNameBytes is the length at which PostgreSQL cuts names: NAMEDATALEN - 1.
const shownNameBytes = 63

// shownName is a client's name for a user or a database as it is told and logged.
func shownName(name string) string {
	return cleanText(name[:min(len(name), shownNameBytes)])
}

// end closes the connection and tells the client why.
func (a *attempt) end(ctx context.Context, err error) {
	var crash *panicError
	if errors.As(err, &crash) {
		a.log.Error("session crashed", "error", err, "stack", crash.Stack)
	}
	if a.over {
		return
	}
	defer a.leave()
	defer func() { _ = a.raw.Close() }()
	late := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case ctx.Err() != nil && (late || errors.Is(err, errShutdown)):
		err = errStopping // no session has begun
	case late:
		err = newFatal(stateQueryCanceled, "canceling authentication due to timeout")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		a.logRefusal(err)
	}
	last := finalError(err)
	a.rejected(err, last)
	if last == nil || !a.introduced || a.raw.SetDeadline(time.Now().Add(closeTimeout)) != nil {
		return
	}
	word, encoding := encoded(a.unsent)
	if encoding != nil {
		return
	}
	word = report(*last).append(word, 'E', utf8Charset)
	var old oldFrontend
	if errors.As(err, &old) {
		word = old.encoded()
	}
	if _, err := a.conn.Write(word); err == nil {
		linger(a.conn)
	}
}
