package pgserver

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// tailBytes and tailLines bound what an error quotes from the log.
	tailBytes = 8 << 10
	tailLines = 12
)

// logTail passes a server's log on and remembers its end for error messages.
type logTail struct {
	next io.Writer

	mu  sync.Mutex
	end []byte
}

func newLogTail(next io.Writer) *logTail {
	if next == nil {
		next = io.Discard
	}
	return &logTail{next: next}
}

// Write never fails: a log that cannot be written must not break the pipe that
// the server's processes write to.
func (l *logTail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, p...)
	if extra := len(l.end) - tailBytes; extra > 0 {
		l.end = append(l.end[:0], l.end[extra:]...)
	}
	_, _ = l.next.Write(p)
	return len(p), nil
}

// reset forgets the log of an earlier postmaster.
func (l *logTail) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = l.end[:0]
}

// String is the last lines, each on a line of its own and indented, led by a
// heading; empty when there is no log.
func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := bytes.TrimSpace(l.end)
	if len(text) == 0 {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "; the server's log ends:\n  " + strings.Join(lines, "\n  ")
}
