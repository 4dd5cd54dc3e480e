package config

import (
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Limits bound what clients can take.
type Limits struct {
	// MaxSessions is how many clients may be connected at once. Default 100.
	MaxSessions int
	// MaxSessionsPerUser is how many of them may be of one user; 0 is no bound of its own.
	// Default 0.
	MaxSessionsPerUser int
	// MaxConnections is how many connections to the database sessions may have together,
	// kept ones included; 0 is as many as MaxSessions. Default 0.
	MaxConnections int
	// MaxConnectionsPerUser is how many of them one user may have in use; 0 is no bound of
	// its own. Default 0.
	MaxConnectionsPerUser int
	// MaxWaiting is how many sessions may wait for a connection; 0 is none. Default 100.
	MaxWaiting int
	// MaxLogins is how many connections may be there that have not logged in. Default
	// 1,000.
	MaxLogins int
	// MaxLoginsPerAddress is how many of them may come from one address. Default 500.
	MaxLoginsPerAddress int
	// MaxStatementBytes is the length of the longest statement, in bytes. Default 1 MiB.
	MaxStatementBytes int
	// MaxMessageBytes is the length of the longest protocol message from a
	// client, in bytes; at least MaxStatementBytes. Default 16 MiB.
	MaxMessageBytes int
	// MaxTokens is the most tokens (words, operators, brackets, constants) of a text: an
	// IN list of n values has 2n. Default 50,000.
	MaxTokens int
	// MaxStatements is the most statements in one text. Default 1,000.
	MaxStatements int
	// MaxDepth is how deep a statement may nest: operators in a row, joins, set
	// operations, brackets. Default 200, which is the most that the parser stands.
	MaxDepth int
	// StatementCacheBytes bounds the cache of rewritten statements, in bytes; 0
	// is no cache. Default 16 MiB.
	StatementCacheBytes int
}

// Timeouts bound waiting. Zero is no bound where that is said.
type Timeouts struct {
	Login     time.Duration // from connecting to being logged in; default 30 s
	Connect   time.Duration // of a connection to the database; default 10 s
	Queue     time.Duration // for a connection to the database to be free; default 10 s
	Statement time.Duration // of one statement; 0 is no bound; default 0
	// Transaction bounds each transaction; 0 is no bound; default 0.
	Transaction time.Duration
	// IdleInTransaction is between a client's messages inside a transaction, and Idle
	// outside of one; 0 is no bound; default 0.
	IdleInTransaction time.Duration
	Idle              time.Duration
	// Unacknowledged is for how long what was sent to a client may stay unacknowledged;
	// 0 is as the system has it; default 0.
	Unacknowledged time.Duration
	Shutdown       time.Duration // for running statements when kproxy stops; default 30 s
}

// Pool says how long connections to the database are kept for the next session.
type Pool struct {
	// Idle is how long one is kept that no session uses; 0 is not at all. Default 5 min.
	Idle time.Duration
	// Lifetime is the age from which one is not used again. Default 1 h.
	Lifetime time.Duration
}

// maxClients is more than one process can serve.
const maxClients = 100_000

func (r *reader) limits(to *Limits) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var message *yaml.Node
		count := func(key string, to *int, least int, doc string) field {
			return field{key: key, doc: doc, read: r.marked("limits."+key, r.storeInteger(to, key, least, maxClients))}
		}
		r.mapping(
			n, "limits",
			count("max_sessions", &to.MaxSessions, 1, "Clients that are logged in at once."),
			count("max_sessions_per_user", &to.MaxSessionsPerUser, 0, "How many of them one user may have; 0 is no bound of its own."),
			count("max_connections", &to.MaxConnections, 0, "Connections to the database, in use and kept together; 0 is as many as max_sessions. Further sessions wait."),
			count("max_connections_per_user", &to.MaxConnectionsPerUser, 0, "How many of them one user may have in use; 0 is no bound of its own."),
			count("max_waiting", &to.MaxWaiting, 0, "Sessions that may wait for a connection; 0 is none."),
			count("max_logins", &to.MaxLogins, 1, "Connections that have not logged in."),
			count("max_logins_per_address", &to.MaxLoginsPerAddress, 1, "How many of them may come from one address."),
			field{key: "max_statement_bytes", doc: "The length of the longest statement, in bytes.", read: r.storeInteger(&to.MaxStatementBytes, "max_statement_bytes", 1<<10, 64<<20)},
			field{key: "max_message_bytes", doc: "The length of the longest message of a client, in bytes; not less than max_statement_bytes.", read: func(n *yaml.Node) {
				message = n
				r.storeInteger(&to.MaxMessageBytes, "max_message_bytes", 1<<10, 1<<30)(n)
			}},
			field{key: "max_tokens", doc: "Words, operators, brackets and constants of one query text: an IN list of n values has 2n.", read: r.storeInteger(&to.MaxTokens, "max_tokens", 1000, 10_000_000)},
			field{key: "max_statements", doc: "Statements in one query text.", read: r.storeInteger(&to.MaxStatements, "max_statements", 1, 100_000)},
			field{key: "max_depth", doc: "How deep a statement may nest.", read: r.storeInteger(&to.MaxDepth, "max_depth", 20, 200)},
			field{key: "statement_cache_bytes", doc: "What rewritten statements may take of memory, in bytes, for all clients together; 0 keeps none.", read: r.storeInteger(&to.StatementCacheBytes, "statement_cache_bytes", 0, 1<<30)},
		)
		r.compareLimits(to)
		if to.MaxMessageBytes >= to.MaxStatementBytes {
			return
		}
		if message == nil {
			to.MaxMessageBytes = to.MaxStatementBytes
			return
		}
		r.wrong(r.follow(message), "max_message_bytes is less than max_statement_bytes, so that no statement can be that long",
			"write at least "+strconv.Itoa(to.MaxStatementBytes))
	}
}

// compareLimits sees to it that a part is not bounded by more than the whole.
func (r *reader) compareLimits(l *Limits) {
	connections := l.MaxConnections
	if connections == 0 {
		connections = l.MaxSessions
	}
	if _, written := r.marks["limits.max_logins_per_address"]; !written {
		l.MaxLoginsPerAddress = min(l.MaxLoginsPerAddress, l.MaxLogins)
	}
	for _, c := range []struct {
		part, whole string
		of, bound   int
	}{
		{"max_sessions_per_user", "max_sessions", l.MaxSessionsPerUser, l.MaxSessions},
		{"max_connections_per_user", "max_connections", l.MaxConnectionsPerUser, connections},
		{"max_logins_per_address", "max_logins", l.MaxLoginsPerAddress, l.MaxLogins},
	} {
		if c.of > c.bound {
			r.contradicts(c.part+" is more than "+c.whole+", and bounds nothing", "write at most "+strconv.Itoa(c.bound), "limits."+c.part)
		}
	}
}

func (r *reader) timeouts(to *Timeouts) func(*yaml.Node) {
	return func(n *yaml.Node) {
		bound := func(key string, to *time.Duration, zero bool, doc string) field {
			return field{key: key, doc: doc, read: r.marked("timeouts."+key, r.storeDuration(to, key, zero, maxDuration))}
		}
		r.mapping(
			n, "timeouts",
			bound("login", &to.Login, false, "From connecting to being logged in."),
			bound("connect", &to.Connect, false, "Of a connection to the database."),
			bound("queue", &to.Queue, false, "For a connection to the database to be free."),
			bound("statement", &to.Statement, true, "Of one statement; 0s is no limit."),
			bound("transaction", &to.Transaction, true, "Of one transaction; 0s is no limit."),
			bound("idle_in_transaction", &to.IdleInTransaction, true, "Between two messages of a client in a transaction; 0s is no limit."),
			bound("idle", &to.Idle, true, "Between two messages of a client outside of a transaction; 0s is no limit."),
			bound("unacknowledged", &to.Unacknowledged, true, "For a client to take what was sent to it; 0s is as the system has it."),
			bound("shutdown", &to.Shutdown, true, "For running statements when kproxy stops."),
		)
		if to.Queue > to.Login {
			r.contradicts("timeouts.queue is never reached: a login ends before, by timeouts.login", "write at most "+writeDuration(to.Login), "timeouts.queue")
		}
		if to.Transaction == 0 {
			return
		}
		const fix = "write a shorter one, or remove it"
		if to.Statement >= to.Transaction {
			r.contradicts("timeouts.statement is never reached: a transaction ends before, by timeouts.transaction", fix, "timeouts.statement")
		}
		if to.IdleInTransaction >= to.Transaction {
			r.contradicts("timeouts.idle_in_transaction is never reached: a transaction ends before, by timeouts.transaction", fix, "timeouts.idle_in_transaction")
		}
	}
}

func (r *reader) pool(to *Pool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "pool",
			field{key: "idle", doc: "How long a connection is kept without a session; 0s keeps none.", read: r.marked("pool.idle", r.storeDuration(&to.Idle, "idle", true, maxDuration))},
			field{key: "lifetime", doc: "The age from which a connection is not used again.", read: r.storeDuration(&to.Lifetime, "lifetime", false, maxDuration)},
		)
		if to.Idle > to.Lifetime {
			r.contradicts("pool.idle is never reached: a connection is closed before, by pool.lifetime", "write at most "+writeDuration(to.Lifetime), "pool.idle")
		}
	}
}
