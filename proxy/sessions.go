package proxy

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// SessionInfo is a session at a moment.
type SessionInfo struct {
	Client
	// Application is what the client calls itself.
	Application string `json:"application"`
	// State is idle, active, idle in transaction or idle in transaction (aborted), as in
	// pg_stat_activity.
	State string `json:"state"`
	// StatementSince is when what runs was sent to the server; zero where nothing does,
	// or no Observer follows it.
	StatementSince time.Time `json:"statement_since,omitzero"`
	// Shape is that of what runs, as in Answered.
	Shape string `json:"shape,omitempty"`
}

// Sessions lists the sessions by their numbers, without those that are about to begin or
// to end, and those of event loops that do not turn before ctx ends.
func (s *Server) Sessions(ctx context.Context) []SessionInfo {
	byShard := make(map[*shard][]*session)
	for _, session := range s.keys.sessions() {
		if on := session.on(); on != nil {
			byShard[on] = append(byShard[on], session)
		}
	}
	lists := make(chan []SessionInfo, len(byShard))
	waiting := 0
	for on, sessions := range byShard {
		if on.loop.Post(func() { lists <- infos(sessions) }) {
			waiting++
		}
	}
	all := []SessionInfo{}
	for range waiting {
		select {
		case list := <-lists:
			all = append(all, list...)
		case <-ctx.Done():
		}
	}
	slices.SortFunc(all, func(a, b SessionInfo) int { return cmp.Compare(a.Session, b.Session) })
	return all
}

// on is the session's shard; nil before it begins.
func (s *session) on() *shard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shard
}

// infos describes sessions of one shard, in its loop.
func infos(of []*session) []SessionInfo {
	var all []SessionInfo
	for _, s := range of {
		if !s.ended {
			all = append(all, s.info())
		}
	}
	return all
}

func (s *session) info() SessionInfo {
	t := s.relay.tracker
	i := SessionInfo{Client: s.about, Application: s.relay.server.application, State: "active"}
	switch {
	case t.running():
	case t.status == 'T':
		i.State = "idle in transaction"
	case t.status == 'E':
		i.State = "idle in transaction (aborted)"
	default:
		i.State = "idle"
	}
	if m := t.runs(); m != nil {
		i.StatementSince = epoch.Add(m.began)
		text := m.about()
		if m.of != nil {
			text = m.of.text // as far as the server has answered
		}
		if text != nil {
			i.Shape = text.shape
		}
	}
	return i
}
