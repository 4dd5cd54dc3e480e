package proxy

import (
	"sync"

	"github.com/kproxy/kproxy/proxy/pool"
)

// errCrowded is sent to clients beyond the limit of sessions.
var errCrowded = newFatal(stateTooManyConnections, "sorry, too many clients already").withHint("Close sessions that are not used, or try again later.")

// sessionLimit counts the sessions, all and each user's; the zero value is ready. It holds
// entries only for users with sessions.
type sessionLimit struct {
	mu    sync.Mutex
	total int
	of    map[string]int
}

// acquire counts a session of the user, or refuses it if as many as are allowed exist.
func (l *sessionLimit) acquire(user string, most, mostOfUser int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.total >= most:
		return errCrowded
	case l.of[user] >= mostOfUser:
		return newFatal(stateTooManyConnections, "too many connections for role \""+cleanText(user)+"\"").
			withHint("Close sessions that are not used, or try again later.")
	}
	if l.of == nil {
		l.of = make(map[string]int)
	}
	l.total++
	l.of[user]++
	return nil
}

// release ends a session of the user.
func (l *sessionLimit) release(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.of[user]--; l.of[user] == 0 {
		delete(l.of, user)
	}
}

// sessions returns how many sessions exist.
func (l *sessionLimit) sessions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Counts are how many clients a server has at a moment.
type Counts struct {
	Connections int `json:"connections"` // in whatever state, those of sessions among them
	Sessions    int `json:"sessions"`    // logged in
}

// Counts counts the clients.
func (s *Server) Counts() Counts {
	return Counts{Connections: int(s.connections.Load()), Sessions: s.limit.sessions()}
}

// Pool tells how the connections to the database do.
func (s *Server) Pool() pool.Report { return s.pool.Report() }
