package sync

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// StopError is a state that needs the operator: kproxy stops applying rather
// than lose or double a change.
type StopError struct {
	What string
	Fix  string
	Err  error
}

func (e *StopError) Error() string {
	text := e.What
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + " (" + e.Fix + ")"
}

// Unwrap returns the cause, if there is one.
func (e *StopError) Unwrap() error { return e.Err }

// fixRestart suits what a fresh look at the database heals by itself.
const fixRestart = "start kproxy again: it looks at the table afresh and publishes it anew"

const fixRebuild = "run 'kproxy rebuild' and start again: the tables are published afresh from the source"

// transientStates are the SQLSTATEs, or their classes, after which trying again
// can succeed: connection exceptions, a server that is read-only for a while,
// idle time-outs, transaction rollbacks, insufficient resources, objects in use,
// operator intervention, system errors.
var transientStates = []string{"08", "25006", "25P03", "40", "53", "55", "57", "58"}

// internal marks an error that no other attempt will mend: what was asked of the
// partition, or said by the stream, makes no sense.
func internal(err error) error {
	return &StopError{What: "replication met what must not happen", Fix: fixRebuild, Err: err}
}

// transient tells whether another attempt, on fresh connections, can succeed.
func transient(err error) bool {
	if stop := (*StopError)(nil); errors.As(err, &stop) {
		return false
	}
	server := (*pgconn.PgError)(nil)
	if !errors.As(err, &server) {
		return true // the connection broke
	}
	for _, state := range transientStates {
		if strings.HasPrefix(server.Code, state) {
			return true
		}
	}
	return false
}

// withoutValues strips everything but SQLSTATE and message class from a server
// error whose text could quote a stored value.
func withoutValues(err error) error {
	server := (*pgconn.PgError)(nil)
	if !errors.As(err, &server) {
		return err
	}
	return &valueFreeError{code: server.Code, err: err}
}

type valueFreeError struct {
	code string
	err  error
}

func (e *valueFreeError) Error() string { return "the server refused with SQLSTATE " + e.code }
func (e *valueFreeError) Unwrap() error { return e.err }
