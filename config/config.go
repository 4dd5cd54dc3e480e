package config

import (
	"log/slog"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// Config is all that kproxy is told about one database.
type Config struct {
	// Listen is where clients connect, as host:port; port 0 takes a free one.
	// Default 127.0.0.1:6432.
	Listen string
	TLS    TLS
	// Database is the name clients connect to. Default: the owner's database.
	Database string
	// Users are the clients that may log in; at least one.
	Users    []User
	Upstream Upstream
	// Publication and Slot are the names of kproxy's objects for logical
	// replication. Default kproxy.
	Publication string
	Slot        string
	Replication Replication
	Policy      catalog.Policy
	// TemporaryTables says whether sessions may make temporary tables. Default
	// TemporaryRefuse.
	TemporaryTables TemporaryTables
	Limits          Limits
	Timeouts        Timeouts
	Log             Log

	places places
}

// Locate says where the policy of a table's column stands. A column that the
// policy does not name, or none, is located at its table; a table that it does
// not name, at the file, with line 0.
func (c *Config) Locate(table catalog.Name, column string) Position {
	return c.places.locate(table, column)
}

// TLS is how client connections are encrypted.
type TLS struct {
	// Mode defaults to TLSRequire when there is a certificate, else to TLSOff.
	Mode TLSMode
	// CertFile and KeyFile are PEM files; a relative path starts at the
	// configuration's folder. Both are set unless Mode is TLSOff.
	CertFile string
	KeyFile  string
}

// TLSMode says whether clients encrypt.
type TLSMode string

// The modes.
const (
	TLSOff     TLSMode = "off"     // clients that ask for encryption are told there is none
	TLSAllow   TLSMode = "allow"   // clients choose
	TLSRequire TLSMode = "require" // clients that do not encrypt are refused
)

// String is the mode's name in a configuration.
func (m TLSMode) String() string { return string(m) }

// TemporaryTables says whether sessions may make temporary tables.
type TemporaryTables string

// The choices.
const (
	// TemporaryRefuse keeps every session read-only.
	TemporaryRefuse TemporaryTables = "refuse"
	// TemporaryAllow lets sessions make temporary tables of their own, fill, change and
	// drop them. Their transactions are then not read-only: what keeps them from writing
	// anything else is kproxy, and that the reader role has no right to.
	TemporaryAllow TemporaryTables = "allow"
)

// String is the choice's name in a configuration.
func (t TemporaryTables) String() string { return string(t) }

// User is a client that may log in.
type User struct {
	Name string
	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword.
	Verifier Secret
}

// Upstream is how kproxy reaches the database.
type Upstream struct {
	// Owner maintains the private store and the published relations, and replicates.
	Owner Connection
	// Reader runs the clients' statements; never the same role as Owner.
	Reader Connection
}

// Limits bound what one client can take.
type Limits struct {
	// MaxSessions is how many clients may be connected at once. Default 100.
	MaxSessions int
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
	Statement time.Duration // of one statement; 0 is no bound; default 0
	Idle      time.Duration // between a client's messages; 0 is no bound; default 0
	Shutdown  time.Duration // for running statements when kproxy stops; default 30 s
}

// Log is how kproxy reports.
type Log struct {
	Level  slog.Level // default info
	Format LogFormat  // default LogText
}

// LogFormat is the form of a log line.
type LogFormat string

// The formats.
const (
	LogText LogFormat = "text" // key=value
	LogJSON LogFormat = "json"
)

// String is the format's name in a configuration.
func (f LogFormat) String() string { return string(f) }

func defaults() Config {
	return Config{
		Listen:      "127.0.0.1:6432",
		TLS:         TLS{Mode: TLSOff},
		Publication: "kproxy",
		Slot:        "kproxy",
		Replication: Replication{
			Recovery: Resynchronize, Heartbeat: 10 * time.Second,
			Alarm: Alarm{Retained: 10 << 30, Behind: 5 * time.Minute},
		},
		TemporaryTables: TemporaryRefuse,
		Limits: Limits{
			MaxSessions:         100,
			MaxStatementBytes:   1 << 20,
			MaxMessageBytes:     16 << 20,
			MaxTokens:           50_000,
			MaxStatements:       1000,
			MaxDepth:            200,
			StatementCacheBytes: 16 << 20,
		},
		Timeouts: Timeouts{Login: 30 * time.Second, Connect: 10 * time.Second, Shutdown: 30 * time.Second},
		Log:      Log{Level: slog.LevelInfo, Format: LogText},
	}
}
