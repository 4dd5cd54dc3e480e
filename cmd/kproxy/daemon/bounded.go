package daemon

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// bounded is l for server, with so many connections at a time at most. Whoever reaches it
// may open as many as they like and send nothing. So nobody waits for a place: when all
// are taken, a new connection gets that of one that waits for its client.
func bounded(l net.Listener, most int, server *http.Server) net.Listener {
	b := &boundedListener{Listener: l, most: most, open: make(map[*boundedConn]struct{})}
	server.ConnState = b.note
	return b
}

type boundedListener struct {
	net.Listener
	most int

	mutex sync.Mutex
	open  map[*boundedConn]struct{}
	turns uint64 // counts what happens to connections
}

// boundedConn is one of the connections of a boundedListener, whose mutex guards it.
type boundedConn struct {
	net.Conn
	of    *boundedListener
	from  netip.Addr
	busy  bool   // a request of it is being answered
	since uint64 // the turn in which it became busy, or began to wait for a request
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	c := &boundedConn{Conn: conn, of: l, from: from.Addr().Unmap()}
	if gone := l.enter(c); gone != nil {
		_ = gone.Conn.Close()
	}
	return c, nil
}

// enter takes a connection in and returns the one that has to leave for it, or nil.
func (l *boundedListener) enter(c *boundedConn) (gone *boundedConn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.open) >= l.most {
		gone = l.dispensable()
		delete(l.open, gone)
	}
	l.turns++
	c.since = l.turns
	l.open[c] = struct{}{}
	return gone
}

// dispensable is the connection that has waited longest for a request, or without any is
// answered longest, of the address that has most connections: so a crowd from one address
// takes places from itself and not from others.
func (l *boundedListener) dispensable() *boundedConn {
	crowd := make(map[netip.Addr]int)
	for c := range l.open {
		crowd[c.from]++
	}
	var first *boundedConn
	for c := range l.open {
		if first == nil || cmp.Or(cmp.Compare(crowd[first.from], crowd[c.from]), c.compare(first)) < 0 {
			first = c
		}
	}
	return first
}

// compare is negative where c can be spared rather than other.
func (c *boundedConn) compare(other *boundedConn) int {
	switch {
	case c.busy == other.busy:
		return cmp.Compare(c.since, other.since)
	case other.busy:
		return -1
	default:
		return 1
	}
}

// note is told by the server of what a connection is at.
func (l *boundedListener) note(conn net.Conn, state http.ConnState) {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	c, is := conn.(*boundedConn)
	if !is || state != http.StateActive && state != http.StateIdle {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.turns++
	c.busy, c.since = state == http.StateActive, l.turns
}

// Close gives the place back.
func (c *boundedConn) Close() error {
	c.of.mutex.Lock()
	delete(c.of.open, c)
	c.of.mutex.Unlock()
	return c.Conn.Close()
}
