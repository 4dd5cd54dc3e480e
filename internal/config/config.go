package config

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/scram"
)

// Config is all that kproxy is told about one database.
type Config struct {
	// Listen is where clients connect: host:port, where port 0 takes a free one, or the
	// absolute path of a folder for a Unix socket. Default 127.0.0.1:6432.
	Listen []string
	// UnixSocketMode are the permissions of Unix sockets. Default 0777: whoever connects
	// must still log in.
	UnixSocketMode fs.FileMode
	ProxyProtocol  ProxyProtocol
	TLS            TLS
	// Database is the name clients connect to. Default: the owner's database.
	Database string
	// Users are the clients that may log in; at least one, but where AuthQuery finds them.
	Users     []User
	AuthQuery AuthQuery
	// Access are the rules that clients' logins go by, the first that matches deciding.
	// Default: a password of everybody.
	Access   []Rule
	Throttle Throttle
	Upstream Upstream
	Pool     Pool
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
	// Console is the operator's web console; its Listen is empty without one.
	Console Console `json:",omitzero"`
	Verify  Verify  `json:",omitzero"`
	// Metrics and Audit have an empty Listen and File where there are none.
	Metrics Metrics `json:",omitzero"`
	Audit   Audit   `json:",omitzero"`

	places places
}

// Locate says where the policy of a table's column stands. A column that the
// policy does not name, or none, is located at its table; a table that it does
// not name, at the file, with line 0.
func (c *Config) Locate(table catalog.Name, column string) Position {
	return c.places.locate(table, column)
}

// LocateSetting says where a setting stands, given by its keys as in upstream.owner.user.
// Of one that is not written the nearest section around it is told, and without one the
// file, with line 0.
func (c *Config) LocateSetting(path string) Position { return c.places.setting(path) }

// TLS is how client connections are encrypted.
type TLS struct {
	// Mode defaults to TLSRequire when there is a certificate, else to TLSOff.
	Mode TLSMode
	// CertFile and KeyFile are PEM files; a relative path starts at the
	// configuration's folder. Both are set unless Mode is TLSOff.
	CertFile string
	KeyFile  string
	// ClientCAFile holds the certificates of the authorities that sign clients'
	// certificates, in PEM. It is set where a rule of Access asks for one.
	ClientCAFile string

	files digest
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
		Listen:         []string{"127.0.0.1:6432"},
		UnixSocketMode: 0o777,
		TLS:            TLS{Mode: TLSOff},
		Publication:    "kproxy",
		Slot:           "kproxy",
		Replication: Replication{
			Recovery: Resynchronize, Heartbeat: 10 * time.Second,
			Alarm: Alarm{Retained: 10 << 30, Behind: 5 * time.Minute},
		},
		TemporaryTables: TemporaryRefuse,
		AuthQuery:       AuthQuery{Timeout: 5 * time.Second, Lifetime: 5 * time.Second, Iterations: scram.MinIterations},
		Throttle:        Throttle{Free: 5, Delay: 250 * time.Millisecond, MaxDelay: 10 * time.Second, Forget: 30 * time.Second},
		Upstream:        Upstream{Prefer: PreferPrimary},
		Pool:            Pool{Idle: 5 * time.Minute, Lifetime: time.Hour},
		Limits: Limits{
			MaxSessions:         100,
			MaxWaiting:          100,
			MaxLogins:           1000,
			MaxLoginsPerAddress: 500,
			MaxStatementBytes:   1 << 20,
			MaxMessageBytes:     16 << 20,
			MaxTokens:           50_000,
			MaxStatements:       1000,
			MaxDepth:            200,
			StatementCacheBytes: 16 << 20,
		},
		Timeouts: Timeouts{Login: 30 * time.Second, Connect: 10 * time.Second, Queue: 10 * time.Second, Shutdown: 30 * time.Second},
		Log:      Log{Level: slog.LevelInfo, Format: LogText},
	}
}
