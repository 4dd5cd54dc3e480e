package pool

import (
	"crypto/sha256"
	"errors"
	"strings"
	"time"
)

// resetTimeout is how long the reset of a connection may take before it is closed
// instead. DISCARD ALL has temporary tables to drop.
const resetTimeout = 5 * time.Second

// The state of a connection is all that a session can have changed of it for the next one.
// It is looked at right after login and after each reset, and must be the same: what it is
// does not matter. Two queries tell it.
//
// SHOW ALL lists the values of all settings, as a session sees them; a library that was
// loaded adds some. No search_path and no object of a reader's decide on what it shows.
//
// The inspection is one row of the rest. A session that has made a temporary object has a
// temporary schema, and keeps it for good. Names of functions, types and operators are
// qualified. Its last column changes nothing that is compared: it puts another seed under
// random(), which DISCARD leaves as setseed() has put it. Nobody can read the seed in the
// text.
const (
	settings   = "SHOW ALL"
	inspection = `SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('search_path'), pg_catalog.current_setting('default_transaction_read_only'), session_user, current_user, pg_catalog.current_setting('role'), pg_catalog.pg_my_temp_schema(),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_prepared_statement()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_cursor()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_listening_channels()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_lock_status() WHERE locktype OPERATOR(pg_catalog.=) 'advisory' AND pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()),
 pg_catalog.setseed(('x' OPERATOR(pg_catalog.||) pg_catalog.left(pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', ''), 12))::pg_catalog.bit(48)::pg_catalog.int8::pg_catalog.float8 OPERATOR(pg_catalog./) 281474976710656)`
)

// aspects name what the inspection tells, column by column, for the log.
var aspects = [...]string{"another server process", "search_path", "default_transaction_read_only", "session_user", "current_user", "role", "a temporary schema", "prepared statements", "cursors", "LISTEN", "advisory locks"}

// state is the result of the two queries.
type state struct {
	settings [sha256.Size]byte // a digest of SHOW ALL
	rest     [len(aspects)]string
}

// stateOf reads the answers to the two queries.
func stateOf(shown, inspected answer) (state, error) {
	switch {
	case shown.failed != nil:
		return state{}, shown.failed
	case inspected.failed != nil:
		return state{}, inspected.failed
	case shown.row == nil || len(inspected.row) != len(aspects)+1:
		return state{}, errors.New("the server does not tell the state of the connection")
	case inspected.status != 'I':
		return state{}, errors.New("the connection is inside a transaction")
	}
	return state{shown.digest, [len(aspects)]string(inspected.row)}, nil
}

// differs names what is not as it was; "" = nothing.
func (s state) differs(was state) string {
	var names []string
	if s.settings != was.settings {
		names = append(names, "settings")
	}
	for i, value := range s.rest {
		if value != was.rest[i] {
			names = append(names, aspects[i])
		}
	}
	return strings.Join(names, ", ")
}

// ofTransactions are settings that hold only for the transaction. If a session sets one outside of
// a transaction, only the origin of the value (pg_settings.source) remains, for ever. So that this
// reveals nothing, the pool sets them on every connection.
const ofTransactions = "SET transaction_isolation = 'read committed'; SET transaction_read_only = on; SET transaction_deferrable = off"

// queuesWait says that the transactions of a connection are by default of a kind in which
// queries may wait for those of others (deferrable ones) or be refused (serializable ones
// on a standby), so that the pool must ask for another kind itself.
func queuesWait(parameters map[string]string) bool {
	_, isolated := parameters["default_transaction_isolation"]
	_, deferrable := parameters["default_transaction_deferrable"]
	return isolated || deferrable
}

// withoutWaiting is a query in a transaction that never waits for others.
func (c *conn) withoutWaiting(query string) string {
	if !c.queuesWait {
		return query
	}
	return "BEGIN ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE; " + query + "; COMMIT"
}

// reset ends what the last session has left open, discards its state and shows that
// nothing of it remains. Status is that of the transaction. After a session that was
// traceless that needs no showing, which takes the server forty times as long as DISCARD
// ALL itself.
func (servers) reset(c *conn, status byte, traceless bool) error {
	if !c.quiet() { // an answer to the last session must not pass as one to us
		return errors.New("the server has sent something unasked")
	}
	requests := []request{endSegment}
	if status != 'I' {
		requests = append(requests, query("ROLLBACK"))
	}
	if c.queuesWait {
		requests = append(requests, query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE"))
	}
	requests = append(append(requests, query("DISCARD ALL")), c.liftLimits()...)
	if !traceless {
		requests = append(requests, query(settings), query(c.withoutWaiting(inspection)))
	}
	if err := c.SetDeadline(time.Now().Add(resetTimeout)); err != nil {
		return err
	}
	reported := map[string]string{}
	answers, err := ask(c.Conn, func(name, value string) { reported[name] = value }, requests...)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if a.failed != nil {
			return a.failed
		}
	}
	switch n := len(answers); {
	case !traceless:
		if err := c.unchanged(answers[n-2], answers[n-1]); err != nil {
			return err
		}
	case answers[n-1].status != 'I':
		return errors.New("the connection is inside a transaction")
	}
	for name, value := range reported {
		if c.parameters[name] != value {
			return errors.New("the reported value of " + name + " is not what it was at login")
		}
	}
	return c.SetDeadline(time.Time{})
}

// unchanged returns an error unless the answers to the two queries tell the state right
// after login.
func (c *conn) unchanged(shown, inspected answer) error {
	now, err := stateOf(shown, inspected)
	if err != nil {
		return err
	}
	if left := now.differs(c.login); left != "" {
		return errors.New("the last session has left something that DISCARD ALL does not take away: " + left)
	}
	return nil
}
