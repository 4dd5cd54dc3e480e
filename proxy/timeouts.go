package proxy

import "time"

// Timeouts bound a session after login, each like the setting of PostgreSQL named next to it
// (PostgreSQL documentation, "Client Connection Defaults"); 0 = no bound. The proxy checks them
// five times a second.
type Timeouts struct {
	// Statement bounds each statement, up to the end of its result: it is canceled with
	// ERROR 57014 (statement_timeout).
	Statement time.Duration

	// Idle bounds the wait for a client outside of transactions: its session ends with
	// FATAL 57P05 (idle_session_timeout).
	Idle time.Duration

	// IdleInTransaction bounds the wait for a client inside a transaction, be it one
	// that the client has begun or one of a pipeline without its Sync: the session ends
	// with FATAL 25P03 (idle_in_transaction_session_timeout).
	IdleInTransaction time.Duration

	// Transaction bounds each transaction, be it of a single statement: the session ends
	// with FATAL 25P04 (transaction_timeout, which servers have from PostgreSQL 17 on).
	Transaction time.Duration
}

// negative tells whether one of the bounds is.
func (t Timeouts) negative() bool {
	return min(t.Statement, t.Idle, t.IdleInTransaction, t.Transaction) < 0
}
