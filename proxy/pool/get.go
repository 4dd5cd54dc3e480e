package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Get returns a connection for a session: one that is kept for the like of it, else a new
// one. Where there are too many it waits, first come, first served, for up to
// Options.QueueTimeout. Once it is settled (see [Link.Settle]) it is ready for queries, with
// nothing unread, and its role is the one wanted. What is to be told to the client of an error is a [Refusal], or else a
// pgconn.PgError if the server has refused it; the rest is for the log.
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
	g, err := p.admit(waiting, w)
	if err != nil {
		return nil, err
	}
	filled, err := p.fill(ctx, waiting, w, g)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.places--
		p.queue.leave(w.User)
		p.serve()
		return nil, err
	}
	parameters := maps.Clone(filled.conn.parameters)
	if _, reported := parameters[nameParameter]; reported {
		parameters[nameParameter] = filled.shown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse++
	return &Link{pool: p, conn: filled.conn, user: w.User, role: w.Role, settling: filled.kept, parameters: parameters}, nil
}

// admit waits for a place, and maybe a kept connection with it.
func (p *Pool) admit(ctx context.Context, wanted *want) (grant, error) {
	p.mu.Lock()
	if p.isClosed() {
		p.mu.Unlock()
		return grant{}, errClosed
	}
	if _, err := p.candidates(wanted.Role, time.Now(), p.kept(wanted)); err != nil {
		p.mu.Unlock()
		return grant{}, err
	}
	w := p.queue.join(wanted)
	p.serve()
	refused := p.tooLong(w)
	if refused != nil {
		p.queue.abandon(w)
	}
	blocked := w.blocked != nil
	p.mu.Unlock()
	if refused != nil {
		return grant{}, refused
	}
	select {
	case g := <-w.granted:
		return g, nil
	case <-p.closed:
		refused = errClosed
	case <-ctx.Done():
		refused = context.Cause(ctx)
		if blocked && errors.Is(refused, errQueueTimeout) {
			refused = errUserLimit
		}
	}
	p.giveUp(w)
	return grant{}, refused
}

// tooLong says why a session that has just come must not wait; nil = it may, or need not.
// Those who wait because of their own user's limit are counted apart, so that one user
// cannot fill the queue.
func (p *Pool) tooLong(w *waiter) error {
	switch {
	case w.served:
		return nil
	case w.blocked != nil && (p.config.MaxQueue < 0 || p.queue.blocked(w.want.User) > p.config.MaxPerUser):
		return errUserLimit
	case w.blocked == nil && len(p.queue.ready) > max(p.config.MaxQueue, 0):
		return errQueueFull
	default:
		return nil
	}
}

// giveUp takes a session out of the queue, or gives back what it has been granted in the
// same moment.
func (p *Pool) giveUp(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !w.served {
		p.queue.abandon(w)
		p.serve()
		return
	}
	p.queue.leave(w.want.User)
	switch g := <-w.granted; {
	case g.conn != nil:
		g.conn.host.load--
		p.store(g.conn)
	case g.instead != nil:
		p.store(g.instead)
	default:
		p.places--
	}
	p.serve()
}

// serve gives places to those who wait for one, in their order.
func (p *Pool) serve() {
	for w := p.queue.next(); w != nil; w = p.queue.next() {
		g, ok := p.grant(w.want)
		if !ok {
			return
		}
		p.queue.serve(w, g)
	}
}

// grant takes a place for a session: that of a connection that it can have, a free one,
// or that of a connection that nobody uses.
func (p *Pool) grant(w *want) (grant, bool) {
	best, err := p.candidates(w.Role, time.Now(), p.kept(w))
	if err == nil && !best[0].circuit(w.Role).stalled && best[0].good() { // else a new one tries whether it answers again
		if c := p.idle.newest(alike{best[0], w.group}); c != nil {
			c.host.load++
			return grant{conn: c}, true
		}
	}
	if p.places < p.config.MaxConnections {
		p.places++
		return grant{}, true
	}
	c := p.idle.oldest()
	return grant{instead: c}, c != nil
}

// fill makes a place a connection: the one that came with it if it is still good, or
// another that is kept, or a new one.
func (p *Pool) fill(ctx, waiting context.Context, w *want, g grant) (filling, error) {
	if g.instead != nil {
		g.instead.bye()
	}
	greeting, cancel := context.WithTimeoutCause(ctx, p.connectTimeout(), errConnectTimeout)
	defer cancel()
	for c := g.conn; c != nil; c = p.replace(c, w) {
		var err error = errNotShown
		if c.good() {
			err = p.world.greet(greeting, c, w)
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
			p.unanswered(c, w.Role, ctx.Err() == nil)
			return filling{}, context.Cause(greeting)
		}
	}
	p.mu.Lock()
	dials := p.dials
	p.mu.Unlock()
	select {
	case dials <- struct{}{}:
		defer func() { <-dials }()
		c, shown, err := p.open(ctx, w)
		return filling{c, shown, false}, err
	case <-p.closed:
		return filling{}, errClosed
	case <-waiting.Done():
		return filling{}, context.Cause(waiting)
	}
}

// filling is a connection for a session.
type filling struct {
	conn  *conn
	shown string // the application_name that the server reports
	kept  bool   // it was kept, and is to be settled
}

// replace returns a kept connection in place of one that turned out to be gone, or nil.
// The place is the session's still.
func (p *Pool) replace(gone *conn, w *want) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone.host.load--
	c := p.idle.newest(alike{gone.host, w.group})
	if c != nil {
		p.places--
		c.host.load++
	}
	return c
}

// open makes a connection to the first host that gives one.
func (p *Pool) open(ctx context.Context, w *want) (*conn, string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.connectTimeout(), errConnectTimeout)
	defer cancel()
	var failures []error
	for tried := map[*host]bool{}; ; {
		h, permission, err := p.choose(&w, tried)
		if err != nil {
			return nil, "", errors.Join(append(failures, err)...)
		}
		if h == nil {
			return nil, "", errors.Join(failures...)
		}
		tried[h] = true
		c, shown, recovering, err := p.world.open(ctx, h, w)
		if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), errConnectTimeout) {
			err = fmt.Errorf("%w: %w", errGaveUp, err)
		}
		suits := p.opened(h, w, permission, c, recovering, err)
		if suits {
			if err = p.recognize(ctx, h, w, c); err == nil {
				return c, shown, nil
			}
			p.unload(h)
		}
		if c != nil {
			c.bye()
			err = cmp.Or(err, error(errNoServer))
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
func (p *Pool) choose(w **want, tried map[*host]bool) (*host, attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (*w).generation != p.generation {
		renewed, err := p.want((*w).Want)
		if err != nil {
			return nil, attempt{}, err
		}
		*w = renewed
	}
	candidates, err := p.candidates((*w).Role, time.Now(), none)
	if err != nil && len(tried) == 0 {
		return nil, attempt{}, err
	}
	for _, h := range candidates {
		if !tried[h] {
			h.load++
			return h, h.circuit((*w).Role).try((*w).own), nil
		}
	}
	return nil, attempt{}, nil
}

// opened notes what came of an attempt, and tells whether the connection can be used:
// not if there is none, or if the host is not of the kind wanted.
func (p *Pool) opened(h *host, w *want, a attempt, c *conn, recovering bool, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	h.circuit(w.Role).done(a, now, err)
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
func (p *Pool) recognize(ctx context.Context, h *host, w *want, c *conn) error {
	if !w.referred {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, recognizeWithin, errNotShown)
	defer cancel()
	for asked := false; !c.good(); asked = true {
		if known := h.identity.Load(); known != nil && asked && *known != c.identity && h.good() {
			return fmt.Errorf("host %s leads to several servers; name each of them: %w", h.host, errNotShown)
		}
		if !asked {
			p.wake(h)
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
func (p *Pool) unload(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.load--
}

// settle waits for the server's answer on a connection that was kept.
func (p *Pool) settle(ctx context.Context, l *Link) error {
	within, cancel := context.WithTimeoutCause(ctx, p.connectTimeout(), errConnectTimeout)
	defer cancel()
	err := p.world.settle(within, l.conn)
	if err == nil || within.Err() == nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unanswered(l.conn, l.role, ctx.Err() == nil)
	return context.Cause(within)
}

// unanswered notes that a session has waited for nothing on a kept connection; stalled
// says that it was for too long. Mu is held.
func (p *Pool) unanswered(c *conn, role string, stalled bool) {
	if stalled {
		c.host.circuit(role).stall(time.Now(), errConnectTimeout)
	}
}

func (p *Pool) connectTimeout() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config.ConnectTimeout
}
