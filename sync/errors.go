package sync

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
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

const (
	// fixReload suits what a fresh look at the database heals by itself.
	fixReload = "run 'kproxy reload': kproxy looks at the table afresh"
	// fixPolicy suits a table that the policy no longer fits.
	fixPolicy = "correct the policy and run 'kproxy reload'"
	// fixAccept suits a table that is no longer what the operator accepted.
	fixAccept = "take the change back, and the table goes on by itself; or run 'kproxy accept TABLE', which shows what changed and accepts it"
	// fixResync suits a store that differs from its source.
	fixResync = "run 'kproxy resync': the difference between the source and the private store is applied"
	// fixStore suits a store that cannot be loaded, and so not be compared either.
	fixStore = "run 'kproxy rebuild TABLE': it is published afresh from the source"
	// fixLineage suits a guarded table that cannot go on as it was.
	fixLineage = "take the change back; or run 'kproxy rebuild TABLE --new-lineage' to accept this and start a new lineage"
	// fixEnded suits a guarded table whose lineage cannot go on.
	fixEnded = "run 'kproxy rebuild TABLE --new-lineage' to accept this and start a new lineage"
)

// TableError is a state in which one table needs the operator while others go on.
type TableError struct {
	Table catalog.Name
	What  string
	Fix   string // may say TABLE for the table's name
	Err   error
	// resync says that the difference between source and store heals the table.
	resync bool
	// afresh says that it takes a new release.
	afresh bool
	// heals says that the table goes on by itself once it is again what was accepted.
	heals bool
}

func (e *TableError) Error() string {
	text := fmt.Sprintf("table %s: %s", e.Table, e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + " (" + e.advice() + ")"
}

// advice is Fix as it can be typed, with the table's name for TABLE.
func (e *TableError) advice() string { return naming(e.Fix, e.Table) }

func naming(fix string, table catalog.Name) string {
	return strings.ReplaceAll(fix, "TABLE", table.String())
}

// Unwrap returns the cause, if there is one.
func (e *TableError) Unwrap() error { return e.Err }

// problem is what is wrong, with the cause.
func (e *TableError) problem() string {
	if e.Err == nil {
		return e.What
	}
	return e.What + ": " + e.Err.Error()
}

// transientStates are the SQLSTATEs, or their classes, after which trying again
// can succeed: connection exceptions, a server that is read-only for a while,
// idle time-outs, refused logins, a database that is not there, transaction rollbacks, insufficient
// resources, objects in use, operator intervention, system errors.
var transientStates = []string{"08", "25006", "25P03", "28", "3D000", "40", "53", "55", "57", "58"}

// internal marks an error that no other attempt will mend: what was asked of the
// partition, or said by the stream, makes no sense.
func internal(err error) error {
	return &StopError{What: "replication met what must not happen", Fix: fixResync, Err: err}
}

// transient tells whether another attempt, on fresh connections, can succeed.
func transient(err error) bool {
	if stop := (*StopError)(nil); errors.As(err, &stop) {
		return false
	}
	if halt := (*TableError)(nil); errors.As(err, &halt) {
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

// fixOf is what the operator can do about an error that does not pass.
func fixOf(err error) string {
	stop, is := errors.AsType[*StopError](err)
	switch {
	case is:
		return stop.Fix
	case hasState(err, insufficientPrivilege):
		return "run 'kproxy setup', which grants what is missing (REPLICATION, SELECT on protected tables, kproxy's own schemas), and 'kproxy reload'"
	case hasState(err, invalidText):
		return "run 'kproxy setup', which adds labels that an enumeration has at the source, where that is another database, and 'kproxy reload'"
	default:
		return "see the log, correct what it says, and run 'kproxy reload'"
	}
}

// fixTransient is what the operator can do about an error that may pass by itself.
func fixTransient(err error) string {
	server := (*pgconn.PgError)(nil)
	blocked, isBlocked := errors.AsType[*BlockedError](err)
	switch {
	case isBlocked:
		return blocked.End
	case !errors.As(err, &server):
		return "kproxy goes on when the server is within reach; nothing is lost"
	case strings.HasPrefix(server.Code, "28"):
		return "let the role log in, with the configured password, or run 'kproxy setup', which sets it; kproxy goes on then, and nothing is lost"
	case server.Code == "53100":
		return "the server's disk is full: make room; kproxy goes on then, and nothing is lost"
	case server.Code == "53400":
		return "raise max_replication_slots, or drop a slot that nobody needs; kproxy goes on then"
	case server.Code == "53300":
		return "raise max_connections and max_wal_senders, or end sessions that nobody needs; kproxy goes on then"
	default:
		return "kproxy tries again; nothing is lost"
	}
}

// SQLSTATEs (PostgreSQL, appendix PostgreSQL Error Codes).
const (
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	invalidText           = "22P02"
)

// hasState tells whether the server has refused with a SQLSTATE.
func hasState(err error, state string) bool {
	server, is := errors.AsType[*pgconn.PgError](err)
	return is && server.Code == state
}

// valueFree are the classes of SQLSTATE whose messages speak of objects, rights and
// resources, and never quote a value of a row.
var valueFree = []string{"08", "28", "3D", "3F", "42501", "42704", "42P01", "42703", "53", "55", "57", "58"}

// withoutValues strips everything but SQLSTATE and message class from a server
// error whose text could quote a stored value.
func withoutValues(err error) error {
	server := (*pgconn.PgError)(nil)
	if !errors.As(err, &server) {
		return err
	}
	for _, state := range valueFree {
		if strings.HasPrefix(server.Code, state) {
			return err
		}
	}
	return &valueFreeError{code: server.Code, err: err}
}

type valueFreeError struct {
	code string
	err  error
}

func (e *valueFreeError) Error() string { return "the server refused with SQLSTATE " + e.code }
func (e *valueFreeError) Unwrap() error { return e.err }
