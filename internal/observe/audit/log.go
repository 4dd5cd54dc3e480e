package audit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Failure is what happens while the log cannot be written, or not fast enough.
type Failure int

// Choices.
const (
	// Refuse has statements refused: what runs is in the log, or the disk's last second.
	Refuse Failure = iota
	// Drop goes on without the log; what is lost is counted.
	Drop
)

// The defaults of Options, and what is not for choice.
const (
	DefaultQueue = 10_000
	DefaultPause = time.Second

	// syncEvery is how often what was written is brought to the disk.
	syncEvery = time.Second
)

// File is what the log is written to: *os.File is one.
type File interface {
	Write([]byte) (int, error)
	// Sync brings what was written to the disk.
	Sync() error
	Close() error
}

// Options say how the log is written.
type Options struct {
	// Open opens the file, at the start and at each Reopen; required.
	Open      func() (File, error)
	OnFailure Failure
	// Queue is how many records wait to be written before OnFailure is done; 0 =
	// DefaultQueue.
	Queue int
	// Pause is how soon what has failed is tried again; 0 = DefaultPause.
	Pause time.Duration
	// Logger is told when the log cannot be written, and when it can again; nil discards.
	Logger *slog.Logger
}

// Stats count records since the process began.
type Stats struct {
	Written  uint64 `json:"written"`
	Dropped  uint64 `json:"dropped"`  // that were lost
	Unsure   uint64 `json:"unsure"`   // of those written, that the system may have lost
	Failures uint64 `json:"failures"` // attempts to open, write or sync that failed
	Queued   int    `json:"queued"`   // that wait now
	Failing  bool   `json:"failing"`  // the log cannot be written, or not fast enough
}

// Log writes records in the order in which they come, in a goroutine of its own. It is
// made by [New] and safe for concurrent use.
type Log struct {
	options Options

	closed atomic.Bool // statements are refused
	work   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	queue   []Record
	reopen  bool
	ending  bool
	blocked bool // what was written last has failed
	stats   Stats

	// What follows is for the goroutine.
	spare  []Record // the queue's memory, in turns
	file   File
	batch  []byte // that is being written, whole lines
	offset int    // of it, that is written
	lines  int    // in it
	dirty  bool   // not all that is written is on the disk
	ahead  int    // lines that are written and not on the disk
	synced time.Time
}

// New opens the log, or says why it cannot.
func New(o Options) (*Log, error) {
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Pause == 0 {
		o.Pause = DefaultPause
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	file, err := o.Open()
	if err != nil {
		return nil, err
	}
	l := &Log{options: o, work: make(chan struct{}, 1), done: make(chan struct{}), file: file}
	go l.run()
	return l, nil
}

// Add has a record written. It does not wait. The record's texts must not change.
func (l *Log) Add(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := len(l.queue) >= l.options.Queue
	if l.ending || full && (l.options.OnFailure == Drop || !r.must()) {
		l.stats.Dropped++
		return
	}
	l.queue = append(l.queue, r)
	l.gate()
	if len(l.queue) == 1 {
		l.wake()
	}
}

// gate decides whether statements are refused: from when the queue is three quarters full,
// so that those under way find room, to when it is half empty; mu is held.
func (l *Log) gate() {
	switch waiting := len(l.queue); {
	case l.options.OnFailure == Drop:
	case l.blocked || waiting >= l.options.Queue*3/4:
		l.closed.Store(true)
	case waiting <= l.options.Queue/2:
		l.closed.Store(false)
	}
}

// wake has the goroutine look at what there is to do.
func (l *Log) wake() {
	select {
	case l.work <- struct{}{}:
	default: // it will
	}
}

// Err says why no statement may run now; nil = they may. It is cheap.
func (l *Log) Err() error {
	if l.closed.Load() {
		return errClosed
	}
	return nil
}

var errClosed error = unwritable{errors.New("statements are refused while the audit log cannot be written")}

// unwritable is a refusal of statements.
type unwritable struct{ error }

// SQLState is cannot_connect_now.
func (unwritable) SQLState() string { return "57P03" }

// Hint tells what to do.
func (unwritable) Hint() string {
	return "Try again later; the operator finds the reason in the log of kproxy."
}

// Reopen has the file opened again by its name, for who has moved it.
func (l *Log) Reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reopen = true
	l.wake()
}

// Stats returns the numbers of now.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Queued, s.Failing = len(l.queue), l.blocked || l.closed.Load()
	return s
}

// Close writes what waits, until ctx ends, and closes the file. What is added later is
// lost.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	l.ending = true
	l.mu.Unlock()
	l.wake()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return errors.New("the audit log was not written to its end")
	}
}
