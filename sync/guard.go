package sync

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
)

// guard turns a panic into an error that stops replication, so that the tables are
// withdrawn and the operator is told, once: the stream would bring another process to
// the same place. The log says where it was, without the panic's own words and
// without arguments, which could be values of rows.
func guard(logger *slog.Logger, do func() error) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		logger.Error("an internal error stopped replication", "kind", fmt.Sprintf("%T", cause), "stack", callers())
		err = &StopError{
			What: "an internal error stopped replication; the log says where it was",
			Fix:  "report this with that line of the log; starting again leads to the same place until the rows that led there are changed and 'kproxy rebuild TABLE' has run",
		}
	}()
	return do()
}

// maxFrames bounds what is logged of a stack.
const maxFrames = 64

// callers lists who called the deferred function that calls it, innermost first.
func callers() string {
	programCounters := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(programCounters[:runtime.Callers(3, programCounters)])
	var b strings.Builder
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "%s:%d ", frame.Function, frame.Line)
		if !more {
			return strings.TrimSpace(b.String())
		}
	}
}
