package proxy

import "github.com/kproxy/kproxy/internal/crash"

// panicError is a panic in one session, which ends only that session. It keeps the type of the
// panic's value and where it was, never the value, which could hold a statement.
type panicError struct{ crash.Report }

func (e *panicError) Error() string { return "panic of type " + e.Kind }

// guard runs f and returns its panic as a panicError.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{crash.Of(p)}
		}
	}()
	return f()
}
