package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// bounded is l for server, with so many connections at a time at most. Whoever reaches it
// may open as many as they like and send nothing. So nobody waits for a place: when all
// are taken, a new connection gets that of one that waits for its client. Handlers tell by
// recognized who is no stranger: strangers take places from each other first, for behind one
// address, of a proxy or a gateway, there may be both.
func bounded(l net.Listener, most int, server *http.Server) net.Listener {
	b := &boundedListener{Listener: l, most: most, open: make(map[*boundedConn]struct{})}
	server.ConnState = b.note
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, boundedOf(conn))
	}
	return b
}

// connKey is that of a request's connection in its context.
type connKey struct{}

// recognized notes of the connection of a request, by its context, whether it is of somebody
// who is known: who has logged out, or whose session is over, is a stranger again.
func recognized(ctx context.Context, known bool) {
	c, _ := ctx.Value(connKey{}).(*boundedConn)
	if c == nil {
		return
	}
	c.of.mutex.Lock()
	defer c.of.mutex.Unlock()
	c.known = known
}

// boundedOf is the connection under what the server has made of it, nil for another's.
func boundedOf(conn net.Conn) *boundedConn {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	c, _ := conn.(*boundedConn)
	return c
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
	known bool   // its last request was of somebody who is no stranger
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
// takes places from itself and not from others. Who is known is spared while there are
// strangers.
func (l *boundedListener) dispensable() *boundedConn {
	crowd := make(map[netip.Addr]int)
	for c := range l.open {
		crowd[c.from]++
	}
	var first *boundedConn
	for c := range l.open {
		if first == nil || cmp.Or(keeps(c.known, first.known), cmp.Compare(crowd[first.from], crowd[c.from]), keeps(c.busy, first.busy), cmp.Compare(c.since, first.since)) < 0 {
			first = c
		}
	}
	return first
}

// keeps is negative where one does not have what keeps its place, and other has.
func keeps(one, other bool) int {
	switch {
	case one == other:
		return 0
	case other:
		return -1
	default:
		return 1
	}
}

// note is told by the server of what a connection is at.
func (l *boundedListener) note(conn net.Conn, state http.ConnState) {
	c := boundedOf(conn)
	if c == nil || state != http.StateActive && state != http.StateIdle {
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
