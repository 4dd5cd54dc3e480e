package pool

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"
)

// cancelTimeout bounds the delivery of a cancel request.
const cancelTimeout = 5 * time.Second

// errReleased is the failure of a cancel request that comes too late.
var errReleased = errors.New("the session has ended")

// Link is a session's connection, from [Pool.Get] to Release.
type Link struct {
	pool       *Pool
	conn       *conn
	user, role string
	settling   bool // the server has yet to answer
	traceless  bool // see Traceless
	parameters map[string]string

	mu        sync.Mutex
	released  bool
	uncertain bool           // a cancel request may still hit what comes next
	canceling sync.WaitGroup // added to under mu while the link is not released
}

// Settle waits until the server has given the connection what the session brings, and is
// called once, before Conn is used; the client need not wait for it. An error is one of
// [Pool.Get]: the link is of no use then.
func (l *Link) Settle(ctx context.Context) error {
	if !l.settling {
		return nil
	}
	err := l.pool.settle(ctx, l)
	l.settling = err != nil // an answer that is still to come is nobody else's
	return err
}

// Ask runs one statement for the proxy itself, in place of a session, and returns the status
// of the transaction for Release; 0 with an error after which the connection is of no use.
func (l *Link) Ask(ctx context.Context, sql string) (status byte, err error) {
	answers, _, err := l.conn.askWithin(ctx, query(sql))
	if err != nil {
		return 0, err
	}
	return answers[0].status, answers[0].failed
}

// Conn is the connection: a *reactor.Conn, or a *tls.Conn over one. It is attached and
// must be so again when the link is released.
func (l *Link) Conn() net.Conn { return l.conn.Conn }

// Parameters are what the server has reported by now, by the names that it uses. The map
// is the caller's.
func (l *Link) Parameters() map[string]string { return l.parameters }

// Server is the address of the server.
func (l *Link) Server() string {
	return net.JoinHostPort(l.conn.host.host, strconv.Itoa(int(l.conn.host.port)))
}

// Role is the name of the role in Config.Roles.
func (l *Link) Role() string { return l.role }

// Fresh reports whether what the session reads may be shown: false where
// Options.MaxStaleness is set and what its host shows may be older than that, or where the
// host may not show what Pool.NotBefore asks for, or is not Good. It is cheap.
func (l *Link) Fresh() bool { return l.conn.host.fresh() && l.conn.good() }

// Good reports whether the session's server still is, or follows, the one that kproxy writes
// to, as far as Config.Referred asks for that, and its host is one of the configuration's.
// If not, the session has to end, with what it runs. It is cheap.
func (l *Link) Good() bool { return l.conn.good() }

// Cancel asks the server to cancel what runs, and returns when the server has the
// request, ctx ends or 5 s have passed. If it fails with ErrCancelUncertain, the session
// must end; with any other error the request was not sent. After Release it only fails.
func (l *Link) Cancel(ctx context.Context) error {
	l.mu.Lock()
	if l.released {
		l.mu.Unlock()
		return errReleased
	}
	l.canceling.Add(1)
	l.mu.Unlock()
	defer l.canceling.Done()
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	err := l.conn.cancels.cancel(ctx)
	if errors.Is(err, ErrCancelUncertain) {
		l.mu.Lock()
		l.uncertain = true
		l.mu.Unlock()
	}
	return err
}

// Traceless says that the session has left nothing that DISCARD ALL might miss; to be
// called before Release.
func (l *Link) Traceless() { l.traceless = true }

// Release gives the connection back and does not block. Status is that of the server's
// last ReadyForQuery, if all that was sent has been answered and read: 'I' outside of a
// transaction, 'T' or 'E' inside one, which is rolled back. 0 stands for a connection
// that is not to be used again. Further calls do nothing.
func (l *Link) Release(status byte) {
	l.mu.Lock()
	released := l.released
	l.released = true
	l.mu.Unlock()
	if released {
		return
	}
	if l.settling {
		status = 0 // the answer is still to come
	}
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots.inUse--
	l.conn.host.load--
	p.slots.queue.leave(l.user)
	p.slots.serve() // another session of the user may have waited for this
	if isClosed(p.closed) {
		go l.recycle(0) // Close waits for no more
		return
	}
	p.background.Go(func() { l.recycle(status) })
}

// recycle resets a connection and keeps it, or closes it.
func (l *Link) recycle(status byte) {
	l.canceling.Wait() // a cancel request must not hit what comes next
	if l.uncertain {
		status = 0
	}
	p, c := l.pool, l.conn
	p.mu.Lock()
	wanted, log := p.slots.wants(c, time.Now()), p.config.Logger
	p.mu.Unlock()
	if wanted && status != 0 {
		if err := p.backend.reset(c, status, l.traceless); err != nil {
			log.Info("an upstream connection is not used again", "reason", err)
			status = 0
		} else {
			p.count(func(n *counters) { n.reset++ })
			if p.keep(c) {
				return
			}
		}
	}
	if status == 0 {
		p.count(func(n *counters) { n.discarded++ })
		_ = c.Close() // it may be inside a message
	} else {
		c.terminate()
	}
	p.free()
}

// keep has the next session use a connection that is as after login, unless it is not
// wanted any more.
func (p *Pool) keep(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.slots.keep(c) {
		return false
	}
	p.slots.serve()
	return true
}
