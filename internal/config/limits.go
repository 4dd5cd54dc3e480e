package config

import (
	"fmt"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Limits bound what clients can take.
type Limits struct {
	MaxSessions        int `yaml:"max_sessions" default:"1000" range:"1..100000" doc:"Clients that are logged in, or wait for a connection to the database, at once."`
	MaxSessionsPerUser int `yaml:"max_sessions_per_user" default:"0" range:"0..100000" doc:"How many of them one user may have; 0 is no bound of its own."`
	// MaxConnections counts connections that are kept, too.
	MaxConnections        int `yaml:"max_connections" default:"0" range:"0..100000" doc:"Connections to the database, in use and kept together; 0 is what the server can spare of its own max_connections. Further sessions wait."`
	MaxConnectionsPerUser int `yaml:"max_connections_per_user" default:"0" range:"0..100000" doc:"How many of them one user may have in use; 0 is no bound of its own."`
	MaxWaiting            int `yaml:"max_waiting" default:"1000" range:"0..100000" doc:"Sessions that may wait for a connection; 0 is none."`
	MaxLogins             int `yaml:"max_logins" default:"2000" range:"1..100000" doc:"Connections that have not logged in."`
	MaxLoginsPerAddress   int `yaml:"max_logins_per_address" default:"1000" range:"1..100000" doc:"How many of them may come from one address."`
	MaxStatementBytes     int `yaml:"max_statement_bytes" default:"1048576" range:"1024..67108864" doc:"The length of the longest statement, in bytes."`
	// MaxMessageBytes is at least MaxStatementBytes.
	MaxMessageBytes int `yaml:"max_message_bytes" default:"16777216" range:"1024..1073741824" doc:"The length of the longest message of a client, in bytes; not less than max_statement_bytes."`
	MaxTokens       int `yaml:"max_tokens" default:"50000" range:"1000..10000000" doc:"Words, operators, brackets and constants of one query text: an IN list of n values has 2n."`
	MaxStatements   int `yaml:"max_statements" default:"1000" range:"1..100000" doc:"Statements in one query text."`
	// MaxDepth counts operators in a row, joins, set operations and brackets. The default is
	// the most that the parser stands.
	MaxDepth            int `yaml:"max_depth" default:"200" range:"20..200" doc:"How deep a statement may nest."`
	StatementCacheBytes int `yaml:"statement_cache_bytes" default:"16777216" range:"0..1073741824" doc:"What rewritten statements may take of memory, in bytes, for all clients together; 0 keeps none."`
}

// check sees to it that a part is not bounded by more than the whole.
func (l *Limits) check(d *decoder, _ *yaml.Node, _ string) {
	connections := l.MaxConnections
	if connections == 0 {
		connections = l.MaxSessions
	}
	if d.at(&l.MaxLoginsPerAddress) == nil {
		l.MaxLoginsPerAddress = min(l.MaxLoginsPerAddress, l.MaxLogins)
	}
	for _, c := range []struct {
		part        *int
		name, whole string
		bound       int
	}{
		{&l.MaxSessionsPerUser, "max_sessions_per_user", "max_sessions", l.MaxSessions},
		{&l.MaxConnectionsPerUser, "max_connections_per_user", "max_connections", connections},
		{&l.MaxLoginsPerAddress, "max_logins_per_address", "max_logins", l.MaxLogins},
	} {
		if at := d.at(c.part); at != nil && *c.part > c.bound {
			d.wrong(at, c.name+" is more than "+c.whole+", and bounds nothing", "write at most "+strconv.Itoa(c.bound))
		}
	}
	switch at := d.at(&l.MaxMessageBytes); {
	case l.MaxMessageBytes >= l.MaxStatementBytes:
	case at == nil:
		l.MaxMessageBytes = l.MaxStatementBytes
	default:
		d.wrong(at, "max_message_bytes is less than max_statement_bytes, so that no statement can be that long", "write at least "+strconv.Itoa(l.MaxStatementBytes))
	}
}

// Answers are those that are kept.
type Answers struct {
	Size int64 `yaml:"size" what:"answers size" as:"size" default:"0B" range:"0..1TB" doc:"The memory that kept answers may take together, 64MB for example; 0 keeps none."`
}

// Timeouts bound waiting.
type Timeouts struct {
	Login             time.Duration `yaml:"login" default:"30s" doc:"From connecting to being logged in."`
	Connect           time.Duration `yaml:"connect" default:"10s" doc:"Of a connection to the database."`
	Queue             time.Duration `yaml:"queue" default:"10s" doc:"For a connection to the database to be free."`
	Statement         time.Duration `yaml:"statement" default:"0s" range:"0s..24d" doc:"Of one statement; 0s is no limit."`
	Transaction       time.Duration `yaml:"transaction" default:"0s" range:"0s..24d" doc:"Of one transaction; 0s is no limit."`
	IdleInTransaction time.Duration `yaml:"idle_in_transaction" default:"5m" range:"0s..24d" doc:"Between two messages of a client in a transaction, which keeps dead rows of all tables, the store's as well, from being vacuumed; 0s is no limit."`
	Idle              time.Duration `yaml:"idle" default:"0s" range:"0s..24d" doc:"Between two messages of a client outside of a transaction; 0s is no limit."`
	Unacknowledged    time.Duration `yaml:"unacknowledged" default:"0s" range:"0s..24d" doc:"For a client to take what was sent to it; 0s is as the system has it."`
	Shutdown          time.Duration `yaml:"shutdown" default:"30s" range:"0s..24d" doc:"For running statements when kproxy stops."`
}

func (t *Timeouts) check(d *decoder, _ *yaml.Node, _ string) {
	d.neverReached(&t.Queue, "timeouts.queue", t.Queue > t.Login, "a login ends before, by timeouts.login", "write at most "+writeDuration(t.Login))
	if t.Transaction == 0 {
		return
	}
	const why, fix = "a transaction ends before, by timeouts.transaction", "write a shorter one, or remove it"
	d.neverReached(&t.Statement, "timeouts.statement", t.Statement >= t.Transaction, why, fix)
	d.neverReached(&t.IdleInTransaction, "timeouts.idle_in_transaction", t.IdleInTransaction >= t.Transaction, why, fix)
}

// neverReached reports a time that is written and that another one is always before.
func (d *decoder) neverReached(of *time.Duration, name string, never bool, why, fix string) {
	if at := d.at(of); at != nil && never {
		d.wrong(at, fmt.Sprintf("%s is never reached: %s", name, why), fix)
	}
}

// Pool says how long connections to the database are kept for the next session.
type Pool struct {
	Idle     time.Duration `yaml:"idle" default:"5m" range:"0s..24d" doc:"How long a connection is kept without a session; 0s keeps none."`
	Lifetime time.Duration `yaml:"lifetime" default:"1h" doc:"The age from which a connection is not used again."`
}

func (p *Pool) check(d *decoder, _ *yaml.Node, _ string) {
	d.neverReached(&p.Idle, "pool.idle", p.Idle > p.Lifetime, "a connection is closed before, by pool.lifetime", "write at most "+writeDuration(p.Lifetime))
}

// Throttle says how long who fails to log in waits before the next attempt: see
// access.Throttling.
type Throttle struct {
	// Off has nobody wait.
	Off      bool          `yaml:"-" alone:"off, or free:, delay:, max_delay: and forget: under it" as:"off" what:"throttle"`
	Free     int           `yaml:"free" default:"5" range:"1..1000" doc:"Failures of a user at an address that cost nothing; an address, and a user at addresses from which they never logged in, have ten times as many, a network /24 (IPv6: /48) forty, a network /16 (/32) 160 times."`
	Delay    time.Duration `yaml:"delay" default:"250ms" range:"1ms..1d" doc:"What the next failure costs; each further one doubles it."`
	MaxDelay time.Duration `yaml:"max_delay" default:"10s" range:"1ms..1d" doc:"The longest delay."`
	Forget   time.Duration `yaml:"forget" default:"30s" range:"1ms..1d" doc:"The time in which one failure is forgotten."`
}

func (t *Throttle) check(d *decoder, _ *yaml.Node, _ string) {
	switch at := d.at(&t.MaxDelay); {
	case t.MaxDelay >= t.Delay:
	case at == nil:
		t.MaxDelay = t.Delay
	default:
		d.wrong(at, "max_delay is less than delay, so that no delay can be that long", "write at least "+t.Delay.String())
	}
}
