package proxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/proxy/pool"
)

// probeName is the application_name of the sessions of Serves.
const probeName = "kproxy probes"

// Serves has a statement go the way of a client's: past what refuses logins and statements,
// through the Gate, to the server that a new session of Upstream would get, as that role. It
// returns why a client would be refused; nil = it would be served.
func (s *Server) Serves(ctx context.Context, sql string) error {
	c := s.current.Load()
	if err := c.Available(); err != nil {
		return err
	}
	if s.limit.sessions() >= c.MaxSessions {
		return errCrowded
	}
	state, parameters, err := c.Gate.Open("", "", map[string]string{})
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	statement, err := c.Gate.Rewrite(sql, state)
	if err != nil {
		return fmt.Errorf("rewriting a statement: %w", err)
	}
	link, err := s.pool.Get(ctx, pool.Want{Parameters: parameters, Application: probeName})
	if err != nil {
		return err
	}
	status := byte(0)
	defer func() { link.Release(status) }()
	if err := link.Settle(ctx); err != nil {
		return err
	}
	if !link.Fresh() {
		return errStale
	}
	if status, err = link.Ask(ctx, statement.SQL); err != nil {
		return fmt.Errorf("running a statement: %w", err)
	}
	if statement.Traceless {
		link.Traceless()
	}
	return nil
}

// Refused tells what an error of Serves says to a client where it is a refusal of kproxy's
// own; it names no table, user or server.
func Refused(err error) (told string, own bool) {
	full, crowded, old := (*pool.Refusal)(nil), (*fatal)(nil), stale{}
	switch {
	case errors.As(err, &full):
		return full.Error(), true
	case errors.As(err, &crowded):
		return crowded.Error(), true
	case errors.As(err, &old):
		return old.Error(), true
	default:
		return "", false
	}
}
