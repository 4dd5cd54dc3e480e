package sync

import (
	"sync/atomic"

	"github.com/jackc/pglogrepl"
)

// Applied is up to where all releases that readers see show the source.
type Applied struct {
	// Position: what was committed at the source before is in the releases, or waits there
	// as the policy has it.
	Position pglogrepl.LSN
	// Epoch is that of the process that applies. Positions of other Systems and Timelines
	// cannot be compared.
	Epoch    int64
	System   string
	Timeline int64
}

// progress is how far a session has got. The applier's goroutine writes it.
type progress struct {
	system   string
	epoch    int64
	timeline atomic.Int64
	shown    atomic.Uint64
	inStep   atomic.Bool // no release that readers see is left behind by the position
}

// advance notes that the stream is applied up to a position.
func (p *progress) advance(to pglogrepl.LSN) {
	if p.inStep.Load() {
		p.shown.Store(max(p.shown.Load(), uint64(to)))
	}
}

// Applied tells how far this process has applied; false where it never has. It stands still
// while replication is interrupted, and while a release that readers see is not applied.
func (s *Syncer) Applied() (Applied, bool) {
	p := s.progress.Load()
	if p == nil || p.shown.Load() == 0 {
		return Applied{}, false
	}
	return Applied{Position: pglogrepl.LSN(p.shown.Load()), Epoch: p.epoch, System: p.system, Timeline: p.timeline.Load()}, true
}

// Retry has an attempt begin at once where one is waited for.
func (s *Syncer) Retry() {
	select {
	case s.retry <- struct{}{}:
	default: // it will
	}
}

// consume notes up to where the stream was consumed while nothing had to be written.
func (s *session) consume(to pglogrepl.LSN) {
	s.shared.consumed.Store(uint64(to))
	s.progressed.advance(to)
}
