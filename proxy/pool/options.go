package pool

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Prefer is the choice among several servers.
type Prefer int

// The values of Prefer.
const (
	PreferPrimary Prefer = iota // the primary alone
	PreferStandby               // a standby that is fresh enough, else the primary
	OnlyStandby                 // a standby that is fresh enough, else none
)

// Options are the limits of a [Pool] and its choice among servers. A zero value means the default given.
type Options struct {
	// MaxConnections caps the connections to all servers together, whether in use or
	// kept for the next session; 0 = 500.
	MaxConnections int

	// MaxPerUser caps the connections in use by one user; 0 = no cap of its own.
	MaxPerUser int

	// MaxQueue caps the sessions that wait for a connection; 0 = MaxConnections,
	// negative = none waits. Further ones are refused at once.
	MaxQueue int

	// QueueTimeout is how long a session waits for its turn; 0 = 10 s.
	QueueTimeout time.Duration

	// MaxDials caps the connections being made at a time; 0 = 16.
	MaxDials int

	// ConnectTimeout bounds making one connection, all servers that are tried
	// included, and the reset of one; 0 = 10 s.
	ConnectTimeout time.Duration

	// IdleTimeout is how long a connection is kept for the next session; 0 = 5 min,
	// negative = connections are not reused.
	IdleTimeout time.Duration

	// Lifetime is the age, give or take a tenth, at which a connection is no longer
	// reused; 0 = 1 h.
	Lifetime time.Duration

	// Prefer chooses among several servers; with one it must be PreferPrimary.
	Prefer Prefer

	// MaxStaleness bounds the age of the oldest change that is committed at the source but not
	// visible on a server; 0 = no bound. It needs references and is at least 2 s. If it cannot be
	// verified, for example because no reference was taken, nothing is served.
	MaxStaleness time.Duration
}

// Config is the configuration of a [Pool].
type Config struct {
	// Roles are the connections by the name of the role in [Want], made by
	// pgconn.ParseConfig; required. The main one is "", as which the servers are
	// watched as well. All name the same servers (Host, Port and Fallbacks). Their
	// RuntimeParams are pinned: they win over those of a Want.
	Roles map[string]*pgconn.Config

	Options

	// Referred has hosts serve only as long as they are known to be the server that kproxy
	// writes to, or to follow it: see [Pool.Refer], which is to be called every [Pace].
	// Several hosts need it. Without it the one host is what it is.
	Referred bool

	// Logger gets what happens to servers and to connections that are not reused,
	// never statements, values or secrets; nil discards.
	Logger *slog.Logger
}

const (
	defaultMaxConnections = 500
	defaultQueueTimeout   = 10 * time.Second
	defaultMaxDials       = 16
	defaultConnectTimeout = 10 * time.Second
	defaultIdleTimeout    = 5 * time.Minute
	defaultLifetime       = time.Hour

	// leastStaleness leaves room for the interval at which the servers are asked.
	leastStaleness = 2 * time.Second
)

// withDefaults returns o with zero values replaced.
func (o Options) withDefaults() Options {
	orInt := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	orDuration := func(value *time.Duration, otherwise time.Duration) {
		if *value == 0 {
			*value = otherwise
		}
	}
	orInt(&o.MaxConnections, defaultMaxConnections)
	orInt(&o.MaxPerUser, math.MaxInt)
	orInt(&o.MaxQueue, o.MaxConnections)
	orInt(&o.MaxDials, defaultMaxDials)
	orDuration(&o.QueueTimeout, defaultQueueTimeout)
	orDuration(&o.ConnectTimeout, defaultConnectTimeout)
	orDuration(&o.IdleTimeout, defaultIdleTimeout)
	orDuration(&o.Lifetime, defaultLifetime)
	return o
}

// Check returns all mistakes in c, joined, or nil.
func (c Config) Check() error {
	c.Options = c.withDefaults()
	var mistakes []error
	wrong := func(format string, args ...any) {
		mistakes = append(mistakes, fmt.Errorf("pool: "+format, args...))
	}
	if c.MaxConnections < 0 || c.MaxPerUser < 0 || c.MaxDials < 0 {
		wrong("a cap is negative")
	}
	if c.QueueTimeout < 0 || c.ConnectTimeout < 0 || c.Lifetime < 0 {
		wrong("a time is negative")
	}
	if c.Prefer < PreferPrimary || c.Prefer > OnlyStandby {
		wrong("Prefer is %d, which is none of its values", c.Prefer)
	}
	if c.MaxStaleness != 0 && c.MaxStaleness < leastStaleness {
		wrong("MaxStaleness is %v; it must be at least %v", c.MaxStaleness, leastStaleness)
	}
	main := c.Roles[""]
	if main == nil {
		wrong("the main role is missing")
		return errors.Join(mistakes...)
	}
	servers := addresses(main)
	if len(servers) == 1 && c.Prefer != PreferPrimary {
		wrong("Prefer is for several servers")
	}
	if !c.Referred && (len(servers) > 1 || c.MaxStaleness != 0) {
		wrong("several servers, and MaxStaleness, need references")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Roles)) {
		role := c.Roles[name]
		switch {
		case role == nil:
			wrong("role %q has no connection", name)
		case !slices.Equal(addresses(role), servers):
			wrong("role %q names other servers than the main one", name)
		case bytesOf(effective(nil, role.RuntimeParams))+len(role.User)+len(role.Database)+64 > maxRoleBytes:
			wrong("role %q has more parameters than fit into a startup packet", name)
		case role.Database != main.Database:
			wrong("role %q is on another database than the main one", name)
		}
	}
	return errors.Join(mistakes...)
}

// address is where a server listens: a name, an IP address or the folder of a Unix
// socket, and a port.
type address struct {
	host string
	port uint16
}

// addresses returns the servers of c in their order, each once.
func addresses(c *pgconn.Config) []address {
	all := []address{{c.Host, c.Port}}
	for _, f := range c.Fallbacks {
		if a := (address{f.Host, f.Port}); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// only returns a copy of c that leads only to server a.
func (a address) only(c *pgconn.Config) *pgconn.Config {
	only := c.Copy()
	var ways []*pgconn.FallbackConfig // with TLS and without, as sslmode has it
	for _, way := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if (address{way.Host, way.Port}) == a {
			ways = append(ways, way)
		}
	}
	only.Host, only.Port, only.TLSConfig, only.Fallbacks = a.host, a.port, ways[0].TLSConfig, ways[1:]
	return only
}
