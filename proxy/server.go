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
	config    Config
	verifiers map[string]scram.Verifier
	binding   xscram.ChannelBinding

	mockSecret     []byte
	mockIterations int

	revocation atomic.Pointer[chan struct{}] // closed to end the sessions that hold it

	keys        cancelKeys
	sessions    chan struct{} // one element for each session
	connections chan struct{} // one element for each connection, whatever its state
}

// New returns a server for the configuration, or all its mistakes joined.
func New(c Config) (*Server, error) {
	c = c.withDefaults()
	verifiers, err := c.verifiers()
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("proxy: drawing a secret: %w", err)
	}
	s := &Server{
		config:         c,
		verifiers:      verifiers,
		binding:        endpointBinding(c.TLS),
		mockSecret:     secret,
		mockIterations: commonIterations(verifiers),
		sessions:       make(chan struct{}, c.MaxSessions),
		// As PostgreSQL does, leave room for cancel requests and for telling
		// clients that there are too many of them.
		connections: make(chan struct{}, 2*c.MaxSessions+16),
	}
	s.revocation.Store(new(make(chan struct{})))
	return s, nil
}

// EndSessions ends every session at once with FATAL 57P01. It is for the moment
// when the Gate begins to refuse what it allowed before: statements that a
// session has prepared, and cursors it has opened, do not pass the Gate again.
func (s *Server) EndSessions() {
	close(*s.revocation.Swap(new(make(chan struct{}))))
}

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
			s.config.Logger.Warn("accepting a client failed", "error", err, "pause", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		pause = 0
		select {
		case s.connections <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		clients.Go(func() {
			defer func() { <-s.connections }()
			s.handle(ctx, conn)
		})
	}
}
