package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/proxy/pool"
)

// longestPause is between two attempts to accept when descriptors have run out.
const longestPause = time.Second

// errStopping is sent to clients that have not logged in yet when the server stops: libpq then
// tries the next of several hosts.
var errStopping = newFatal(stateCannotConnectNow, "the database system is shutting down")

// Serve accepts clients on all listeners until ctx is canceled. It then closes them, so
// that clients go elsewhere at once, ends who is about to log in with FATAL 57P03, lets
// running statements finish for up to Config.DrainTimeout, ends all sessions with FATAL
// 57P01 and returns nil. A session ends when its statement does, be it in the middle of a
// transaction, which is rolled back. An error of a listener ends all in the same way and
// is returned. All goroutines of Serve have ended when it returns. It is called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := s.current.Load()
	var err error
	if s.shards, err = startShards(began.EventLoops, began.Logger, cancel); err != nil {
		for _, ln := range listeners {
			_ = ln.Close()
		}
		return err
	}
	defer s.shards.close()
	var clients, accepting sync.WaitGroup
	ends := make(chan error, len(listeners))
	addresses := make([]net.Addr, len(listeners))
	for i, ln := range listeners {
		addresses[i] = ln.Addr()
	}
	s.addresses.Store(&addresses)
	clients.Go(func() { s.followUsers(ctx) })
	for _, ln := range listeners {
		accepting.Go(func() {
			ends <- s.accept(ctx, ln, &clients)
			cancel() // one listener ends with the others
		})
	}
	accepting.Wait()
	s.shards.drain(s.current.Load().DrainTimeout)
	clients.Wait()
	s.pool.Close()
	s.repeats.Flush()
	close(ends)
	var failed []error
	for err := range ends {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// EndSessions ends all sessions at once with FATAL 57P01, whatever they do.
func (s *Server) EndSessions() {
	for _, session := range s.keys.sessions() {
		session.revoke(errShutdown)
	}
}

// accept serves the clients of one listener until ctx is canceled, and closes it.
func (s *Server) accept(ctx context.Context, ln net.Listener, clients *sync.WaitGroup) error {
	closed := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer func() {
		if closed() {
			_ = ln.Close()
		}
	}()
	for pause := time.Duration(0); ; {
		conn, err := ln.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil
		}
		if err != nil {
			if !temporary(err) {
				return fmt.Errorf("accepting clients on %s: %w", ln.Addr(), err)
			}
			// Out of file descriptors, most likely: wait for some to be freed.
			pause = min(max(2*pause, 5*time.Millisecond), longestPause)
			s.repeats.Note(s.current.Load().Logger, slog.LevelError, repeats.Key{Kind: "accept"}, "accepting a client failed", "error", err, "pause", pause, "fix", pool.FixDescriptors)
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
			s.repeats.Note(began.Logger, slog.LevelWarn, repeats.Key{Kind: "closed"}, "connections are closed unheard: there are too many", "most", began.maxConnections())
			continue
		}
		clients.Add(1)
		go s.handle(ctx, began, conn, func() {
			s.connections.Add(-1)
			clients.Done()
		})
	}
}

// temporary reports whether, after an error of Accept, a later attempt may succeed.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}
