package pool

import (
	"time"
)

// slots are the rights to have a connection: there are Options.MaxConnections. Each
// connection has one, whether in use, being reset or kept, and so has each session that is
// making one. Slots decide who gets one and which connections are kept. All is guarded by
// Pool.mu.
type slots struct {
	options    Options
	generation uint64 // of the configuration
	taken      int
	inUse      int // links that are not released
	queue      *queue
	idle       *idleSet
	hosts      *hostSet
	closed     chan struct{}

	// retire closes a connection in the background and frees its slot then.
	retire func(*conn)
}

// serve gives slots to those who wait for one, in their order.
func (s *slots) serve() {
	for w := s.queue.next(); w != nil; w = s.queue.next() {
		g, ok := s.grant(w.want)
		if !ok {
			return
		}
		s.queue.serve(w, g)
	}
}

// grant takes a slot for a session: that of a connection that it can have, a free one, or that of
// an unused connection.
func (s *slots) grant(w *want) (grant, bool) {
	best, err := s.candidates(w)
	if err == nil && !best[0].circuit(w.Role).stalled && best[0].good() { // else a new one tries whether it answers again
		if c := s.idle.newest(sameGroup{best[0], w.group}); c != nil {
			c.host.load++
			return grant{conn: c}, true
		}
	}
	if s.taken < s.options.MaxConnections {
		s.taken++
		return grant{}, true
	}
	c := s.idle.oldest()
	return grant{instead: c}, c != nil
}

// candidates are the hosts that may answer a session, best first, those with a kept
// connection for it among them.
func (s *slots) candidates(w *want) ([]*host, error) {
	return s.hosts.candidates(w.Role, time.Now(), func(h *host) bool { return s.idle.groups[sameGroup{h, w.group}] != nil })
}

// refuse returns the reason why a session that has just come must not wait; nil = it may,
// or need not. Those who wait because of their own user's limit are counted apart, so that
// one user cannot fill the queue.
func (s *slots) refuse(w *waiter) error {
	switch {
	case w.served:
		return nil
	case w.blocked != nil && (s.options.MaxQueue < 0 || s.queue.blocked(w.want.User) > s.options.MaxPerUser):
		return errUserLimit
	case w.blocked == nil && len(s.queue.ready) > max(s.options.MaxQueue, 0):
		return errQueueFull
	default:
		return nil
	}
}

// giveUp takes a session out of the queue, or gives back what it has been granted in the
// same moment.
func (s *slots) giveUp(w *waiter) {
	defer s.serve()
	if !w.served {
		s.queue.abandon(w)
		return
	}
	s.queue.leave(w.want.User)
	switch g := <-w.granted; {
	case g.conn != nil:
		g.conn.host.load--
		s.store(g.conn)
	case g.instead != nil:
		s.store(g.instead)
	default:
		s.taken--
	}
}

// free gives a slot back.
func (s *slots) free() {
	s.taken--
	s.serve()
}

// wants reports whether a connection may be kept.
func (s *slots) wants(c *conn, now time.Time) bool {
	return c.generation == s.generation && now.Before(c.expires) && s.options.IdleTimeout > 0 && !isClosed(s.closed)
}

// keep has the next session use a connection that is as after login. It returns false if
// the connection is not wanted any more.
func (s *slots) keep(c *conn) bool {
	now := time.Now()
	if !s.wants(c, now) {
		return false
	}
	s.idle.add(c, now)
	return true
}

// store keeps a connection that no session has used, or retires it.
func (s *slots) store(c *conn) {
	if !s.keep(c) {
		s.retire(c)
	}
}

// replace takes a kept connection in place of one that turned out to be gone, or nil. The
// session keeps its slot.
func (s *slots) replace(gone *conn, w *want) *conn {
	gone.host.load--
	c := s.idle.newest(sameGroup{gone.host, w.group})
	if c != nil {
		s.taken--
		c.host.load++
	}
	return c
}

// discard retires idle connections, of at most so many that have been idle for longest.
func (s *slots) discard(most int, unwanted func(*conn) bool) {
	for _, c := range s.idle.sweep(most, unwanted) {
		s.retire(c)
	}
	s.serve()
}

// discardAll retires all idle connections.
func (s *slots) discardAll() { s.discard(s.idle.all.Len(), func(*conn) bool { return true }) }
