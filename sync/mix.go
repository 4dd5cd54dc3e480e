package sync

import (
	"context"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// PostgreSQL appends, so a scan without ORDER BY shows the classes written last at the end, and
// thereby the class that a record has just joined or left. Soon after changes, their classes
// are therefore written again, together with others drawn at random and in random order.
const (
	// mixIdle is how long the stream is quiet before classes are mixed, mixLatest
	// how long they may stay unmixed while it is not.
	mixIdle   = 30 * time.Millisecond
	mixLatest = time.Second
	// mixRows bounds the rows that mixing adds, mixClasses the classes drawn, and
	// mixRecent the changed classes that are written again.
	mixRows    = 1000
	mixClasses = 32
	mixRecent  = 128
)

// mixer decides when to mix.
type mixer struct {
	timer *time.Timer
	until time.Time // zero: nothing to mix
}

func newMixer() *mixer {
	timer := time.NewTimer(mixIdle)
	timer.Stop()
	return &mixer{timer: timer}
}

// changed notes that classes were written.
func (m *mixer) changed(now time.Time) {
	if m.until.IsZero() {
		m.until = now.Add(mixLatest)
	}
	m.timer.Reset(min(mixIdle, max(0, m.until.Sub(now))))
}

// mix writes the classes that changed since the last mix once more, among others.
func (a *applier) mix(ctx context.Context) error {
	if !a.atBoundary() {
		a.mixer.timer.Reset(mixIdle) // only at a commit boundary
		return nil
	}
	a.mixer.touchRecent(a.session.tables)
	if err := a.flush(ctx, a.session.position); err != nil {
		return err
	}
	for _, t := range a.session.tables {
		if s, is := t.mode.(*immediate); is {
			s.forgetRecent()
		}
	}
	return nil
}

// touchRecent has the recently written classes of all tables written again.
func (m *mixer) touchRecent(of tables) {
	for _, t := range of {
		t.pending.dirty = t.mode.mix() || t.pending.dirty
	}
	m.until = time.Time{}
}

// touchIfLate mixes classes with those of the next batch, if they have waited for long enough
// because the stream does not pause.
func (m *mixer) touchIfLate(of tables) {
	if !m.until.IsZero() && time.Now().After(m.until) {
		m.touchRecent(of)
	}
}

// mix has the recently written classes and as many others as mixRows allows
// written again. A table with few classes is written whole.
func (s *immediate) mix() bool {
	recent := 0
	for _, p := range s.parts {
		recent += len(p.recent)
		for _, class := range p.recent {
			p.partition.TouchClass(class)
		}
		p.recent = p.recent[:0]
	}
	if recent == 0 || s.parts[0].partition.Classes() == 0 {
		return false
	}
	for range min(mixClasses, max(1, mixRows/s.rowsOfChange())) {
		s.touchRandom()
	}
	return true
}

// rowsOfChange is about how many rows are written for the change of one record.
func (s *immediate) rowsOfChange() int {
	rows := 0
	for _, p := range s.parts {
		rows += p.partition.Len() / max(1, p.partition.Classes())
	}
	return max(1, rows)
}

// touchCover has further classes written if a table has several parts. A changed record alone
// would be in a written class of every part, and so be distinguishable among the rows that
// are written. As many others as k demands are therefore written with it, drawn at random, as
// far as mixRows allows.
func (s *immediate) touchCover() {
	t := s.t
	if len(s.parts) == 1 {
		return
	}
	others := t.layout.constraints.K() - len(t.pending.rows) - len(t.pending.deleted)
	for range min(others, max(1, mixRows/s.rowsOfChange())) {
		s.touchRandom()
	}
}

func (s *immediate) forgetRecent() {
	for _, p := range s.parts {
		p.recent = p.recent[:0]
	}
}

// rememberWritten notes which classes were written, the last ones if there are many.
func (p *maintained) rememberWritten(classes []incremental.ClassID) {
	p.recent = append(p.recent, classes...)
	if surplus := len(p.recent) - mixRecent; surplus > 0 {
		p.recent = append(p.recent[:0], p.recent[surplus:]...)
	}
}
