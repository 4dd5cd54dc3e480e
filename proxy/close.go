package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// closeTimeout is how long a client may take to read the end of a session.
const closeTimeout = 2 * time.Second

// end ends the session. A goroutine does what must wait for the peers.
func (s *session) end(reason error) {
	if s.ended {
		return
	}
	s.ended = true
	s.relay.tracker.abandon(endState(reason))
	s.relay.client.keeper.close()
	delete(s.shard.sessions, s)
	s.shard.loop.Remove(s.client.raw)
	s.shard.loop.Remove(s.server.raw)
	go func() {
		if err := guard(func() error {
			s.finish(reason)
			return nil
		}); err != nil {
			reason = err
		}
		s.background.Wait()
		s.over(reason)
	}()
}

// finish cancels what still runs although no client waits for it, gives the server's connection
// back or closes it, and tells the client why, if the client can still be reached.
func (s *session) finish(reason error) {
	s.canceled.Wait()
	status, reached := byte(0), s.server.raw.Attach() == nil
	switch {
	case !reached, errors.Is(reason, errUpstreamGone):
	case s.relay.tracker.running():
		// The connection is closed next in any case.
		_ = s.deliverCancel(context.Background())
	case s.server.unwritable, s.relay.server.ended, s.server.congested(), len(s.server.held) > 0,
		s.relay.server.frames.rest > 0, s.relay.client.frames.inside(), s.relay.tracker.open:
	default:
		status = s.relay.tracker.status
	}
	last, client := finalError(reason), s.client.conn
	told := s.client.raw.Attach() == nil && client.SetDeadline(time.Now().Add(closeTimeout)) == nil
	if told && reached && last != nil && s.relay.server.frames.inside() {
		s.completeMessage()
	}
	s.link.release(status, !s.relay.client.traces)
	if !told {
		_ = s.client.raw.Close()
		return
	}
	if last == nil || s.relay.server.frames.inside() || s.relay.server.ended {
		_ = client.Close()
		return
	}
	in := s.relay.tracker.answers()
	if _, err := client.Write(report(*last).append(nil, 'E', in)); err == nil {
		linger(client)
	}
	_ = client.Close()
}

// mostCompleted bounds what of a message is sent on after the end of its session.
const mostCompleted = 1 << 20

// completeMessage lets the client have the rest of a message that it has a part of, most
// often a row, so that it can read what comes after it. The server has sent the rest, or is
// about to.
func (s *session) completeMessage() {
	if s.relay.server.frames.rest > mostCompleted || s.server.conn.SetReadDeadline(time.Now().Add(closeTimeout)) != nil {
		return
	}
	n, _ := io.CopyN(s.client.conn, s.server.conn, int64(s.relay.server.frames.rest)) // what is missing, inside tells of
	s.relay.server.frames.rest -= int(n)
}

// endState is the SQLSTATE that a session's end is observed with.
func endState(reason error) string {
	switch last := finalError(reason); {
	case last != nil:
		return last.state
	case errors.Is(reason, errTerminated):
		return ""
	default:
		return stateConnectionFailure
	}
}

// finalError is the error that tells a client why its session, or its attempt at one, ends; nil =
// none.
func finalError(reason error) *fatal {
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
	if conn.SetReadDeadline(time.Now().Add(closeTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, conn, 1<<20)
	}
}
