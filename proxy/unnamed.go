package proxy

import "errors"

// errNoPortal refuses what means the unnamed portal after a simple query that has failed.
// In a transaction block PostgreSQL still has the query's own portal then, without its
// statements, and crashes when it is executed (seen with 15).
var errNoPortal = errors.New(`portal "" does not exist`)

// unnamed tells whether a Bind or an Execute that begins so is of the unnamed portal.
func unnamed(kind byte, begin []byte) bool {
	return (kind == 'B' || kind == 'E') && begin[0] == 0
}

// reachUnnamed returns the refusal to execute the unnamed portal, if it is a failed
// query's. If that is not known yet, the message waits.
func (r *relay) reachUnnamed(out *outlet) (refused *refusal, known bool) {
	switch {
	case r.bound:
		return nil, true // where that fails, the server skips what follows
	case r.pipeline.queries > 0, r.left && r.pipeline.running():
		// A query may fail, and a Bind succeed or not.
		r.flush(out)
		r.until = func() bool { return !r.pipeline.running() }
		return nil, false
	case r.left:
		return newRefusal(errNoPortal, stateInvalidCursorName), true
	default:
		return nil, true
	}
}

// leave takes note that the message which the server is at has failed.
func (r *relay) leave() {
	if head := r.pipeline.head(); head != nil && head.kind == stepQuery {
		r.left, r.rebound = true, 0
	}
}

// replace takes note of a BindComplete.
func (r *relay) replace() {
	if r.left && r.pipeline.at == r.rebound {
		r.left = false
	}
}
