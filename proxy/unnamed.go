package proxy

import "errors"

// errNoPortal refuses what means the unnamed portal after a simple query that has failed.
// In a transaction block PostgreSQL still has the query's own portal then, without its
// statements, and crashes when it is executed (seen with 15).
var errNoPortal = errors.New(`portal "" does not exist`)

// unnamedPortal follows whose the unnamed portal is. It belongs to a relay.
type unnamedPortal struct {
	bound   bool   // the open segment binds it
	failed  bool   // it is that of a simple query that has failed
	rebound uint64 // the number of the last Bind of it since
}

// unnamed reports whether a Bind or an Execute that begins so is of the unnamed portal.
func unnamed(kind byte, begin []byte) bool {
	return (kind == 'B' || kind == 'E') && begin[0] == 0
}

// uncertain reports whether answers that are outstanding decide on what the portal is: a
// query may fail, and a Bind succeed or not.
func (u *unnamedPortal) uncertain(t *tracker) bool {
	return !u.bound && (t.queries > 0 || u.failed && t.running())
}

// refused returns the refusal to execute the portal, if it is a failed query's.
func (u *unnamedPortal) refused() *refusal {
	if u.failed && !u.bound { // where Bind fails, the server skips what follows
		return newRefusal(errNoPortal, stateInvalidCursorName)
	}
	return nil
}

// fail records that the message which the server is at has failed.
func (u *unnamedPortal) fail(t *tracker) {
	if head := t.head(); head != nil && head.kind == stepQuery {
		u.failed, u.rebound = true, 0
	}
}

// replace records a BindComplete.
func (u *unnamedPortal) replace(t *tracker) {
	if u.failed && t.at == u.rebound {
		u.failed = false
	}
}
