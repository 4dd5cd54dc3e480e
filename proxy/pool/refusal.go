package pool

// SQLSTATEs of refusals; PostgreSQL documentation, appendix "PostgreSQL Error Codes".
const (
	stateTooManyConnections = "53300"
	stateCannotConnectNow   = "57P03"
	stateInvalidParameter   = "22023"
)

// Refusal is the error of a session that gets no connection. Its texts are for the client and name no
// address, role or password.
type Refusal struct {
	state, message, hint string
}

func (r *Refusal) Error() string { return r.message }

// SQLState is the SQLSTATE of the refusal.
func (r *Refusal) SQLState() string { return r.state }

// Hint says what the client can do.
func (r *Refusal) Hint() string { return r.hint }

// The refusals of Get.
var (
	errQueueFull      = &Refusal{stateTooManyConnections, "too many sessions wait for a connection to the database server", "Try again later."}
	errQueueTimeout   = &Refusal{stateTooManyConnections, "no connection to the database server has become free in time", "Try again later, and close sessions that are not used."}
	errUserLimit      = &Refusal{stateTooManyConnections, "too many sessions of this user", "Close sessions that are not used, or try again later."}
	errLongParameters = &Refusal{stateInvalidParameter, "the startup parameters are too long", "Set fewer or shorter ones when connecting, also in PGOPTIONS; set others with SET."}
	errNotFresh       = &Refusal{stateCannotConnectNow, "no database server shows data that are recent enough", "Try again later."}
	errSilent         = &Refusal{stateCannotConnectNow, "no database server answers kproxy or lets it log in", "Try again later; the operator finds the reason in the log of kproxy."}
	errNotShown       = &Refusal{stateCannotConnectNow, "no database server is known to be, or to follow, the one that kproxy publishes on", "Try again later; the operator finds the reason with 'kproxy status'."}
	errNoServer       = &Refusal{stateCannotConnectNow, "no database server of the kind that is to answer is available", "Try again later."}
	errPooler         = &Refusal{stateCannotConnectNow, "a pooler in transaction mode is between kproxy and the database server", "The operator has upstream lead to the server itself, or to a pooler in session mode."}
	errShared         = &Refusal{stateCannotConnectNow, "a pooler in statement mode is between kproxy and the database server", "The operator has upstream lead to the server itself, or to a pooler in session mode."}
	errUnset          = &Refusal{stateCannotConnectNow, "the database server does not have the settings that were asked for at login, as where a pooler is in between that drops them", "The operator has upstream lead to the server itself; see docs/poolers.md."}
	errClosed         = &Refusal{stateCannotConnectNow, "the server is shutting down", "Try again later."}
)
