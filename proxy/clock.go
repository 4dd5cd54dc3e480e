package proxy

import (
	"math"
	"time"
)

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

// reports are the messages to clients, in PostgreSQL's words (tcop/postgres.c).
var reports = map[limit]report{
	limitStatement:         {severity: "ERROR", state: stateQueryCanceled, message: "canceling statement due to statement timeout"},
	limitUnanswered:        {severity: "FATAL", state: stateQueryCanceled, message: "terminating connection because a statement went on after its timeout"},
	limitIdle:              {severity: "FATAL", state: stateIdleSessionTimeout, message: "terminating connection due to idle-session timeout"},
	limitIdleInTransaction: {severity: "FATAL", state: stateIdleInTransactionTimeout, message: "terminating connection due to idle-in-transaction timeout", hint: "End transactions that are not used; the operator sets timeouts.idle_in_transaction."},
	limitTransaction:       {severity: "FATAL", state: stateTransactionTimeout, message: "terminating connection due to transaction timeout"},
}

// report is the message to the client: an ERROR in place of the server's own about the cancel
// request, or the session's last word.
func (l limit) report() report { return reports[l] }

// clock measures what [Timeouts] bound. A session tells it what happens and asks it
// five times a second. "Running" means that the server has yet to answer something. The
// zero value, with limits, is a session outside of transactions that ready is told of
// next.
//
// PostgreSQL keeps answers back until a Sync, a Flush or the end of a text, so that of
// several statements sent ahead none is seen to end before the last. They may take as
// long as all of them may: what bounds each of them is the server's statement_timeout.
type clock struct {
	limits Timeouts

	turn       time.Time // the server's or the client's, whose it is, began
	statements int       // that are running, at most
	began      time.Time // of the transaction; zero = there is none
	canceled   time.Time // what runs; zero = it was not
}

// sent: something that the server answers goes to it; running as it was before.
func (c *clock) sent(now time.Time, running bool) {
	if !running {
		c.rest(now)
	}
	if c.began.IsZero() {
		c.began = now
	}
}

// expect: what was sent last are so many statements, or fewer: one of Execute, those of
// the text of Query.
func (c *clock) expect(statements int) { c.statements += statements }

// rest: from now on, nothing of what was sent before is running.
func (c *clock) rest(now time.Time) {
	c.turn, c.statements, c.canceled = now, 0, time.Time{}
}

// answered: a message was answered, by an end of a statement (CommandComplete,
// EmptyQueryResponse, PortalSuspended) or otherwise; running as it is since. The time of a
// statement begins, as with PostgreSQL, with its first message, be it Parse.
func (c *clock) answered(now time.Time, statement, running bool) {
	switch {
	case !running:
		c.rest(now)
	case statement:
		c.turn, c.statements = now, max(c.statements-1, 0)
		if c.canceling() {
			c.canceled = now // which may have come too late for it
		}
	}
}

// failed: there was an error (ErrorResponse); running as it is since.
func (c *clock) failed(now time.Time, running bool) {
	c.answered(now, true, running)
	c.canceled = time.Time{}
}

// ready: the server is ready for the next text (ReadyForQuery); running as it is since.
func (c *clock) ready(now time.Time, status byte, running bool) {
	c.turn, c.canceled = now, time.Time{}
	if !running {
		c.rest(now)
	}
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
// transaction's. Open says that what was sent last is neither a Sync nor a Query, so that
// the server may have finished and keep its answers back: what goes on after it was
// canceled is then taken for a wait for the client.
func (c *clock) due(now time.Time, running, open bool) limit {
	reached, since := noLimit, now
	bound := func(l limit, begin time.Time, most time.Duration) {
		if end := begin.Add(most); most > 0 && !begin.IsZero() && !end.After(since) {
			reached, since = l, end
		}
	}
	switch {
	case running && c.canceling() && open:
		bound(limitIdleInTransaction, c.canceled, c.limits.IdleInTransaction)
	case running && c.canceling():
		bound(limitUnanswered, c.canceled, cancelGrace)
	case running:
		bound(limitStatement, c.turn, times(c.limits.Statement, c.statements))
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

// times is the time that so many statements may take, or one; 0 where that is beyond
// all bounds.
func times(each time.Duration, statements int) time.Duration {
	if n := time.Duration(max(statements, 1)); each <= math.MaxInt64/n {
		return each * n
	}
	return 0
}
