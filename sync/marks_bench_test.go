package sync

import (
	"time"

	"github.com/jackc/pglogrepl"
)

// marks tell how long what is committed takes to be applied. They are set at a fixed rate:
// one that waits does not keep back those behind it, which wait as well.
type marks struct {
	every   time.Duration
	due     time.Time
	waiting []committed
	lags    []time.Duration
}

// committed is a position in the log, and when lag counts from.
type committed struct {
	at   pglogrepl.LSN
	from time.Time
}

// set sets the mark that is due, if there is one.
func (m *marks) set(commit func() committed) {
	now := time.Now()
	if now.Before(m.due) {
		return
	}
	if m.due.IsZero() {
		m.due = now
	}
	m.due = m.due.Add(m.every)
	m.waiting = append(m.waiting, commit())
}

// passed notes that all before a position is applied.
func (m *marks) passed(position pglogrepl.LSN) {
	for len(m.waiting) > 0 && m.waiting[0].at <= position {
		m.lags, m.waiting = append(m.lags, time.Since(m.waiting[0].from)), m.waiting[1:]
	}
}
