// Package crash tells of a panic what may be told: the type of its value, and where it was.
// The panic's own words may hold a statement or the values of a row. So may the arguments in
// a trace of package debug, which shows their words: addresses as a rule, but also numbers,
// and the bytes of arrays, such as keys.
package crash

import (
	"fmt"
	"runtime"
	"strings"
)

// Report is what may be told of a panic.
type Report struct {
	Kind  string // the type of its value
	Stack string // function:line of at most 64 calls that led to it, innermost first
}

// maxFrames bounds what is kept of a stack.
const maxFrames = 64

// Of is the report of the panic whose value recover returned to a deferred function. That
// function calls Of itself, or what it calls does.
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

// Log is the report as attributes of a line of the log.
func (r Report) Log() []any { return []any{"kind", r.Kind, "stack", r.Stack} }
