package proxy

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/repeats"
)

// refusedParameter is the end of a login whose startup parameters the Gate refuses. They
// are the client's own words, which the log does not get.
func refusedParameter(err error) error {
	refused := newRefusal(err, stateInvalidParameterValue)
	return &denial{refused.fatal(), fmt.Sprintf("a startup parameter is refused (SQLSTATE %s)", refused.state)}
}

// withoutParameters is the failure of a connection to the database, as the log gets it: an
// error about a startup parameter quotes it.
func withoutParameters(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "22") || refused.Code == stateFeatureNotSupported || strings.HasPrefix(refused.Code, "42")) {
		return fmt.Errorf("the server refuses the startup parameters (SQLSTATE %s)", refused.Code)
	}
	return err
}

// unreached is the end of a login for which there is no connection to the database. As of a
// denial, the log has the reason, and the client must not know it.
type unreached struct {
	shown *fatal
	why   error
}

func (u *unreached) Error() string { return u.why.Error() }
func (u *unreached) Unwrap() error { return u.shown }

// logRefusal logs why a connection has not become a session. Refusals for one reason of one
// user have one line, and later ones their number.
func (a *attempt) logRefusal(err error) {
	reason := reasonOf(err)
	a.server.repeats.Note(a.log, reason.level(), repeats.Key{Kind: string(reason), Who: a.user}, "connection refused", "reason", err)
}

// level is the log level: error if no client can log in until the operator acts, warn if the
// operator should check whether it continues.
func (r Reason) level() slog.Level {
	switch r {
	case ReasonUpstream, ReasonLookup, ReasonCrash:
		return slog.LevelError
	case ReasonUnavailable, ReasonCrowded, ReasonThrottled:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

// rejected reports to the Observer a connection that has not become a session, and whose end has a
// reason; last is the message to the client.
func (a *attempt) rejected(err error, last *fatal) {
	if a.Observer == nil || a.observed || err == nil || !a.introduced && errors.Is(err, io.EOF) {
		return
	}
	a.observed = true
	r := Rejection{User: a.user, Address: clientAddress(a.raw), Transport: a.transport(), Reason: reasonOf(err)}
	if last != nil {
		r.SQLState = last.state
	}
	a.Observer.Rejected(r)
}

// reasonOf puts the end of a login into one of a few classes.
func reasonOf(err error) Reason {
	denied := (*denial)(nil)
	crash := (*panicError)(nil)
	last := finalError(err)
	switch {
	case errors.Is(err, errStopping), errors.Is(err, errShutdown):
		return ReasonShutdown
	case errors.Is(err, errNoPending):
		return ReasonCrowded
	case errors.Is(err, errThrottled):
		return ReasonThrottled
	case errors.As(err, &crash):
		return ReasonCrash
	case errors.As(err, &denied) && denied.shown.state == stateCannotConnectNow:
		return ReasonLookup
	case errors.As(err, &denied) && (denied.shown.state == stateInvalidPassword || denied.shown.state == stateInvalidAuthorization):
		return ReasonPassword
	case last == nil:
		return ReasonGone // or its bytes were none that could be answered
	}
	switch last.state {
	case stateInvalidPassword:
		return ReasonPassword
	case stateInvalidAuthorization:
		return ReasonRule
	case stateTooManyConnections:
		return ReasonCrowded
	case stateInvalidCatalogName:
		return ReasonDatabase
	case stateCannotConnectNow:
		return ReasonUnavailable
	case stateQueryCanceled:
		return ReasonTimeout
	case stateConnectionFailure:
		return ReasonUpstream
	case stateProtocolViolation, stateFeatureNotSupported:
		return ReasonProtocol
	case stateUndefinedObject, stateInsufficientPrivilege:
		return ReasonParameter
	}
	if strings.HasPrefix(last.state, "22") {
		return ReasonParameter
	}
	return ReasonUnavailable // the audit's or the pool's
}
