package proxy

import (
	"slices"

	"github.com/kproxy/kproxy/proxy/access"
)

// Reconfigure has connections that are accepted from now on served under another
// configuration; sessions go on under the one that they began with. Those end at once
// with FATAL 57P01 whose user is gone, has another verifier or reader, or is no longer
// let in by the rules or without TLS; clients' certificates are not looked at again. The Gate should be the same: each session asks its own. The error
// lists all mistakes; nothing is changed then.
func (s *Server) Reconfigure(c Config) error {
	next, err := c.settings(s.current.Load().access.Next)
	if err != nil {
		return err
	}
	if err := s.pool.Reconfigure(next.upstreams()); err != nil {
		return err
	}
	s.current.Store(next)
	for _, session := range s.keys.sessions() {
		if !next.admits(session) {
			session.revoke(errNoUser)
		}
	}
	return nil
}

// admits tells whether who has logged in under earlier settings could do so still.
func (s *settings) admits(session *session) bool {
	if s.TLSRequired && session.who.Transport == access.Plain {
		return false
	}
	return s.access.Admits(session.who)
}

// EndReaders ends the sessions that run as some readers, by their names in Config.Readers, and have read
// any of the relations, in the Gate's names for them, at once with FATAL 57P01. It is for the moment
// when the Gate begins to refuse what it allowed before, which it must do already: statements that a
// session has prepared, and cursors it has opened, do not pass the Gate again.
func (s *Server) EndReaders(some func(reader string) bool, relations ...string) {
	for _, session := range s.keys.sessions() {
		if some(session.who.Reader) && session.relay.gate.hasNoted(&session.relay.gate.reads, relations) {
			session.revoke(errRevoked)
		}
	}
}

// EndRoles ends the sessions that run as any of the readers, by their names in Config.Readers, at once
// with FATAL 57P01. It is for the moment when the Gate begins to refuse what they have prepared.
func (s *Server) EndRoles(readers ...string) {
	for _, session := range s.keys.sessions() {
		if slices.Contains(readers, session.who.Reader) {
			session.revoke(errMoved)
		}
	}
}

// EndCallers likewise ends the sessions that have called any of the functions.
func (s *Server) EndCallers(functions ...string) {
	for _, session := range s.keys.sessions() {
		if session.relay.gate.hasNoted(&session.relay.gate.calls, functions) {
			session.revoke(errUncallable)
		}
	}
}
