package torture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// relay stands between a child and the server, as an unreliable network. Its methods
// may be called concurrently.
type relay struct {
	listener net.Listener
	server   func() string

	mu     sync.Mutex
	links  map[*link]struct{}
	delay  time.Duration // of everything, each way
	closed bool
}

// link is one connection by way of a relay.
type link struct {
	client, server *net.TCPConn
	swallows       bool // takes bytes from both sides and passes none on
	left           int  // how many bytes it passes on before it is cut; 0 for any number
	abrupt         bool // whether it is reset then
}

func newRelay(ctx context.Context, server func() string) (*relay, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a relay: %w", err)
	}
	r := &relay{listener: listener, server: server, links: make(map[*link]struct{})}
	go r.accept()
	return r, nil
}

func (r *relay) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.DialTimeout("tcp4", r.server(), 5*time.Second)
		if err != nil {
			reset(client.(*net.TCPConn))
			continue
		}
		l := &link{client: client.(*net.TCPConn), server: server.(*net.TCPConn)}
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			l.reset()
			return
		}
		r.links[l] = struct{}{}
		r.mu.Unlock()
		go r.pass(l, l.client, l.server)
		go r.pass(l, l.server, l.client)
	}
}

// reset closes a connection so that the other side notices at once.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (l *link) reset() {
	reset(l.client)
	reset(l.server)
}

func (r *relay) pass(l *link, from, to *net.TCPConn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.mu.Lock()
		swallows, delay, last := l.swallows, r.delay, l.left > 0 && l.left <= n
		if last {
			n = l.left
		} else if l.left > 0 {
			l.left -= n
		}
		abrupt := l.abrupt
		r.mu.Unlock()
		if swallows && err != nil {
			_ = from.Close() // the other side hears nothing of it
			return
		}
		if n > 0 && !swallows {
			time.Sleep(delay)
			_, failed := to.Write(buffer[:n])
			err = errors.Join(err, failed)
		}
		if last && abrupt {
			l.reset()
		}
		if last {
			err = errors.Join(err, net.ErrClosed)
		}
		if err != nil {
			r.forget(l)
			return
		}
	}
}

// forget ends both sides of a link.
func (r *relay) forget(l *link) {
	r.mu.Lock()
	delete(r.links, l)
	r.mu.Unlock()
	_ = l.client.Close()
	_ = l.server.Close()
}

// cut resets every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.reset()
		delete(r.links, l)
	}
}

// cutAfter ends every connection after so many bytes more, of either side. Both sides get these, unless it is abrupt.
func (r *relay) cutAfter(bytes int, abrupt bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.left, l.abrupt = bytes, abrupt
	}
}

// swallow leaves every connection open and passes nothing more on. Connections that
// come later work.
func (r *relay) swallow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.links {
		l.swallows = true
	}
}

// slow delays everything.
func (r *relay) slow(delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delay = delay
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	_ = r.listener.Close()
	r.cut()
}
