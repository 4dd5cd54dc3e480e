package proxy

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/proxy/reactor"
)

// tickInterval is how often the sessions' bounds of time are looked at.
const tickInterval = 200 * time.Millisecond

// shard is an event loop with the sessions on it. Only the loop's goroutine uses the fields other
// than loop.
type shard struct {
	loop     *reactor.Loop
	sessions map[*session]struct{}
	out      writeBuffer // for the handler that runs
	draining bool
}

func newShard() (*shard, error) {
	loop, err := reactor.NewLoop()
	if err != nil {
		return nil, err
	}
	s := &shard{loop: loop, sessions: make(map[*session]struct{})}
	loop.Every(tickInterval, func(now time.Time) {
		for session := range s.sessions {
			session.guarded(func() error { return session.tick(now) })
		}
	})
	return s, nil
}

// drain ends the sessions as soon as nothing of them is running.
func (s *shard) drain() {
	s.draining = true
	for session := range s.sessions {
		session.guarded(func() error { return nil })
	}
}

// endAll ends the sessions.
func (s *shard) endAll(reason error) {
	for session := range s.sessions {
		session.end(reason)
	}
}

// shards are the event loops of a Server.
type shards struct {
	all  []*shard
	next atomic.Uint32
	done sync.WaitGroup
}

// startShards runs so many loops. Where one fails, which only a system that is out of
// memory brings about, its sessions end, and failed is called.
func startShards(n int, logger *slog.Logger, failed func()) (*shards, error) {
	s := &shards{}
	for range n {
		next, err := newShard()
		if err != nil {
			s.close()
			return nil, err
		}
		s.all = append(s.all, next)
		s.done.Go(func() {
			if err := next.loop.Run(); err != nil {
				logger.Error("an event loop has failed", "error", err)
				next.endAll(errShutdown)
				failed()
			}
		})
	}
	return s, nil
}

// pick returns the shard for the next session.
func (s *shards) pick() *shard { return s.all[int(s.next.Add(1))%len(s.all)] }

// drain ends all sessions, now and later: those in which a statement is running when it
// has finished, but at most after the time given.
func (s *shards) drain(timeout time.Duration) {
	for _, shard := range s.all {
		shard.loop.Post(shard.drain)
	}
	time.AfterFunc(timeout, func() {
		for _, shard := range s.all {
			shard.loop.Post(func() { shard.endAll(errShutdown) })
		}
	})
}

// close ends the loops, on which there must be no sessions any more.
func (s *shards) close() {
	for _, shard := range s.all {
		shard.loop.Close()
	}
	s.done.Wait()
}
