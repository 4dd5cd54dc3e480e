package proxy

import "time"

// limit is a bound of [Timeouts] that a session has come to.
type limit byte

const (
	noLimit limit = iota
	// limitStatement: what runs is to be canceled.
	limitStatement
	// limitUnanswered: what was canceled goes on; the session is to end.
	limitUnanswered
	// limitIdle, limitIdleInTransaction, limitTransaction: the session is to end.
	limitIdle
	limitIdleInTransaction
	limitTransaction
)

// cancelGrace is how long a statement may go on after it was canceled because of
// limitStatement. PostgreSQL has no such bound; its statements cannot outlive their
// connection to the client.
const cancelGrace = 10 * time.Second

// reports are what clients are told, in PostgreSQL's words (tcop/postgres.c).
var reports = map[limit]report{
	limitStatement:         {severity: "ERROR", state: stateQueryCanceled, message: "canceling statement due to statement timeout"},
	limitUnanswered:        {severity: "FATAL", state: stateQueryCanceled, message: "terminating connection because a statement went on after its timeout"},
	limitIdle:              {severity: "FATAL", state: stateIdleSessionTimeout, message: "terminating connection due to idle-session timeout"},
	limitIdleInTransaction: {severity: "FATAL", state: stateIdleInTransactionTimeout, message: "terminating connection due to idle-in-transaction timeout"},
	limitTransaction:       {severity: "FATAL", state: stateTransactionTimeout, message: "terminating connection due to transaction timeout"},
}

// report is what the client is told: an ERROR in place of the server's own about the
// cancel request, or the session's last word.
func (l limit) report() report { return reports[l] }

// clock measures what [Timeouts] bound. A session tells it what happens and asks it
// about once a second. "Running" means that the server has yet to answer something. The
// zero value, with limits, is a session outside of transactions that ready is told of
// next.
type clock struct {
	limits Timeouts

	turn     time.Time // the server's or the client's, whose it is, began
	began    time.Time // of the transaction; zero = there is none
	canceled time.Time // what runs; zero = it was not
}

// sent: something that the server answers goes to it; running as it was before.
func (c *clock) sent(now time.Time, running bool) {
	if !running {
		c.turn, c.canceled = now, time.Time{}
	}
	if c.began.IsZero() {
		c.began = now
	}
}

// answered: a message was answered, by an end of a statement (CommandComplete,
// EmptyQueryResponse, PortalSuspended, ErrorResponse) or otherwise; running as it is
// since. PostgreSQL measures from the first message of a statement on, be it Parse, and
// each statement of a text for itself.
func (c *clock) answered(now time.Time, statement, running bool) {
	if statement || !running {
		c.turn, c.canceled = now, time.Time{}
	}
}

// ready: the server is ready for the next text (ReadyForQuery); running as it is since.
func (c *clock) ready(now time.Time, status byte, running bool) {
	c.turn, c.canceled = now, time.Time{}
	switch {
	case status != 'I':
	case running: // what was sent ahead begins now
		c.began = now
	default:
		c.began = time.Time{}
	}
}

// canceling tells whether an error 57014 that comes now is due to limitStatement.
func (c *clock) canceling() bool { return !c.canceled.IsZero() }

// due returns the bound that the session has come to, noLimit where that is none.
// limitStatement is returned once for what runs. Of several bounds the one that was come
// to first counts, and of a transaction's and another, as with PostgreSQL, the
// transaction's.
func (c *clock) due(now time.Time, running bool) limit {
	reached, since := noLimit, now
	bound := func(l limit, begin time.Time, most time.Duration) {
		if end := begin.Add(most); most > 0 && !begin.IsZero() && !end.After(since) {
			reached, since = l, end
		}
	}
	switch {
	case running && !c.canceled.IsZero():
		bound(limitUnanswered, c.canceled, cancelGrace)
	case running:
		bound(limitStatement, c.turn, c.limits.Statement)
	case c.began.IsZero():
		bound(limitIdle, c.turn, c.limits.Idle)
	default:
		bound(limitIdleInTransaction, c.turn, c.limits.IdleInTransaction)
	}
	bound(limitTransaction, c.began, c.limits.Transaction)
	if reached == limitStatement {
		c.canceled = now
	}
	return reached
}
