package proxy

import (
	"sync"

	"github.com/kproxy/kproxy/proxy/pool"
)

// errCrowded is what clients are told for whom there is no place.
var errCrowded = newFatal(stateTooManyConnections, "sorry, too many clients already").withHint("Close sessions that are not used, or try again later.")

// places count the sessions, all and each user's; the zero value is ready. It holds
// entries only for users with sessions.
type places struct {
	mu    sync.Mutex
	total int
	of    map[string]int
}

// take takes a place for a session of the user unless as many as are allowed are taken.
func (p *places) take(user string, most, mostOfUser int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.total >= most:
		return errCrowded
	case p.of[user] >= mostOfUser:
		return newFatal(stateTooManyConnections, "too many connections for role \""+cleanText(user)+"\"").
			withHint("Close sessions that are not used, or try again later.")
	}
	if p.of == nil {
		p.of = make(map[string]int)
	}
	p.total++
	p.of[user]++
	return nil
}

// leave gives a place back.
func (p *places) leave(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.of[user]--; p.of[user] == 0 {
		delete(p.of, user)
	}
}

// taken is how many places are taken.
func (p *places) taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}

// Counts are how many clients a server has at a moment.
type Counts struct {
	Connections int `json:"connections"` // in whatever state, those of sessions among them
	Sessions    int `json:"sessions"`    // logged in
}

// Counts counts the clients.
func (s *Server) Counts() Counts {
	return Counts{Connections: int(s.connections.Load()), Sessions: s.places.taken()}
}

// Pool tells how the connections to the database do.
func (s *Server) Pool() pool.Report { return s.pool.Report() }
