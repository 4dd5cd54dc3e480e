package proxy

import (
	"bytes"
	"fmt"
	"runtime"
)

// panicError is a panic in one session, which ends that session alone. It keeps
// the type of the panic's value and where it was, never the value, which could
// hold a statement.
type panicError struct {
	kind  string
	stack []byte
}

func (e *panicError) Error() string { return "panic of type " + e.kind }

// guard runs f and returns its panic as a panicError.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{kind: fmt.Sprintf("%T", p), stack: callers()}
		}
	}()
	return f()
}

// maxFrames bounds what is kept of a stack.
const maxFrames = 64

// callers lists who called the deferred function that calls it, innermost first. A trace of
// package debug has the words of arguments beside: addresses as a rule, but also numbers, and
// the bytes of arrays, such as keys.
func callers() []byte {
	counters := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters)])
	var b bytes.Buffer
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "%s:%d ", frame.Function, frame.Line)
		if !more {
			return bytes.TrimSpace(b.Bytes())
		}
	}
}
