package proxy

import (
	"context"
	"log/slog"
	"time"

	"github.com/kproxy/kproxy/internal/repeats"
)

// usersInterval is how often users with sessions are looked up again.
const usersInterval = 30 * time.Second

// followUsers ends sessions of users who are gone until ctx ends.
func (s *Server) followUsers(ctx context.Context) {
	tick := time.NewTicker(usersInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.endGone(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// endGone ends the sessions of users who were looked up, and are no longer found or have another
// password. The sessions of a user who cannot be looked up go on; those of others do not depend on it.
func (s *Server) endGone(ctx context.Context) {
	began := s.current.Load()
	failed := make(map[string]bool)
	for _, session := range s.keys.sessions() {
		user := session.who.User
		if failed[user] {
			continue
		}
		gone, err := began.access.Gone(ctx, session.who)
		switch {
		case ctx.Err() != nil || s.current.Load() != began:
			return // what was found is of another configuration than that in force
		case err != nil:
			failed[user] = true
			s.repeats.Note(began.Logger, slog.LevelError, repeats.Key{Kind: string(ReasonLookup)}, "users with sessions cannot be looked up; their sessions go on", "error", err)
		case gone:
			session.revoke(errNoUser)
		}
	}
}
