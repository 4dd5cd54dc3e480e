package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/scram"
)

// Server accepts clients and relays them to PostgreSQL. It is made by [New] and
// safe for concurrent use.
type Server struct {
	current     atomic.Pointer[settings]
	keys        cancelKeys
	sessions    atomic.Int64
	connections atomic.Int64 // whatever their state
}

// settings are a configuration and what follows from it. A connection keeps those that
// it began under.
type settings struct {
	Config
	verifiers map[string]scram.Verifier
	binding   xscram.ChannelBinding

	mockSecret     []byte
	mockIterations int
}

// New returns a server for the configuration, or all its mistakes joined.
func New(c Config) (*Server, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("proxy: drawing a secret: %w", err)
	}
	first, err := c.settings(secret)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	s.current.Store(first)
	return s, nil
}

// settings checks a configuration. The secret is what salts for users who do not exist
// are made of.
func (c Config) settings(secret []byte) (*settings, error) {
	c = c.withDefaults()
	verifiers, err := c.verifiers()
	if err != nil {
		return nil, err
	}
	return &settings{
		Config:         c,
		verifiers:      verifiers,
		binding:        endpointBinding(c.TLS),
		mockSecret:     secret,
		mockIterations: commonIterations(verifiers),
	}, nil
}

// maxConnections leaves room, as PostgreSQL does, for cancel requests and for telling
// clients that there are too many of them.
func (s *settings) maxConnections() int64 { return 2*int64(s.MaxSessions) + 16 }

// commonIterations returns the iterations of all verifiers if they agree, else
// PostgreSQL's default: a user who does not exist should look like one who does.
func commonIterations(verifiers map[string]scram.Verifier) int {
	common := 0
	for _, v := range verifiers {
		if common != 0 && v.Iterations != common {
			return scram.MinIterations
		}
		common = v.Iterations
	}
	return common
}

// keepAlive finds clients that vanished within two minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 15 * time.Second, Count: 4}

// Serve accepts clients on ln until ctx is canceled. It then stops accepting,
// lets running statements finish for up to Config.DrainTimeout, ends all
// sessions with FATAL 57P01 and returns nil. An error of ln ends it in the same
// way and is returned. Serve closes ln, and all its goroutines have ended when
// it returns.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer func() {
		if closed() {
			_ = ln.Close()
		}
	}()

	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel() // before the wait: clients end only then
	for pause := time.Duration(0); ; {
		conn, err := ln.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil
		}
		if err != nil {
			var temporary interface{ Temporary() bool }
			if !errors.As(err, &temporary) || !temporary.Temporary() {
				return fmt.Errorf("accepting clients: %w", err)
			}
			// Out of file descriptors, most likely: wait for some to be freed.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.current.Load().Logger.Warn("accepting a client failed", "error", err, "pause", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		pause = 0
		began := s.current.Load()
		if s.connections.Add(1) > began.maxConnections() {
			s.connections.Add(-1)
			_ = conn.Close()
			continue
		}
		clients.Go(func() {
			defer s.connections.Add(-1)
			s.handle(ctx, began, conn)
		})
	}
}
