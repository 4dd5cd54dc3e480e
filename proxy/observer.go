package proxy

import (
	"net/netip"
	"time"

	"github.com/kproxy/kproxy/proxy/access"
)

// Observer is notified of what clients do, for metrics, an audit log and a console. Its methods are
// called on event loops and by logins, by many goroutines at the same time: they must return at
// once. Their arguments belong to the proxy and must not be changed; *Answered holds until the call
// returns, *Client until the session has ended and for as long as it is kept.
//
// None of the arguments contains a statement's constants, parameters or rows.
type Observer interface {
	// Began reports a new session.
	Began(*Client)
	// Ended reports its end, once.
	Ended(*Client, End)
	// Answered reports a statement that is done, in whatever way.
	Answered(*Answered)
	// Rejected reports a connection that did not become a session. Clients that disconnect before
	// they have said who they are, as probes do, are not reported.
	Rejected(Rejection)
	// Canceled reports a cancel request; known says that its key belongs to a session.
	Canceled(known bool)
	// Connected tells how long a login has waited for its connection to the database, and
	// whether it has got one.
	Connected(waited time.Duration, ok bool)
}

// Client is who a session is of.
type Client struct {
	Session   uint64           `json:"session"` // numbers the process's sessions, from 1
	User      string           `json:"user"`
	Reader    string           `json:"reader,omitempty"`   // the role in Config.Readers; "" = the main one
	Audience  string           `json:"audience,omitempty"` // as State.Audience
	Address   netip.Addr       `json:"client"`             // the zero Addr is a Unix socket
	Transport access.Transport `json:"-"`                  // Plain, TLS or Unix
	Since     time.Time        `json:"since"`
}

// End is how a session has ended.
type End struct {
	Lasted time.Duration
	// SQLState is that of the last message to the client: "" if the client ended the session, 08006
	// if it was gone.
	SQLState string
}

// Phase says which message of the protocol a statement was answered at.
type Phase byte

// Phases.
const (
	// Simple is a Query: one text, perhaps of several statements.
	Simple Phase = iota
	// Executed is an Execute of a prepared statement; each part of a result that is
	// fetched in parts is one.
	Executed
	// Prepared is a Parse or a Bind that has failed, or one under a name beyond the limit of names
	// that are followed. Its executions are reported without a shape, and with the relations of all
	// such statements.
	Prepared
)

// Answered is a statement that is done. A session's prepared statements are reported each time they
// are executed.
type Answered struct {
	*Client
	Phase Phase
	// Shape is Statement.Shape, or that of the refusal; "" where there is none.
	Shape string
	// Reads is Statement.Reads, with those of what the text reaches by Statement.Uses.
	Reads []string
	// At is when it was done.
	At time.Time
	// Rewriting is how long the Gate took, and Waited from the moment at which the
	// proxy had the message to the moment it went to the server, which includes that.
	// Serving is from there to the answer: of statements that were sent ahead, with the
	// time in which the server was at earlier ones.
	Rewriting, Waited, Serving time.Duration
	// Recalled says that the Gate had the rewritten text at hand; false where it was not
	// asked.
	Recalled bool
	// Asked says that the Gate was asked for this statement: false for later executions of a
	// prepared one.
	Asked bool
	// Rows are those of a statement that has succeeded, as the server counts them: sent,
	// or changed in a temporary table.
	Rows int64
	// Bytes are those of the server's messages about it.
	Bytes int64
	// SQLState is of the error; "" where it has succeeded, and 08006 or that of the
	// session's end where its answer has not come.
	SQLState string
	// Refused says that the proxy has refused it, and not the server.
	Refused bool
}

// Rejection is a connection that did not become a session.
type Rejection struct {
	User      string // as the client says, shown as in the log; "" where it did not get so far
	Address   netip.Addr
	Transport access.Transport
	Reason    Reason
	SQLState  string // of what the client was told; "" = nothing
}

// Reason is why a connection did not become a session: one of a few words.
type Reason string

// Reasons.
const (
	ReasonPassword    Reason = "password"    // a wrong password or certificate, or nobody of that name
	ReasonRule        Reason = "rule"        // the access rules, or encryption is required
	ReasonThrottled   Reason = "throttled"   // too many failures before
	ReasonLookup      Reason = "lookup"      // users cannot be looked up
	ReasonCrowded     Reason = "crowded"     // too many sessions or connections
	ReasonDatabase    Reason = "database"    // there is no such database
	ReasonParameter   Reason = "parameter"   // of the startup message
	ReasonUnavailable Reason = "unavailable" // nothing can be served now
	ReasonUpstream    Reason = "upstream"    // the database server cannot be reached
	ReasonTimeout     Reason = "timeout"     // the login took too long
	ReasonProtocol    Reason = "protocol"    // what was sent is none of the protocol's
	ReasonShutdown    Reason = "shutdown"    // the server ends
	ReasonGone        Reason = "gone"        // the client hung up after its startup message
	ReasonCrash       Reason = "crash"       // an error of the proxy's own
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{
		ReasonPassword, ReasonRule, ReasonThrottled, ReasonLookup, ReasonCrowded, ReasonDatabase, ReasonParameter,
		ReasonUnavailable, ReasonUpstream, ReasonTimeout, ReasonProtocol, ReasonShutdown, ReasonGone, ReasonCrash,
	}
}
