package sync

import (
	"context"
	"errors"
	"net"
	"slices"
	gosync "sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// relay stands between a Syncer and the server, as the network does. Its methods may be
// called concurrently.
type relay struct {
	listener net.Listener

	mu     gosync.Mutex
	server string
	links  []*link // in the order in which they were opened
}

// link is a connection by way of a relay.
type link struct {
	client, server net.Conn
	deaf           bool // what comes from either side is lost
	over           bool
}

// relayed has the bench's Syncers reach the server by way of a relay.
func (b *bench) relayed(server *pgserver.Server) *relay {
	b.t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(b.t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	r := &relay{listener: listener}
	r.leadTo(server)
	b.config.Owner = b.config.Owner.Copy()
	b.config.Owner.Port = uint16(listener.Addr().(*net.TCPAddr).Port) //nolint:gosec // a port
	b.config.Owner.Fallbacks = nil
	go r.accept()
	b.t.Cleanup(func() {
		_ = listener.Close()
		r.cut()
	})
	return r
}

// leadTo says which server connections lead to that begin from now on.
func (r *relay) leadTo(server *pgserver.Server) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: server.Port()}).String()
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		r.mu.Lock()
		to := r.server
		r.mu.Unlock()
		dialer := net.Dialer{Timeout: 5 * time.Second}
		server, err := dialer.DialContext(context.Background(), "tcp4", to)
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &link{client: client, server: server}
		r.mu.Lock()
		r.links = append(r.links, l)
		r.mu.Unlock()
		go r.pass(l, client, server)
		go r.pass(l, server, client)
	}
}

func (r *relay) pass(l *link, from, to net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.mu.Lock()
		deaf := l.deaf
		r.mu.Unlock()
		if deaf && err != nil {
			return // the other side hears nothing of it
		}
		if n > 0 && !deaf {
			_, failed := to.Write(buffer[:n])
			err = errors.Join(err, failed)
		}
		if err != nil {
			r.mu.Lock()
			l.over = true
			r.mu.Unlock()
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// swallow leaves connections open and passes nothing on any more; which says of which,
// by their age among those that are open. Later ones work.
func (r *relay) swallow(which func(i int) bool) (swallowed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links = slices.DeleteFunc(r.links, func(l *link) bool { return l.over })
	for i, l := range r.links {
		if which(i) {
			l.deaf = true
			swallowed++
		}
	}
	return swallowed
}

// cut ends every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.links {
		_, _ = l.client.Close(), l.server.Close()
	}
}

// TestHalfOpen has connections that are open at kproxy's end only: control is the first
// that a Syncer makes, the one for replication the second, the watcher's the third.
func TestHalfOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what is taken for silence, which is twenty seconds")
	}
	t.Parallel()
	for name, which := range map[string]func(i int) bool{
		"replication": func(i int) bool { return i == 1 },
		"control":     func(i int) bool { return i == 0 },
		"watcher":     func(i int) bool { return i == 2 },
		"all":         func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWard(t, pgtest.Shared(t))
			r := b.relayed(pgtest.Shared(t))
			l := b.start()
			l.inStep()
			l.eventually("the watcher is connected", func() bool { return l.Status().Slot.WALStatus != "" })
			l.forget()
			began := time.Now()
			if r.swallow(which) == 0 {
				t.Fatal("there is no such connection")
			}
			b.alter()
			if name != "watcher" {
				if status := l.told(Reconnecting, ""); status.Fix == "" {
					t.Errorf("no word of what to do: %+v", status)
				}
				t.Logf("noticed after %v", time.Since(began))
			}
			l.inStep()
			b.alter()
			l.inStep()
			t.Logf("in step after %v", time.Since(began))
		})
	}
	// The worker's two connections are the youngest.
	for name, point := range map[string]string{"snapshot": FailSnapshotTaken, "worker": FailSnapshotCopied} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := ownServer(t, pgserver.Options{}) // whose open transaction other snapshots would wait for
			b := newWard(t, server)
			r := b.relayed(server)
			h := b.holdAt(point)
			l := b.start()
			b.awaitHeld(h)
			began := time.Now()
			r.mu.Lock()
			r.links = slices.DeleteFunc(r.links, func(l *link) bool { return l.over })
			last := len(r.links)
			r.mu.Unlock()
			r.swallow(func(i int) bool { return i == last-1 })
			h.free()
			l.inStep()
			t.Logf("in step after %v", time.Since(began))
		})
	}
}
