package pool_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// slowNetwork keeps back what is written to it until it is delivered, and is silent.
type slowNetwork struct {
	net.Conn
	mu      sync.Mutex
	written []byte
	ends    error // what the first Read is answered with; nil = nothing until the deadline
}

func (n *slowNetwork) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.written = append(n.written, p...)
	return len(p), nil
}

func (n *slowNetwork) Read(p []byte) (int, error) {
	if n.ends != nil {
		return 0, n.ends
	}
	return n.Conn.Read(p) // the server has got nothing that it could answer
}

// Close leaves open what is on its way.
func (n *slowNetwork) Close() error { return nil }

// deliver has all of it arrive, and waits until the server has taken it.
func (n *slowNetwork) deliver(t *testing.T) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() { _ = n.Conn.Close() }()
	if err := n.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Conn.Write(n.written); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, n.Conn); err != nil {
		t.Fatal(err)
	}
}

// detour has a role's connections go through what is put in their way.
type detour struct {
	dial    pgconn.DialFunc
	through func(net.Conn) (net.Conn, error) // nil = straight on
}

func (d *detour) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil || d.through == nil {
		return conn, err
	}
	return d.through(conn)
}

// TestUncertainCancelRequests has requests arrive after it was given up to wait for them.
func TestUncertainCancelRequests(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	way := &detour{dial: role.DialFunc}
	role.DialFunc = way.open
	for name, ends := range map[string]error{"silence": nil, "reset": syscall.ECONNRESET} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, role, nil)
			way.through = nil
			s := get(t, p, ann())
			pid := s.one(backend)
			var late *slowNetwork
			way.through = func(conn net.Conn) (net.Conn, error) {
				late = &slowNetwork{Conn: conn, ends: ends}
				return late, nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := s.Cancel(ctx); !errors.Is(err, pool.ErrCancelUncertain) {
				t.Errorf("%v, want %v", err, pool.ErrCancelUncertain)
			}
			way.through = nil
			s.Release('I')
			if stats := settled(t, p); stats.Idle != 0 {
				t.Errorf("%+v: the connection is kept, and what runs next on it is canceled", stats)
			}
			next := get(t, p, ann())
			if next.one(backend) == pid {
				t.Error("the connection is used again")
			}
			late.deliver(t)
			if _, err := next.query("SELECT pg_sleep(0.2)"); err != nil {
				t.Errorf("the next session: %v", err)
			}
		})
	}
}

// TestCancelRequestsThatWereNotSent leave the connection as good as it was.
func TestCancelRequestsThatWereNotSent(t *testing.T) {
	server := pgtest.Shared(t)
	role := reader(t, server, pgtest.Database(t, server))
	way := &detour{dial: role.DialFunc}
	role.DialFunc = way.open
	p := newPool(t, role, nil)
	s := get(t, p, ann())
	pid := s.one(backend)
	way.through = func(conn net.Conn) (net.Conn, error) {
		_ = conn.Close()
		return nil, syscall.ECONNREFUSED
	}
	if err := s.Cancel(t.Context()); err == nil || errors.Is(err, pool.ErrCancelUncertain) {
		t.Error(err)
	}
	way.through = nil
	if err := s.Cancel(t.Context()); err != nil { // it runs nothing
		t.Error(err)
	}
	s.Release('I')
	settled(t, p)
	if next := get(t, p, ann()); next.one(backend) != pid {
		t.Error("the connection is not used again")
	}
}
