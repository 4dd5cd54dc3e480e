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
// password. Where users cannot be looked up, sessions go on.
func (s *Server) endGone(ctx context.Context) {
	began := s.current.Load()
	for _, session := range s.keys.sessions() {
		gone, err := began.access.Gone(ctx, session.who)
		switch {
		case err != nil && ctx.Err() == nil:
			s.repeats.Note(began.Logger, slog.LevelError, repeats.Key{Kind: string(ReasonLookup)}, "users with sessions cannot be looked up; their sessions go on", "error", err)
			return
		case gone:
			session.revoke(errNoUser)
		}
	}
}
