package pool

import (
	"context"
	"errors"
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

// world is what a pool does to servers. Its methods are called without a lock held.
type world interface {
	open(context.Context, *host, *want) (c *conn, shown string, recovering bool, err error)
	greet(context.Context, *conn, *want) error
	settle(context.Context, *conn) error
	reset(c *conn, status byte, traceless bool) error
	quiet(*conn) bool
}

// Pool hands out connections. It is made by [New] and safe for concurrent use.
//
// A place is the right to have a connection: there are Options.MaxConnections. Each
// connection has one, whether in use, being reset or kept, and so has each session that
// is making one.
type Pool struct {
	world world

	mu         sync.Mutex
	config     Config
	generation uint64
	hosts      []*host
	history    history // what the references have told
	places     int     // that are taken
	inUse      int     // links that are not released
	queue      *queue
	idle       *idleSet
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
	p := &Pool{world: servers{}, idle: newIdleSet(), closed: make(chan struct{})}
	if err := p.Reconfigure(c); err != nil {
		return nil, err
	}
	return p, nil
}

// Reconfigure has what is asked for from now on served under another configuration.
// Connections that were made before are not reused. Hosts that stay keep what is known
// of them; sessions on those that do not are no longer fresh. The error lists all mistakes; nothing is changed then.
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
	p.generation++
	former := p.hosts
	p.hosts = hosts(c.Roles[""], former)
	for _, h := range former {
		if !slices.Contains(p.hosts, h) {
			h.behind.Store(true) // nobody watches it any more
		}
	}
	for _, h := range p.hosts {
		// Of a host that is new it is not known whether it shows what it must.
		h.behind.Store(h.behind.Load() || c.Referred && h.standing == unknown && !p.history.least.IsZero())
	}
	if cap(p.dials) != c.MaxDials {
		p.dials = make(chan struct{}, c.MaxDials)
	}
	if p.queue == nil {
		p.queue = newQueue(c.MaxPerUser)
	}
	p.queue.limit(c.MaxPerUser)
	p.discard(p.idle.all.Len(), func(*conn) bool { return true })
	if p.started && !p.isClosed() {
		p.rewatch()
	}
	p.serve()
	return nil
}

// hosts are those of a connection, and among them of earlier ones those that stay.
func hosts(c *pgconn.Config, earlier []*host) []*host {
	known := make(map[address]*host, len(earlier))
	for _, h := range earlier {
		known[h.address] = h
	}
	var all []*host
	for _, a := range addresses(c) {
		h := known[a]
		if h == nil {
			h = newHost(a)
		}
		clear(h.circuits) // a failure may have been the configuration's
		all = append(all, h)
	}
	return all
}

// Reset closes the connections that are kept, and those in use when they are released.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.generation++
	p.discard(p.idle.all.Len(), func(*conn) bool { return true })
	p.serve()
}

// Close closes the connections that are kept, refuses who waits and has those in use
// closed when they are released. It returns when nothing runs in the background any more.
func (p *Pool) Close() {
	p.mu.Lock()
	if !p.isClosed() {
		close(p.closed)
		if p.watch != nil {
			p.watch.stop()
		}
	}
	for c := p.idle.oldest(); c != nil; c = p.idle.oldest() {
		p.background.Go(func() {
			c.bye()
			p.vacate()
		})
	}
	p.mu.Unlock()
	p.background.Wait()
}

func (p *Pool) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// Stats count connections.
type Stats struct {
	InUse   int // by sessions
	Idle    int // kept for the next session
	Places  int // those two, and connections being made or reset; at most MaxConnections
	Waiting int // sessions that wait for one
}

// Stats returns the numbers of now.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{InUse: p.inUse, Idle: p.idle.all.Len(), Places: p.places, Waiting: p.queue.len()}
}

// start begins what runs beside the sessions, at the first of them.
func (p *Pool) start() {
	if p.started || p.isClosed() {
		return
	}
	p.started = true
	p.background.Go(p.expire)
	p.rewatch()
}

// expireEvery is how often idle connections are looked at, and expireBatch how many.
const (
	expireEvery = time.Second
	expireBatch = 128
)

// expire closes idle connections that nobody has needed, or that are gone.
func (p *Pool) expire() {
	ticker := time.NewTicker(expireEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.closed:
			return
		case now := <-ticker.C:
			p.mu.Lock()
			p.discard(expireBatch, func(c *conn) bool {
				return now.After(c.expires) || now.Sub(c.idleSince) > p.config.IdleTimeout || !p.world.quiet(c)
			})
			p.serve()
			p.mu.Unlock()
		}
	}
}

// discard closes idle connections, of those that have been idle for longest.
func (p *Pool) discard(most int, unwanted func(*conn) bool) {
	for _, c := range p.idle.sweep(most, unwanted) {
		p.part(c)
	}
}

// part closes a connection in the background, and has its place taken then.
func (p *Pool) part(c *conn) {
	closing := func() {
		c.bye()
		p.vacate()
	}
	if p.isClosed() {
		go closing() // nobody waits
		return
	}
	p.background.Go(closing)
}

// vacate gives a place back.
func (p *Pool) vacate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places--
	p.serve()
}

// want returns what a session needs under the present configuration.
func (p *Pool) want(w Want) (*want, error) {
	role := p.config.Roles[w.Role]
	if role == nil {
		return nil, errors.New("the pool has no role " + w.Role)
	}
	parameters, pinned := effective(w.Parameters, role.RuntimeParams), effective(nil, role.RuntimeParams)
	if bytesOf(parameters) > bytesOf(pinned)+maxParameterBytes {
		return nil, errLongParameters
	}
	return &want{
		Want: w, generation: p.generation, role: role, parameters: parameters,
		group: groupOf(w.Role, parameters), name: applicationName(w.Application, w.Client),
		own: !maps.Equal(parameters, pinned), several: len(p.hosts) > 1, referred: p.config.Referred,
	}, nil
}
