package proxy

import (
	"fmt"
	"runtime/debug"
)

// panicError is a panic in one session, which ends that session alone. It keeps
// the type of the panic's value and the stack, never the value, which could
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
			err = &panicError{kind: fmt.Sprintf("%T", p), stack: debug.Stack()}
		}
	}()
	return f()
}
