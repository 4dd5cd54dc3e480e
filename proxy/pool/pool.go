package pool

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Want is what a session needs.
type Want struct {
	User        string            // of the proxy: whose limit it counts for
	Role        string            // in Config.Roles; "" = the main one
	Parameters  map[string]string // startup parameters but application_name, by lower-case name
	Application string            // what the client calls itself
	Client      net.Addr          // where it is; nil = it is not told
}

// want is a Want under a configuration.
type want struct {
	Want
	generation uint64 // of the configuration
	role       *pgconn.Config
	parameters map[string]string
	group      string
	name       string
	own        bool // some of the parameters are the session's
	several    bool // there are several hosts
	referred   bool // see Config.Referred
}

// backend is what a pool does to servers. Its methods are called without a lock held.
type backend interface {
	open(context.Context, *host, *want) (c *conn, shown string, recovering bool, err error)
	claim(context.Context, *conn, *want) error
	settle(context.Context, *conn) error
	reset(c *conn, status byte, traceless bool) error
	quiet(*conn) bool
}

// Pool hands out connections. [New] makes one; it is safe for concurrent use.
//
// mu guards its parts: slots decides who gets a connection and which ones are kept, hosts which server
// answers, and watch knows what the servers are. A [Pool.Get] under way is an acquisition, on the
// goroutine of its session.
type Pool struct {
	backend backend

	mu         sync.Mutex
	config     Config
	hosts      *hostSet
	slots      slots
	history    history       // what the references have told
	dials      chan struct{} // one for each connection being made
	watch      *watch        // nil = nothing has been asked for, or there are no references
	started    bool
	counters   counters
	closed     chan struct{}
	background sync.WaitGroup // what Close waits for; added to under mu while it is open
}

// New returns a pool, or all mistakes of the configuration joined. It connects to
// nothing before the first Get; [Pool.Close] ends it.
func New(c Config) (*Pool, error) {
	p := &Pool{backend: servers{}, closed: make(chan struct{}), hosts: &hostSet{}}
	p.slots = slots{idle: newIdleSet(), queue: newQueue(0), closed: p.closed, retire: p.retire}
	if err := p.Reconfigure(c); err != nil {
		return nil, err
	}
	return p, nil
}

// Reconfigure applies another configuration to later calls of Get. Connections made under the former one
// are not reused. Hosts in both keep what is known of them; sessions on removed hosts are no longer fresh.
// On error, which joins all mistakes, nothing changes.
func (p *Pool) Reconfigure(c Config) error {
	c.Options = c.withDefaults()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if err := c.Check(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config = c
	former := p.hosts.all
	p.hosts = newHostSet(c.Roles[""], &p.config.Options, former)
	for _, h := range former {
		if !slices.Contains(p.hosts.all, h) {
			h.behind.Store(true) // it is not watched any more
		}
	}
	for _, h := range p.hosts.all {
		// Of a host that is new it is not known whether it shows what it must.
		h.behind.Store(h.behind.Load() || c.Referred && h.role == unknown && !p.history.least.IsZero())
	}
	if cap(p.dials) != c.MaxDials {
		p.dials = make(chan struct{}, c.MaxDials)
	}
	p.slots.generation++
	p.slots.options, p.slots.hosts = c.Options, p.hosts
	p.slots.queue.limit(c.MaxPerUser)
	if p.started && !isClosed(p.closed) {
		p.rewatch()
	}
	p.slots.discardAll()
	return nil
}

// Reset closes idle connections at once, and connections in use when they are released.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots.generation++
	p.slots.discardAll()
}

// Close closes idle connections at once and connections in use when they are released, and refuses
// waiting sessions. It returns when the pool's goroutines have ended. Further calls do nothing.
func (p *Pool) Close() {
	p.mu.Lock()
	if !isClosed(p.closed) {
		close(p.closed)
		if p.watch != nil {
			p.watch.stop()
		}
	}
	for c := p.slots.idle.oldest(); c != nil; c = p.slots.idle.oldest() {
		p.background.Go(func() { p.closeIdle(c) })
	}
	p.mu.Unlock()
	p.background.Wait()
}

// Stats is a snapshot of a pool's counts.
type Stats struct {
	InUse   int // connections of sessions
	Idle    int // connections kept for the next session
	Places  int // InUse, Idle, and connections being made or reset; at most MaxConnections
	Waiting int // sessions waiting for a connection
}

// Stats returns a snapshot of the pool's counts.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{InUse: p.slots.inUse, Idle: p.slots.idle.all.Len(), Places: p.slots.taken, Waiting: p.slots.queue.len()}
}

// start starts the pool's goroutines at the first Get. The caller holds mu.
func (p *Pool) start() {
	if p.started || isClosed(p.closed) {
		return
	}
	p.started = true
	p.background.Go(p.expire)
	p.rewatch()
}

// expireEvery is the pause between two checks of idle connections, expireBatch the most that one check looks at.
const (
	expireEvery = time.Second
	expireBatch = 128
)

// expire closes idle connections that are too old, unused for too long, or closed by the server. It returns
// when the pool is closed.
func (p *Pool) expire() {
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.closed:
			return
		case now := <-ticker.C:
			p.mu.Lock()
			p.slots.discard(expireBatch, func(c *conn) bool {
				return now.After(c.expires) || now.Sub(c.idleSince) > p.config.IdleTimeout || !p.backend.quiet(c)
			})
			p.mu.Unlock()
		}
	}
}

// retire closes a connection in the background and then frees its slot.
func (p *Pool) retire(c *conn) {
	if isClosed(p.closed) {
		go p.closeIdle(c) // Close waits for no more
		return
	}
	p.background.Go(func() { p.closeIdle(c) })
}

// closeIdle closes a connection that is between two messages and frees its slot.
func (p *Pool) closeIdle(c *conn) {
	c.terminate()
	p.free()
}

// free gives a slot back.
func (p *Pool) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots.free()
}

// want returns what a session needs under the current configuration. The caller holds mu.
func (p *Pool) want(w Want) (*want, error) {
	role := p.config.Roles[w.Role]
	if role == nil {
		return nil, fmt.Errorf("pool: no role %q", w.Role)
	}
	parameters, pinned := effective(w.Parameters, role.RuntimeParams), effective(nil, role.RuntimeParams)
	if bytesOf(parameters) > bytesOf(pinned)+maxParameterBytes {
		return nil, errLongParameters
	}
	return &want{
		Want: w, generation: p.slots.generation, role: role, parameters: parameters,
		group: groupOf(w.Role, parameters), name: applicationName(w.Application, w.Client),
		own: !maps.Equal(parameters, pinned), several: len(p.hosts.all) > 1, referred: p.config.Referred,
	}, nil
}
