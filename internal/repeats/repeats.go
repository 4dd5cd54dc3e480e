// Package repeats keeps the log short where the same happens again and again: an outage, or
// somebody who guesses passwords, must not fill a disk, nor hide what else happens.
//
// Of events of one kind, the first is logged at once. Later ones are counted, and a line says
// from time to time how many there were. At level debug, each has a line of its own.
package repeats

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// The time between two lines about events of one kind doubles from shortest to longest, so
// that an outage that lasts a night has dozens of lines. After as long without an event, the
// next one is a first one again.
const (
	shortest = time.Minute
	longest  = 10 * time.Minute
)

// mostKeys is how many keys are told apart at a time. Beyond, events of a kind are counted
// together: whom they are about is often chosen by strangers.
const mostKeys = 32

// Key says which events are the same.
type Key struct {
	Kind string // of a fixed list
	Who  string // whom the event is about; may be anything
}

// Log counts events. The zero value is ready to use, by any number of goroutines.
type Log struct {
	mu   sync.Mutex
	runs map[Key]*run
}

// run are the events of one key.
type run struct {
	timer  *time.Timer
	period time.Duration // that timer waits
	count  int           // of events that no line at their own level tells of
	tell   func(count int, period time.Duration)
}

// Note logs an event, or counts it. The attributes of the last event counted, with those of its
// logger, stand beside the number.
func (l *Log) Note(logger *slog.Logger, level slog.Level, key Key, message string, attributes ...any) {
	tell := func(count int, period time.Duration) {
		told := append([]any{"times", count, "period", period}, attributes...)
		logger.Log(context.Background(), level, message, told...)
	}
	now := level
	if l.counts(key, tell) {
		now = slog.LevelDebug
	}
	logger.Log(context.Background(), now, message, attributes...)
}

// counts reports whether an event is counted, for which tell is to be called later.
func (l *Log) counts(key Key, tell func(int, time.Duration)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[key] == nil && len(l.runs) >= mostKeys {
		key.Who = ""
	}
	if r := l.runs[key]; r != nil {
		r.count++
		r.tell = tell
		return true
	}
	if l.runs == nil {
		l.runs = make(map[Key]*run)
	}
	r := &run{period: shortest}
	r.timer = time.AfterFunc(r.period, func() { l.passed(key, r) })
	l.runs[key] = r
	return false
}

// passed tells of the events of a period, and begins the next one; without any, their key is
// forgotten.
func (l *Log) passed(key Key, r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[key] != r {
		return // it was flushed
	}
	if r.count == 0 {
		delete(l.runs, key)
		return
	}
	r.tell(r.count, r.period)
	r.count = 0
	r.period = min(2*r.period, longest)
	r.timer.Reset(r.period)
}

// Flush logs what has been counted, without waiting for the period to end, and forgets all.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Collect(maps.Values(l.runs)) {
		r.timer.Stop()
		if r.count > 0 {
			r.tell(r.count, r.period)
		}
	}
	l.runs = nil
}
