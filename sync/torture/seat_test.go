package torture

import (
	"context"
	"net"
	"strconv"
	"sync"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// seat is the place of a server. Faults put another one there: a backup, or a standby that was promoted. Its methods may
// be called concurrently.
type seat struct {
	mu     sync.Mutex
	server *pgserver.Server
}

func (s *seat) now() *pgserver.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

func (s *seat) DSN(database string) string        { return s.now().DSN(database) }
func (s *seat) Port() int                         { return s.now().Port() }
func (s *seat) Version() pgserver.Version         { return s.now().Version() }
func (s *seat) Restart(ctx context.Context) error { return s.now().Restart(ctx) }
func (s *seat) Kill() error                       { return s.now().Kill() }
func (s *seat) address() string                   { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())) }

// take stops the server for good, and has another one in its place.
func (s *seat) take(next *pgserver.Server) error {
	s.mu.Lock()
	before := s.server
	s.server = next
	s.mu.Unlock()
	return before.Stop()
}
