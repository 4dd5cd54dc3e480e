package console

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
)

// crashed logs where something panicked, by the deferred function that calls it. The
// panic's own words may hold a row's values, and so may the arguments on the stack: its
// type and the places are told.
func crashed(log *slog.Logger, failure any, doing ...any) {
	log.Error("the console failed", append(doing, "kind", fmt.Sprintf("%T", failure), "stack", places())...)
}

// maxPlaces bounds what is told of a stack.
const maxPlaces = 64

// places are those of the stack above the function that called crashed, innermost first.
func places() string {
	counters := make([]uintptr, maxPlaces)
	frames := runtime.CallersFrames(counters[:runtime.Callers(4, counters)])
	var b strings.Builder
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "%s:%d ", frame.Function, frame.Line)
		if !more {
			return strings.TrimSpace(b.String())
		}
	}
}
