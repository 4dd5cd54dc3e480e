package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/proxy/access"
	"github.com/kproxy/kproxy/proxy/pool"
)

// Server accepts clients and relays them to PostgreSQL. It is made by [New] and
// safe for concurrent use.
type Server struct {
	current     atomic.Pointer[settings]
	pool        *pool.Pool
	keys        cancelKeys
	limit       sessionLimit
	connections atomic.Int64               // whatever their state
	addresses   atomic.Pointer[[]net.Addr] // that Serve listens on
	repeats     repeats.Log                // of connections that are refused
	shards      *shards                    // of Serve
	sessions    atomic.Uint64              // that have begun, ever
}

// settings are a configuration and what follows from it. A connection keeps those that
// it began under.
type settings struct {
	Config
	access    *access.Control
	serverTLS *tls.Config // nil = no TLS
}

// New returns a server for the configuration, or all its mistakes joined.
func New(c Config) (*Server, error) {
	first, err := c.settings(access.New)
	if err != nil {
		return nil, err
	}
	upstreams, err := pool.New(first.upstreams())
	if err != nil {
		return nil, err
	}
	s := &Server{pool: upstreams}
	s.current.Store(first)
	s.addresses.Store(&[]net.Addr{})
	return s, nil
}

// settings checks a configuration. The control of who may log in is made by control.
func (c Config) settings(control func(access.Config) (*access.Control, error)) (*settings, error) {
	c = c.withDefaults()
	controlled, err := control(c.Access)
	if err := errors.Join(c.check(), err); err != nil {
		return nil, err
	}
	s := &settings{Config: c, access: controlled}
	if c.TLS != nil {
		s.serverTLS = serverTLS(c.TLS)
	}
	return s, nil
}

// maxConnections leaves room, as PostgreSQL does, for telling clients that there are too
// many of them.
func (s *settings) maxConnections() int64 {
	return int64(s.MaxSessions) + int64(s.Access.MaxPending) + 16
}
