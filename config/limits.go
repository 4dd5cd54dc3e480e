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
		count := func(key string, to *int, least int) field {
			return field{key: key, read: r.marked("limits."+key, r.storeInteger(to, key, least, maxClients))}
		}
		r.mapping(
			n, "limits",
			count("max_sessions", &to.MaxSessions, 1),
			count("max_sessions_per_user", &to.MaxSessionsPerUser, 0),
			count("max_connections", &to.MaxConnections, 0),
			count("max_connections_per_user", &to.MaxConnectionsPerUser, 0),
			count("max_waiting", &to.MaxWaiting, 0),
			count("max_logins", &to.MaxLogins, 1),
			count("max_logins_per_address", &to.MaxLoginsPerAddress, 1),
			field{key: "max_statement_bytes", read: r.storeInteger(&to.MaxStatementBytes, "max_statement_bytes", 1<<10, 64<<20)},
			field{key: "max_message_bytes", read: func(n *yaml.Node) {
				message = n
				r.storeInteger(&to.MaxMessageBytes, "max_message_bytes", 1<<10, 1<<30)(n)
			}},
			field{key: "max_tokens", read: r.storeInteger(&to.MaxTokens, "max_tokens", 1000, 10_000_000)},
			field{key: "max_statements", read: r.storeInteger(&to.MaxStatements, "max_statements", 1, 100_000)},
			field{key: "max_depth", read: r.storeInteger(&to.MaxDepth, "max_depth", 20, 200)},
			field{key: "statement_cache_bytes", read: r.storeInteger(&to.StatementCacheBytes, "statement_cache_bytes", 0, 1<<30)},
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
		bound := func(key string, to *time.Duration, zero bool) field {
			return field{key: key, read: r.marked("timeouts."+key, r.storeDuration(to, key, zero, maxDuration))}
		}
		r.mapping(
			n, "timeouts",
			bound("login", &to.Login, false),
			bound("connect", &to.Connect, false),
			bound("queue", &to.Queue, false),
			bound("statement", &to.Statement, true),
			bound("transaction", &to.Transaction, true),
			bound("idle_in_transaction", &to.IdleInTransaction, true),
			bound("idle", &to.Idle, true),
			bound("unacknowledged", &to.Unacknowledged, true),
			bound("shutdown", &to.Shutdown, true),
		)
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
			field{key: "idle", read: r.storeDuration(&to.Idle, "idle", true, maxDuration)},
			field{key: "lifetime", read: r.storeDuration(&to.Lifetime, "lifetime", false, maxDuration)},
		)
	}
}
