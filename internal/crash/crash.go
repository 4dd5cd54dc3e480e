// Package crash reports a panic without confidential data: the type of its value, and where it
// happened. The panic's message can contain a statement or values of a row. So can the
// arguments in a trace of package debug, which prints their machine words: usually addresses,
// but also numbers, and the bytes of arrays, such as keys.
package crash

import (
	"fmt"
	"runtime"
	"strings"
)

// Report describes a panic without confidential data.
type Report struct {
	Kind  string // the type of its value
	Stack string // function:line of at most 64 calls that led to it, innermost first
}

// maxFrames bounds the calls that are kept of a stack.
const maxFrames = 64

// Of returns the report of the panic whose value recover returned to a deferred function. That
// function must call Of, directly or through other functions.
func Of(failure any) Report {
	counters := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	var stack strings.Builder
	for deferred := true; ; {
		frame, more := frames.Next()
		if deferred && frame.Function == "runtime.gopanic" {
			stack.Reset()    // what was called since: the deferred function, and what it called
			deferred = false // a gopanic further out is that of a panic before this one
		} else {
			fmt.Fprintf(&stack, "%s:%d ", frame.Function, frame.Line)
		}
		if !more {
			return Report{Kind: fmt.Sprintf("%T", failure), Stack: strings.TrimSpace(stack.String())}
		}
	}
}

// Log returns the report as attributes for a logger.
func (r Report) Log() []any { return []any{"kind", r.Kind, "stack", r.Stack} }
