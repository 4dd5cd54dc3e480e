package reactor

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Loop calls the handlers of its connections, and the functions that were posted, one
// after the other in the goroutine of Run.
type Loop struct {
	poller poller

	// In is for handlers to read into; it belongs to whoever runs.
	In []byte

	// conns are the connections by descriptor.
	conns []*Conn
	ticks []tick

	mu     sync.Mutex
	posted []func()
	awake  bool // it will look at posted before it waits
	closed bool
}

type tick struct {
	every time.Duration
	next  time.Time
	do    func(now time.Time)
}

// Event is what a connection is ready for.
type Event struct {
	Readable, Writable bool
	// Gone says that the peer will not send any more, or that the connection has failed.
	// What it sent before may still be there to read.
	Gone bool
}

// interest is what a connection is watched for.
type interest struct{ read, write bool }

// NewLoop returns a loop; Run must be called.
func NewLoop() (*Loop, error) {
	l := &Loop{In: make([]byte, bufferBytes)}
	if err := l.poller.open(); err != nil {
		return nil, fmt.Errorf("making an event loop: %w", err)
	}
	return l, nil
}

// Post has f called in the loop, soon and after what was posted before; it tells whether
// that will happen, which it does unless the loop was closed. Any goroutine may call it.
func (l *Loop) Post(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.posted = append(l.posted, f)
	if !l.awake {
		l.awake = true
		l.poller.wake()
	}
	return true
}

// Every has f called about every so often while the loop runs. It is for handlers and
// for who has not called Run yet.
func (l *Loop) Every(d time.Duration, f func(now time.Time)) {
	l.ticks = append(l.ticks, tick{every: d, next: time.Now().Add(d), do: f})
}

// Add watches a detached connection for input. The handler is called again and again
// while something is so of which it is told.
func (l *Loop) Add(c *Conn, handle func(Event)) error {
	watched := interest{read: true}
	if err := l.poller.add(c.fd, watched); err != nil {
		return err
	}
	for len(l.conns) <= c.fd {
		l.conns = append(l.conns, make([]*Conn, max(64, len(l.conns)))...)
	}
	l.conns[c.fd] = c
	c.loop, c.handle, c.watched, c.muted = l, handle, watched, false
	return nil
}

// Watch changes what the connection is watched for. One that is watched for nothing is
// still heard of when it is gone.
func (c *Conn) Watch(read, write bool) error {
	next := interest{read: read, write: write}
	if c.loop == nil || next == c.watched {
		return nil
	}
	if c.muted && !next.read {
		return nil // it would be heard of as gone at once
	}
	c.watched = next
	if c.muted {
		c.muted = false
		return c.loop.poller.add(c.fd, next)
	}
	return c.loop.poller.change(c.fd, next)
}

// Mute ends the watching until it is to be watched for input again: for one that is gone
// while there is no room for what it has sent.
func (c *Conn) Mute() {
	if c.loop != nil && !c.muted {
		c.loop.poller.remove(c.fd)
		c.muted, c.watched = true, interest{}
	}
}

// Remove ends the watching. The connection can be closed or attached then.
func (l *Loop) Remove(c *Conn) {
	if c.loop != l {
		return
	}
	c.Mute()
	l.conns[c.fd] = nil
	c.loop, c.handle = nil, nil
}

// Close ends Run, once what was posted before is done.
func (l *Loop) Close() {
	l.Post(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.closed = true
	})
}

// Run serves until Close. It returns an error if the system's poller fails; what was
// posted before is done then as well.
func (l *Loop) Run() error {
	defer l.shut()
	// A goroutine that runs for long is asked to make room for others. On a thread of its
	// own that is for the system to do, which does it better.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		l.mu.Lock()
		posted, closed := l.posted, l.closed
		l.posted, l.awake = nil, len(posted) > 0
		l.mu.Unlock()
		for _, f := range posted {
			f()
		}
		if closed {
			return nil
		}
		wait := l.tick()
		if len(posted) > 0 {
			wait = 0 // they may have posted others
		}
		if err := l.poller.wait(wait, l.dispatch); err != nil {
			return fmt.Errorf("waiting for connections: %w", err)
		}
	}
}

// shut takes nothing more, does what is left, and gives the poller up.
func (l *Loop) shut() {
	l.mu.Lock()
	posted := l.posted
	l.posted, l.closed = nil, true
	l.mu.Unlock()
	for _, f := range posted {
		f()
	}
	l.poller.close()
}

// dispatch calls the handler of a descriptor, unless it was removed since.
func (l *Loop) dispatch(fd int, event Event) {
	if fd < len(l.conns) && l.conns[fd] != nil {
		l.conns[fd].handle(event)
	}
}

// tick calls what is due and returns how long there is nothing; negative = for ever.
func (l *Loop) tick() time.Duration {
	if len(l.ticks) == 0 {
		return -1
	}
	now := time.Now()
	wait := time.Duration(-1)
	for i := range l.ticks {
		t := &l.ticks[i]
		if !now.Before(t.next) {
			t.do(now)
			t.next = now.Add(t.every)
		}
		if left := t.next.Sub(now); wait < 0 || left < wait {
			wait = left
		}
	}
	return wait
}
