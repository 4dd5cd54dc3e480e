// Package connlimit bounds the number of connections of an HTTP server, so that a client that
// opens many and sends nothing keeps no other client out.
package connlimit

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// Listener is l for server, with so many connections at a time at most. Whoever reaches it
// may open as many as they like and send nothing. So nobody waits for a place: when all
// are taken, a new connection gets that of one that waits for its client. Handlers tell by
// recognized who is no stranger: strangers take places from each other first, for behind one
// address, of a proxy or a gateway, there may be both.
func Listener(l net.Listener, most int, server *http.Server) net.Listener {
	b := &limited{Listener: l, most: most, open: make(map[*limitedConn]struct{})}
	server.ConnState = b.note
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, limitedOf(conn))
	}
	return b
}

// connKey is that of a request's connection in its context.
type connKey struct{}

// Recognize notes of the connection of a request, by its context, whether it is of somebody
// who is known: who has logged out, or whose session is over, is a stranger again.
func Recognize(ctx context.Context, known bool) {
	c, _ := ctx.Value(connKey{}).(*limitedConn)
	if c == nil {
		return
	}
	c.of.mutex.Lock()
	defer c.of.mutex.Unlock()
	c.known = known
}

// limitedOf is the connection under what the server has made of it, nil for another's.
func limitedOf(conn net.Conn) *limitedConn {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

type limited struct {
	net.Listener
	most int

	mutex sync.Mutex
	open  map[*limitedConn]struct{}
	turns uint64 // counts what happens to connections
}

// limitedConn is one of the connections of a boundedListener, whose mutex guards it.
type limitedConn struct {
	net.Conn
	of    *limited
	from  netip.Addr
	known bool   // its last request was of somebody who is no stranger
	busy  bool   // a request of it is being answered
	since uint64 // the turn in which it became busy, or began to wait for a request
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	c := &limitedConn{Conn: conn, of: l, from: from.Addr().Unmap()}
	if gone := l.enter(c); gone != nil {
		_ = gone.Conn.Close()
	}
	return c, nil
}

// enter takes a connection in and returns the one that has to leave for it, or nil.
func (l *limited) enter(c *limitedConn) (gone *limitedConn) {
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
func (l *limited) dispensable() *limitedConn {
	crowd := make(map[netip.Addr]int)
	for c := range l.open {
		crowd[c.from]++
	}
	var first *limitedConn
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
func (l *limited) note(conn net.Conn, state http.ConnState) {
	c := limitedOf(conn)
	if c == nil || state != http.StateActive && state != http.StateIdle {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.turns++
	c.busy, c.since = state == http.StateActive, l.turns
}

// Close gives the place back.
func (c *limitedConn) Close() error {
	c.of.mutex.Lock()
	delete(c.of.open, c)
	c.of.mutex.Unlock()
	return c.Conn.Close()
}
