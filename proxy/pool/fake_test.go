package pool

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// fakeWorld has servers that take their time, fail now and then, and count.
type fakeWorld struct {
	t testing.TB

	mu      sync.Mutex
	random  *rand.Rand
	opening int // now
	live    int // connections, and those being made
	most    struct{ opening, live int }
	owner   map[*conn]string // who has it

	delay    func() time.Duration
	failing  func(*host) error // what open fails with
	unclean  func() bool       // whether reset fails
	vanished func() bool       // whether a kept connection is found to be gone
	stalled  func() bool       // whether a kept connection is not answered
	standby  map[string]bool   // hosts by name
}

func newFakeWorld(t testing.TB, seed uint64) *fakeWorld {
	none := func() bool { return false }
	return &fakeWorld{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), owner: map[*conn]string{},
		delay: func() time.Duration { return 0 }, failing: func(*host) error { return nil }, unclean: none, vanished: none, stalled: none,
	}
}

// newFakePool is a pool with hosts by name, on the world.
func (f *fakeWorld) newPool(c Config, hosts ...string) *Pool {
	f.t.Helper()
	if c.Roles == nil {
		c.Roles = map[string]*pgconn.Config{"": fakeRole(f.t, hosts...)}
	}
	p, err := New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	p.backend = f
	return p
}

func fakeRole(t testing.TB, hosts ...string) *pgconn.Config {
	t.Helper()
	if len(hosts) == 0 {
		hosts = []string{"one"}
	}
	text := "user=reader sslmode=disable host="
	for i, h := range hosts {
		if i > 0 {
			text += ","
		}
		text += h
	}
	role, err := pgconn.ParseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return role
}

func (f *fakeWorld) pause(ctx context.Context) error {
	f.mu.Lock()
	d := f.delay()
	f.mu.Unlock()
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeWorld) open(ctx context.Context, h *host, w *want) (*conn, string, bool, error) {
	f.mu.Lock()
	f.opening++
	f.live++
	f.most.opening, f.most.live = max(f.most.opening, f.opening), max(f.most.live, f.live)
	f.mu.Unlock()
	err := f.pause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opening--
	if err == nil {
		err = f.failing(h)
	}
	if err != nil {
		f.live--
		return nil, "", false, err
	}
	c := &conn{host: h, group: w.group, parameters: map[string]string{}}
	c.Conn = &fakeConn{world: f}
	return c, w.name, f.standby[h.host], nil
}

func (f *fakeWorld) claim(_ context.Context, c *conn, w *want) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.group != w.group {
		f.t.Errorf("a connection of %q for %q", c.group, w.group)
	}
	if f.vanished() {
		return errors.New("it is gone")
	}
	return nil
}

func (f *fakeWorld) settle(ctx context.Context, _ *conn) error {
	if err := f.pause(ctx); err != nil {
		return err
	}
	if f.stalled() {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (f *fakeWorld) reset(c *conn, status byte, _ bool) error {
	_ = f.pause(context.Background())
	f.mu.Lock()
	defer f.mu.Unlock()
	if who := f.owner[c]; who != "" {
		f.t.Errorf("a connection of %s is reset", who)
	}
	if f.unclean() {
		return errors.New("something is left")
	}
	return nil
}

func (f *fakeWorld) quiet(*conn) bool { return true }

// connections is how many there are.
func (f *fakeWorld) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// use notes that a session has a connection, until the result is called.
func (f *fakeWorld) use(l *Link, who string) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.owner[l.conn]; other != "" {
		f.t.Errorf("%s has got the connection of %s", who, other)
	}
	if l.conn.Conn.(*fakeConn).closed {
		f.t.Errorf("%s has got a closed connection", who)
	}
	f.owner[l.conn] = who
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.owner, l.conn)
	}
}

// fakeConn is nothing but open or closed.
type fakeConn struct {
	net.Conn
	world  *fakeWorld
	closed bool
}

func (c *fakeConn) Write(p []byte) (int, error) { return len(p), nil }
func (c *fakeConn) SetDeadline(time.Time) error { return nil }

func (c *fakeConn) Close() error {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if c.closed {
		c.world.t.Error("closed twice")
	}
	c.closed = true
	c.world.live--
	return nil
}

// obtain is Get and Settle.
func obtain(ctx context.Context, p *Pool, wanted Want) (*Link, error) {
	link, err := p.Get(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := link.Settle(ctx); err != nil {
		link.Release(0)
		return nil, err
	}
	return link, nil
}
