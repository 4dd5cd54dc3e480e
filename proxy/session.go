package proxy

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/proxy/access"
)

const (
	// lastWords is how long a client may take to read the end of a session.
	lastWords = 2 * time.Second

	// upstreamLastWords is how long the server may take to say why it is gone,
	// after a write to it has failed.
	upstreamLastWords = time.Second
)

// Ends of a session.
var (
	errClientGone   = errors.New("the client is gone")
	errUpstreamGone = newFatal(stateConnectionFailure, "the connection to the database server was lost")
	errRevoked      = newFatal(stateAdminShutdown, "terminating connection because a published table was withdrawn").withHint("Connect again; the other tables can be read.")
	errNoUser       = newFatal(stateAdminShutdown, "terminating connection because its user may no longer log in as it did")
	errShutdown     = newFatal(stateAdminShutdown, "terminating connection due to administrator command")
)

// session is an authenticated client with its upstream connection.
type session struct {
	config    *Config
	user      string
	who       access.Identity
	client    net.Conn
	clientIn  *bufio.Reader
	clientOut *bufio.Writer
	up        *upstream
	pipeline  *pipeline
	revoked   chan error // why the session is to end, from outside

	reading sync.Mutex // held while the Gate decides
	reads   []string   // under reading: relations that its statements have read

	turn  sync.Mutex // held while a step is pushed or a cancel request delivered
	ended bool       // under turn: the upstream connection is no longer ours

	terminated atomic.Bool // the client has sent Terminate

	doomed   bool // relayClient's: a refusal was sent and no Sync since
	holding  bool // relayClient's: statements with effects, plans or uses were prepared
	reaching bool // relayClient's: statements with uses were prepared
	naming   bool // relayClient's: statements were prepared under names
	moved    bool // relayClient's: search_path may have changed

	begunPath string // the search_path at first

	torn     bool   // relayServer's: stopped inside a message to the client
	farewell bool   // relayServer's: the server has sent FATAL
	rows     rows   // relayServer's: what the rows are that the server sends now
	path     string // relayServer's: the search_path that the client was told last

	reportsPath bool // the server reports search_path
}

// newSession joins two connections; neither has anything buffered elsewhere.
func newSession(config *Config, user string, state State, client net.Conn, up *upstream) *session {
	s := &session{config: config, user: user, client: client, up: up, pipeline: newPipeline(state), revoked: make(chan error, 1)}
	s.clientIn = bufio.NewReaderSize(&flushingReader{from: client, to: up.w}, relayBufferBytes)
	s.clientOut = bufio.NewWriterSize(client, relayBufferBytes)
	up.in.to = s.clientOut
	s.begunPath = state.SearchPath()
	s.path = s.begunPath
	_, s.reportsPath = up.parameters[pathParameter]
	return s
}

// greet sends all that follows AuthenticationOk.
func (s *session) greet(key cancelKey) error {
	var messages []pgproto3.BackendMessage
	for _, name := range slices.Sorted(maps.Keys(s.up.parameters)) {
		messages = append(messages, s.visible(name, s.up.parameters[name]))
	}
	messages = append(messages,
		&pgproto3.BackendKeyData{ProcessID: key.pid, SecretKey: key.secret},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	return sendMessages(s.client, messages...)
}

// run relays until the session ends and returns why. It closes both
// connections. When ctx is canceled it waits for what is running, up to
// Config.DrainTimeout.
func (s *session) run(ctx context.Context) error {
	ends := make(chan error, 2)
	go func() { ends <- s.clientReason(guard(s.relayClient)) }()
	go func() { ends <- s.serverReason(guard(s.relayServer)) }()

	left, reason := s.wait(ctx, ends)
	s.interrupt(reason)
	for range left {
		reason = cmp.Or(reason, <-ends)
	}
	s.finish(reason)
	return reason
}

// clientReason names the end that relayClient met.
func (s *session) clientReason(err error) error {
	var write *flushError
	var own *fatal
	var crash *panicError
	switch {
	case errors.As(err, &write):
		return errUpstreamGone
	case errors.As(err, &own), errors.As(err, &crash), errors.Is(err, errTerminated):
		return err
	case s.terminated.Load():
		return errTerminated
	default:
		return errClientGone
	}
}

// serverReason names the end that relayServer met.
func (s *session) serverReason(err error) error {
	var write *flushError
	var own *fatal
	var crash *panicError
	switch {
	case errors.As(err, &write):
		return errClientGone
	case errors.As(err, &own), errors.As(err, &crash):
		return err
	case s.terminated.Load():
		return errTerminated
	default:
		return errUpstreamGone
	}
}

// wait returns how many relays still run, and the reason for the session's end.
func (s *session) wait(ctx context.Context, ends <-chan error) (int, error) {
	stop := ctx.Done()
	var deadline <-chan time.Time
	for {
		select {
		case reason := <-ends:
			return 1, reason
		case <-stop:
			stop = nil
			timer := time.NewTimer(s.config.DrainTimeout)
			defer timer.Stop()
			deadline = timer.C
		case reason := <-s.revoked:
			return 2, reason
		case <-s.pipeline.idle:
		case <-deadline:
			return 2, errShutdown
		}
		if stop == nil && !s.pipeline.running() {
			return 2, errShutdown
		}
	}
}

// interrupt makes the relays return.
func (s *session) interrupt(reason error) {
	past, now := time.Unix(1, 0), time.Now()
	untilRead, untilWritten := past, now.Add(lastWords)
	if errors.Is(reason, errUpstreamGone) {
		untilRead = now.Add(upstreamLastWords)
	}
	if errors.Is(reason, errClientGone) {
		untilWritten = past
	}
	s.pipeline.close()
	// A connection that takes no deadline is closed already.
	_ = s.client.SetReadDeadline(past)
	_ = s.client.SetWriteDeadline(untilWritten)
	_ = s.up.conn.SetWriteDeadline(past)
	_ = s.up.conn.SetReadDeadline(untilRead)
}

// finish cancels what still runs for nobody, closes both connections and tells
// the client why, if it can still be told. The relays have returned.
func (s *session) finish(reason error) {
	if !errors.Is(reason, errUpstreamGone) {
		// The connection is closed next in any case.
		_ = s.cancelRunning(context.Background())
	}
	s.turn.Lock()
	s.ended = true
	s.turn.Unlock()
	s.up.close()

	last := lastWord(reason)
	if last == nil || s.torn || s.farewell {
		_ = s.client.Close()
		return
	}
	if send(s.clientOut, report(*last).append(nil, 'E')) == nil && s.clientOut.Flush() == nil {
		linger(s.client)
	}
	_ = s.client.Close()
}

// lastWord is what a client is told of the reason for which its session, or its
// attempt at one, ends; nil = nothing.
func lastWord(reason error) *fatal {
	var own *fatal
	var crash *panicError
	switch {
	case errors.As(reason, &own):
		return own
	case errors.As(reason, &crash):
		return newFatal(stateInternalError, "internal error")
	default:
		return nil
	}
}

// linger lets the client read what was sent last: a connection closed with
// input unread is reset, and the reset overtakes the message.
func linger(conn net.Conn) {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if conn.SetReadDeadline(time.Now().Add(lastWords)) == nil {
		_, _ = io.CopyN(io.Discard, conn, 1<<20)
	}
}
