package sync

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// PostgreSQL appends: a scan without ORDER BY shows the classes that were written
// last at the end, and so tells which one somebody has just joined or left. Soon
// after changes, their classes are therefore written once more, together with
// others drawn at random and in random order.
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
	if a.inTransaction || a.rows > 0 {
		a.mixer.timer.Reset(mixIdle) // only at a commit boundary
		return nil
	}
	for _, t := range a.tables {
		t.mix()
	}
	a.mixer.until = time.Time{}
	if err := a.flush(ctx, a.position); err != nil {
		return err
	}
	for _, t := range a.tables {
		t.recent = t.recent[:0]
	}
	return nil
}

// mix has the recently written classes and as many others as mixRows allows
// written again. A table with few classes is written whole.
func (t *table) mix() {
	classes := t.partition.Classes()
	if len(t.recent) == 0 || classes == 0 {
		return
	}
	for _, class := range t.recent {
		t.partition.TouchClass(class)
	}
	rowsOfClass := max(1, t.partition.Len()/classes)
	for range min(mixClasses, max(1, mixRows/rowsOfClass)) {
		t.partition.TouchClass(t.partition.ClassAt(rand.IntN(classes)))
	}
	t.changed = true
}

// rememberWritten notes which classes were written, the last ones if there are many.
func (t *table) rememberWritten(classes []incremental.ClassID) {
	t.recent = append(t.recent, classes...)
	if surplus := len(t.recent) - mixRecent; surplus > 0 {
		t.recent = append(t.recent[:0], t.recent[surplus:]...)
	}
}
