package sync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	gosync "sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// Syncer publishes the tables of its configuration and keeps them in step.
type Syncer struct {
	Config

	mu        gosync.Mutex
	status    Status
	published chan struct{}
	announce  gosync.Once
}

// New checks the configuration; nothing is connected yet.
func New(c Config) (*Syncer, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Syncer{Config: c, published: make(chan struct{}), status: Status{Tables: map[catalog.Name]TableStatus{}}}, nil
}

// Published is closed once every table has a release that readers may see.
func (s *Syncer) Published() <-chan struct{} { return s.published }

// Status tells where the Syncer stands.
func (s *Syncer) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Tables = maps.Clone(s.status.Tables)
	return status
}

func (s *Syncer) setState(state State, reason string) {
	s.mu.Lock()
	s.status.State, s.status.Reason = state, reason
	s.mu.Unlock()
	s.Changed(s.Status())
}

// report publishes the tables' figures after the store has been written.
func (s *session) report() {
	s.mu.Lock()
	s.status.Position = s.position
	for _, t := range s.tables {
		before, now := s.status.Tables[t.name()], t.stage.status()
		if s.status.Tables[t.name()] = now; now.Reason != "" && before.Reason == "" {
			s.Logger.Warn("the table is withheld as a whole", "table", t.name(), "records", now.Withheld, "reason", now.Reason)
		}
		if now.Expired > before.Expired {
			s.Logger.Warn("records are withheld for good: they waited until the deadline, or violated the constraints together", "table", t.name(),
				"records", now.Expired-before.Expired, "altogether", now.Expired, "fix", "larger batches, or looser constraints")
		}
	}
	s.mu.Unlock()
	s.Changed(s.Status())
}

// Bounds of the pause before another attempt.
const (
	leastPause = 200 * time.Millisecond
	mostPause  = 15 * time.Second
)

// Run applies until ctx ends, which returns nil, or until something needs the
// operator, which returns a *StopError or the server's refusal. Broken
// connections and restarts of the server are lived through.
func (s *Syncer) Run(ctx context.Context) error {
	pause := leastPause
	for {
		started := time.Now()
		err := s.attempt(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case !transient(err):
			s.setState(Stopped, err.Error())
			return err
		}
		if time.Since(started) > mostPause {
			pause = leastPause
		}
		s.Logger.Warn("replication interrupted; trying again", "error", err, "pause", pause)
		s.setState(Reconnecting, err.Error())
		jittered := pause/2 + rand.N(pause)
		if sleep(ctx, jittered) != nil {
			return nil
		}
		pause = min(2*pause, mostPause)
	}
}

func (s *Syncer) attempt(ctx context.Context) error {
	ses, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer ses.close()
	if err := guard(s.Logger, func() error { return ses.prepare(ctx) }); err != nil {
		return err
	}
	ses.report()
	s.setState(Streaming, "")
	s.announce.Do(func() { close(s.published) })
	err = ses.stream(ctx)
	if err == nil {
		err = errors.New("the replication stream ended")
	}
	return fmt.Errorf("applying changes: %w", err)
}
