package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// upstream is a session's own connection to PostgreSQL.
type upstream struct {
	conn       net.Conn
	in         *flushingReader // below r
	r          *bufio.Reader
	w          *bufio.Writer
	parameters map[string]string           // as reported at login
	cancel     func(context.Context) error // asks the server to cancel what runs on conn
}

// newUpstream wraps a connection that is ready for queries; r reads from in.
func newUpstream(conn net.Conn, in *flushingReader, r *bufio.Reader) *upstream {
	return &upstream{conn: conn, in: in, r: r, w: bufio.NewWriterSize(conn, relayBufferBytes)}
}

// connect opens the upstream connection of a session. Parameters are the
// client's; those pinned by the configuration win.
func (s *settings) connect(ctx context.Context, parameters map[string]string) (*upstream, error) {
	config := s.Upstream.Copy()
	config.RuntimeParams = merge(parameters, config.RuntimeParams)
	var in *flushingReader
	var r *bufio.Reader
	config.BuildFrontend = func(from io.Reader, to io.Writer) *pgproto3.Frontend {
		in = &flushingReader{from: from}
		r = bufio.NewReaderSize(in, relayBufferBytes)
		return pgproto3.NewFrontend(&frameLimitedReader{r: r}, to)
	}
	ctx, cancel := context.WithTimeout(ctx, s.ConnectTimeout)
	defer cancel()
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	hijacked, err := pg.Hijack()
	if err != nil {
		return nil, err
	}
	u := newUpstream(hijacked.Conn, in, r)
	u.parameters = hijacked.ParameterStatuses
	u.cancel = pg.CancelRequest // it uses only the address, the TLS settings and the key
	for name, value := range u.parameters {
		if err := checkPinned(name, value); err != nil {
			u.close()
			return nil, err
		}
	}
	return u, nil
}

// close closes the connection at once.
func (u *upstream) close() {
	_ = u.conn.Close() // nothing to do about it
}

// merge returns the client's parameters under the pinned ones. Names are
// compared as the server does, without regard to case.
func merge(client, pinned map[string]string) map[string]string {
	merged := make(map[string]string, len(client)+len(pinned)+1)
	taken := map[string]bool{"client_encoding": true}
	merged["client_encoding"] = "UTF8"
	for name, value := range pinned {
		if lower := strings.ToLower(name); lower != "client_encoding" {
			merged[name] = value
			taken[lower] = true
		}
	}
	for name, value := range client {
		if !taken[name] {
			merged[name] = value
		}
	}
	return merged
}

// checkPinned refuses reported parameters under which the server would read
// texts otherwise than the gate.
func checkPinned(name, value string) error {
	pinned := map[string]string{"client_encoding": "UTF8", "standard_conforming_strings": "on"}
	if want, ok := pinned[name]; ok && value != want {
		return newFatal(stateFeatureNotSupported, fmt.Sprintf("%s must be %s", name, want))
	}
	return nil
}

// connectFailure is what a client is told when its upstream connection cannot
// be made: nothing about addresses, users or passwords.
func connectFailure(err error) *fatal {
	var own *fatal
	if errors.As(err, &own) {
		return own
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		switch {
		case refused.Code == stateInvalidParameterValue:
			return newFatal(stateInvalidParameterValue, "a startup parameter has an invalid value").
				withHint("Check what the client sets when it connects, also in PGOPTIONS.")
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

// frameLimitedReader hands out no byte beyond the message it is in, so that a
// codec above it buffers nothing that the relay must see.
type frameLimitedReader struct {
	r    *bufio.Reader
	left int // of the current message
}

func (l *frameLimitedReader) Read(p []byte) (int, error) {
	if l.left == 0 {
		b, err := l.r.Peek(headerBytes)
		if err != nil {
			return 0, err
		}
		f, err := parseHeader(b)
		if err != nil {
			return 0, err
		}
		l.left = headerBytes + f.size
	}
	if len(p) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
