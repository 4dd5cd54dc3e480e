package pool

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// resetTimeout is how long the reset of a connection may take before it is closed
// instead. DISCARD ALL has temporary tables to drop.
const resetTimeout = 5 * time.Second

// inspection is one row that says all that a session can have changed of a connection
// for the next one. Right after login it has one value, and a connection on which it has
// another one is not used again; what the values are does not matter.
//
// Settings are taken from the function under pg_settings, all of them with where they
// come from, as a session would see there; a library that was loaded adds some. A session that has
// made a temporary object has a temporary schema, and keeps it for good. Names of
// functions and types are qualified, and operators are those of pg_catalog, so that no
// search_path and no object of a reader's decide on them.
//
// The last column changes nothing that is compared: it puts another seed under random(),
// which DISCARD leaves as setseed() has put it. Nobody can read the seed in the text.
const inspection = `SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(pg_catalog.concat(name, '=', setting, ' ', source), E'\n'), pg_catalog.getdatabaseencoding())), 'hex'),
 session_user, current_user, pg_catalog.current_setting('role'), pg_catalog.pg_my_temp_schema(),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_prepared_statement()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_cursor()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_listening_channels()),
 (SELECT pg_catalog.count(*) FROM pg_catalog.pg_lock_status() WHERE locktype OPERATOR(pg_catalog.=) 'advisory' AND pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()),
 pg_catalog.setseed(('x' OPERATOR(pg_catalog.||) pg_catalog.left(pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', ''), 12))::pg_catalog.bit(48)::pg_catalog.int8::pg_catalog.float8 OPERATOR(pg_catalog./) 281474976710656)
FROM pg_catalog.pg_show_all_settings()`

// picky says that the transactions of a connection are by default of a kind in which
// queries may wait for those of others (deferrable ones) or be refused (serializable ones
// on a standby), so that the pool must ask for another kind itself.
func picky(parameters map[string]string) bool {
	_, isolated := parameters["default_transaction_isolation"]
	_, deferrable := parameters["default_transaction_deferrable"]
	return isolated || deferrable
}

// calmly is a query in a transaction that waits for nobody.
func (c *conn) calmly(query string) string {
	if !c.picky {
		return query
	}
	return "BEGIN ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE; " + query + "; COMMIT"
}

// compared is how many columns of the inspection are.
const compared = 9

// inspected is the row of an inspection as one text.
func inspected(a answer) (string, error) {
	switch {
	case a.failed != nil:
		return "", a.failed
	case len(a.row) != compared+1 || slices.Contains(a.row[:compared], ""):
		return "", errors.New("the inspection has an incomplete answer")
	case a.status != 'I':
		return "", errors.New("the connection is inside a transaction")
	}
	return strings.Join(a.row[:compared], "\x00"), nil
}

// reset ends what the last session has left open, discards its state and shows that
// nothing of it remains. Status is that of the transaction.
func (servers) reset(c *conn, status byte) error {
	if !c.quiet() { // an answer to the last session must not pass as one to us
		return errors.New("the server has sent something unasked")
	}
	queries := []string{"DISCARD ALL", c.calmly(inspection)}
	if c.picky {
		queries = slices.Insert(queries, 0, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE")
	}
	if status != 'I' {
		queries = slices.Insert(queries, 0, "ROLLBACK")
	}
	if err := c.SetDeadline(time.Now().Add(resetTimeout)); err != nil {
		return err
	}
	reported := map[string]string{}
	answers, err := ask(c.Conn, func(name, value string) { reported[name] = value }, queries...)
	if err != nil {
		return err
	}
	for _, a := range answers[:len(answers)-1] {
		if a.failed != nil {
			return a.failed
		}
	}
	now, err := inspected(answers[len(answers)-1])
	if err != nil {
		return err
	}
	if now != c.login {
		return errors.New("the last session has left something that DISCARD ALL does not take away: " + c.differs(now))
	}
	for name, value := range reported {
		if c.parameters[name] != value {
			return errors.New("the reported value of " + name + " is not what it was at login")
		}
	}
	return c.SetDeadline(time.Time{})
}

// aspects name the columns of the inspection for the log.
var aspects = [compared]string{
	"settings", "session_user", "current_user", "role", "a temporary schema", "prepared statements", "cursors", "LISTEN", "advisory locks",
}

// differs names what is not as it was at login.
func (c *conn) differs(now string) string {
	var names []string
	before := strings.Split(c.login, "\x00")
	for i, value := range strings.Split(now, "\x00") {
		if value != before[i] {
			names = append(names, aspects[i])
		}
	}
	return strings.Join(names, ", ")
}
