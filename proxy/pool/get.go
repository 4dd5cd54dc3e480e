package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Get returns a connection for a session: one that is kept for the like of it, else a new one.
// Where there are too many it waits, first come, first served, for up to Options.QueueTimeout. Once
// it is settled (see [Link.Settle]) it is ready for queries, with nothing unread, and its role is
// the one wanted. The part of an error for the client is a [Refusal], or a pgconn.PgError if the
// server has refused it; the rest is for the log.
func (p *Pool) Get(ctx context.Context, wanted Want) (*Link, error) {
	p.mu.Lock()
	p.start()
	w, err := p.want(wanted)
	timeout, watch := p.config.QueueTimeout, p.watch
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, timeout, errQueueTimeout)
	defer cancel()
	if watch != nil {
		if err := watch.seen(waiting); err != nil {
			return nil, err
		}
	}
	a := &acquisition{pool: p, ctx: ctx, waiting: waiting, want: w}
	g, err := a.admit()
	if err != nil {
		return nil, err
	}
	filled, err := a.fill(g)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.slots.queue.leave(w.User)
		p.slots.free()
		return nil, err
	}
	parameters := maps.Clone(filled.conn.parameters)
	if _, reported := parameters[nameParameter]; reported {
		parameters[nameParameter] = filled.shown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots.inUse++
	return &Link{pool: p, conn: filled.conn, user: w.User, role: w.Role, settling: filled.kept, parameters: parameters}, nil
}

// acquisition is a [Pool.Get] under way. Only the goroutine that has called Get uses it.
type acquisition struct {
	pool         *Pool
	ctx, waiting context.Context // of the session; of its wait in the queue
	want         *want
}

// admit waits for a slot, and maybe a kept connection with it.
func (a *acquisition) admit() (grant, error) {
	w, blocked, err := a.join()
	if err != nil {
		return grant{}, err
	}
	select {
	case g := <-w.granted:
		return g, nil
	case <-a.pool.closed:
		err = errClosed
	case <-a.waiting.Done():
		err = context.Cause(a.waiting)
		if blocked && errors.Is(err, errQueueTimeout) {
			err = errUserLimit
		}
	}
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	a.pool.slots.giveUp(w)
	return grant{}, err
}

// join gets in line for a slot. Blocked says that it is the user's own limit that the
// session waits for.
func (a *acquisition) join() (w *waiter, blocked bool, err error) {
	p := a.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if isClosed(p.closed) {
		return nil, false, errClosed
	}
	if _, err := p.slots.candidates(a.want); err != nil {
		return nil, false, err
	}
	w = p.slots.queue.join(a.want)
	p.slots.serve()
	if err := p.slots.refuse(w); err != nil {
		p.slots.queue.abandon(w)
		return nil, false, err
	}
	return w, w.blocked != nil, nil
}

// fill makes a slot a connection: the one that came with it if it is still good, or
// another that is kept, or a new one.
func (a *acquisition) fill(g grant) (filling, error) {
	p, w := a.pool, a.want
	if g.instead != nil {
		g.instead.terminate()
	}
	greeting, cancel := context.WithTimeoutCause(a.ctx, p.connectTimeout(), errConnectTimeout)
	defer cancel()
	for c := g.conn; c != nil; c = a.replace(c) {
		var err error = errNotShown
		if c.good() {
			err = p.backend.claim(greeting, c, w)
		}
		if err == nil {
			p.count(func(n *counters) { n.reused++ })
			return filling{c, w.name, true}, nil
		}
		_ = c.Close()
		if greeting.Err() != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			c.host.load--
			c.unanswered(w.Role, a.ctx.Err() == nil)
			return filling{}, context.Cause(greeting)
		}
	}
	for {
		filled, err := a.dial()
		if sqlState(err) != stateTooManyConnections || !a.pause(fullPause) {
			return filled, err
		}
	}
}

// fullPause is how long a session waits before it asks a server again that has as many
// connections as it takes: others than kproxy's have them.
const fullPause = 200 * time.Millisecond

// pause reports whether the session still waits after a while.
func (a *acquisition) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-a.pool.closed:
	case <-a.waiting.Done():
	}
	return false
}

// dial makes a connection when it is its turn.
func (a *acquisition) dial() (filling, error) {
	p := a.pool
	p.mu.Lock()
	dials := p.dials
	p.mu.Unlock()
	select {
	case dials <- struct{}{}:
		defer func() { <-dials }()
		c, shown, err := a.open()
		return filling{c, shown, false}, err
	case <-p.closed:
		return filling{}, errClosed
	case <-a.waiting.Done():
		return filling{}, context.Cause(a.waiting)
	}
}

// filling is a connection for a session.
type filling struct {
	conn  *conn
	shown string // the application_name that the server reports
	kept  bool   // it was kept, and is to be settled
}

// replace returns a kept connection in place of one that turned out to be gone, or nil.
func (a *acquisition) replace(gone *conn) *conn {
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	return a.pool.slots.replace(gone, a.want)
}

// open makes a connection to the first host that gives one.
func (a *acquisition) open() (*conn, string, error) {
	ctx, cancel := context.WithTimeoutCause(a.ctx, a.pool.connectTimeout(), errConnectTimeout)
	defer cancel()
	var failures []error
	for tried := map[*host]bool{}; ; {
		h, permission, err := a.choose(tried)
		if err != nil {
			return nil, "", errors.Join(append(failures, err)...)
		}
		if h == nil {
			return nil, "", errors.Join(failures...)
		}
		tried[h] = true
		c, shown, recovering, err := a.pool.backend.open(ctx, h, a.want)
		if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), errConnectTimeout) {
			err = fmt.Errorf("%w: %w", errGaveUp, err)
		}
		suits := a.opened(h, permission, c, recovering, err)
		if suits {
			if err = a.recognize(ctx, h, c); err == nil {
				return c, shown, nil
			}
			a.unload(h)
		}
		if c != nil {
			c.terminate()
			err = cmp.Or(err, error(errNoServer))
		}
		if starved(err) { // no other host would be reached
			return nil, "", starving(err)
		}
		failures = append(failures, err)
		if ctx.Err() != nil || ofClient(err) {
			return nil, "", errors.Join(failures...)
		}
	}
}

// errConnectTimeout is why connecting has ended.
var errConnectTimeout = errors.New("connecting took too long")

// choose returns the best host that has not been tried, and takes its permission; nil =
// all have been. A want of an earlier configuration is renewed.
func (a *acquisition) choose(tried map[*host]bool) (*host, attempt, error) {
	p := a.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.want.generation != p.slots.generation {
		renewed, err := p.want(a.want.Want)
		if err != nil {
			return nil, attempt{}, err
		}
		a.want = renewed
	}
	candidates, err := p.hosts.candidates(a.want.Role, time.Now(), func(*host) bool { return false })
	if err != nil && len(tried) == 0 {
		return nil, attempt{}, err
	}
	for _, h := range candidates {
		if !tried[h] {
			h.load++
			return h, h.circuit(a.want.Role).try(a.want.own), nil
		}
	}
	return nil, attempt{}, nil
}

// opened notes what came of an attempt, and tells whether the connection can be used:
// not if there is none, or if the host is not of the kind wanted.
func (a *acquisition) opened(h *host, permission attempt, c *conn, recovering bool, err error) bool {
	p, w := a.pool, a.want
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	h.circuit(w.Role).done(permission, now, err)
	if err != nil || w.several && !p.config.suits(recovering) {
		h.load--
		p.counters.openFailed++
		return false
	}
	p.counters.opened++
	c.generation, c.expires = w.generation, expiry(now, p.config.Lifetime)
	return true
}

// recognizeWithin is how long a connection waits until its server is known. A server that
// has been started again is within some seconds.
const (
	recognizeWithin = 5 * time.Second
	recognizeEvery  = 20 * time.Millisecond
)

// recognize sees to it that a new connection leads to the server by which its host is known.
func (a *acquisition) recognize(ctx context.Context, h *host, c *conn) error {
	if !a.want.referred {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, recognizeWithin, errNotShown)
	defer cancel()
	for asked := false; !c.good(); asked = true {
		if known := h.identity.Load(); known != nil && asked && *known != c.identity && h.good() {
			return fmt.Errorf("host %s leads to several servers; name each of them: %w", h.host, errNotShown)
		}
		if !asked {
			a.pool.wake(h)
		}
		select {
		case <-time.After(recognizeEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// unload notes that a connection has come to nothing.
func (a *acquisition) unload(h *host) {
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	h.load--
}

// settle waits for the server's answer on a connection that was kept.
func (p *Pool) settle(ctx context.Context, l *Link) error {
	within, cancel := context.WithTimeoutCause(ctx, p.connectTimeout(), errConnectTimeout)
	defer cancel()
	err := p.backend.settle(within, l.conn)
	if err == nil || within.Err() == nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.conn.unanswered(l.role, ctx.Err() == nil)
	return context.Cause(within)
}

// unanswered notes that a session has waited for nothing on a kept connection; stalled
// says that it was for too long. Pool.mu is held.
func (c *conn) unanswered(role string, stalled bool) {
	if stalled {
		c.host.circuit(role).stall(time.Now(), errConnectTimeout)
	}
}

func (p *Pool) connectTimeout() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config.ConnectTimeout
}
