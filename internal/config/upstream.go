package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Upstream is how kproxy reaches the database.
type Upstream struct {
	// Owner maintains the private store and the published relations, and replicates.
	Owner       Connection `yaml:"owner" what:"upstream.owner" omit:"hosts" need:"owner: with host, database and user" doc:"The role that keeps the private store, writes what is published, and replicates."`
	ReaderRoute `yaml:"reader" what:"upstream.reader" need:"reader: with another user" doc:"The role that runs what clients ask. What is not said here is as for the owner."`
	// Readers are further roles that run clients' statements, on the servers of Reader.
	Readers []Reader `yaml:"readers" what:"upstream.readers" each:"reader" doc:"Further reader roles, by names for users. They may do what the reader may."`
}

// ReaderRoute is the role that runs clients' statements, and the choice among its servers.
type ReaderRoute struct {
	// Reader is never the same role as the owner.
	Reader Connection `yaml:",inline" may:"host database" inherits:"yes"`
	// Prefer chooses among several servers.
	Prefer Prefer `yaml:"prefer" choices:"primary standby standby-only" default:"primary" doc:"Where sessions go: to the primary; to a standby, or the primary where none is fresh enough; or to standbys only."`
	// MaxStaleness bounds how old what a standby shows may be; 0 is no bound.
	MaxStaleness time.Duration `yaml:"max_staleness" default:"0s" range:"0s..24d" doc:"How old the oldest change may be that was committed at the source and that a statement does not see, 2s at least; 0s is no bound. It holds on the primary and on standbys. Where it is not known to be kept, no statement is served."`
}

// Connection is how kproxy reaches the database in one role.
type Connection struct {
	// Host is a name, an IP address or the absolute path of a socket's folder.
	Host string `yaml:"host" as:"host" need:"host: and the server's name" doc:"The server's name, IP address, or the absolute path of its socket's folder."`
	// Hosts are several servers of one database, in place of Host; empty is that one.
	Hosts    []Server `yaml:"hosts" as:"server" fix:"a list: [db1, \"db2:5433\", /run/postgresql], or host: and one name" empty:"there is no server" doc:"Several servers in place of host: the primary and its physical standbys. Which is which, kproxy finds out."`
	Port     int      `yaml:"port" default:"5432" range:"1..65535" doc:"The server's port."`
	Database string   `yaml:"database" as:"name" need:"database: and the database's name" doc:"The database's name."`
	SSLMode  string   `yaml:"sslmode" choices:"disable allow prefer require verify-ca verify-full" default:"prefer" doc:"Whether the connection is encrypted and the server's certificate verified, as in libpq."`
	// SSLRootCert is the path of a PEM file, or system; empty is libpq's default.
	SSLRootCert string `yaml:"sslrootcert" as:"root" doc:"A PEM file with the authorities of the server's certificate, or system. Without it: libpq's default."`
	// SSLNegotiation, ChannelBinding and RequireAuth are those of libpq; empty is libpq's
	// default.
	SSLNegotiation string `yaml:"sslnegotiation" choices:"postgres direct" doc:"How TLS begins, as in libpq; direct is understood from PostgreSQL 17 on."`
	ChannelBinding string `yaml:"channel_binding" choices:"disable prefer require" doc:"Whether SCRAM is bound to the TLS channel, as in libpq."`
	RequireAuth    string `yaml:"require_auth" as:"authentication" doc:"The ways in which the server may ask who connects, as in libpq: scram-sha-256, for example."`

	User string `yaml:"user" as:"name" need:"user: and the role's name" doc:"The role's name."`
	// PasswordEnv or PasswordFile is where the password comes from; with
	// neither, PostgreSQL must let the role in without one, or a .pgpass file
	// must have it.
	PasswordEnv  string `yaml:"password_env" as:"variable" doc:"The environment variable that has the password."`
	PasswordFile string `yaml:"password_file" as:"path" doc:"A file with the password alone on one line."`
	// Password is what was found there.
	Password Secret `yaml:"password" refused:"a password must not stand in the file" fix:"write password_env: and a variable's name, or password_file: and a path"`
	// SSLCert and SSLKey are the paths of the PEM files by which the role shows who it is;
	// both are set or none.
	SSLCert string `yaml:"sslcert" as:"path" doc:"A PEM file with the role's own certificate."`
	SSLKey  string `yaml:"sslkey" as:"path" doc:"A PEM file with that certificate's key."`

	// The contents of SSLRootCert, and of SSLCert and SSLKey.
	serverFiles, roleFiles digest
}

// SourceRoute is how the database of the protected tables is reached, where that is another one than the owner's.
type SourceRoute struct {
	Connection `yaml:",inline" omit:"hosts"`
	// Primary is the primary where the connection leads to a physical standby; its Host is empty where it leads to
	// a primary itself, and its Port 0 where that is the connection's.
	Primary Server `json:",omitzero" yaml:"primary" as:"server" doc:"The primary, with :port where it is another one, where host is its physical standby (PostgreSQL 16 and later): slot, decoding and reading are on the standby then, and only heartbeats are written at the primary. All else is as for the standby."`
}

// check is that of the connection.
func (s *SourceRoute) check(d *decoder, n *yaml.Node, what string) { s.Connection.check(d, n, what) }

// HasPrimary reports whether the source is a standby, whose primary is known.
func (c *Config) HasPrimary() bool { return c.IsApart() && c.Source.Primary.Host != "" }

// AtPrimary returns how the primary of the protected tables is reached: where the source is its standby, with
// the same role, else as AtSource.
func (c *Config) AtPrimary() Connection {
	at := c.AtSource()
	if c.HasPrimary() {
		at.Host = c.Source.Primary.Host
		if c.Source.Primary.Port != 0 {
			at.Port = c.Source.Primary.Port
		}
	}
	return at
}

// IsApart reports whether the protected tables are in another database than store and release.
func (c *Config) IsApart() bool { return c.Source.Host != "" }

// AtSource returns how the database of the protected tables is reached: by Source, or as the owner.
func (c *Config) AtSource() Connection {
	if c.IsApart() {
		return c.Source.Connection
	}
	return c.Upstream.Owner
}

// compareSource refuses a source that is the owner's database, to which there is one connection, and
// roles of one server that cannot be both: a server has one password for a role, and one that clients'
// statements run as must not replicate.
func (c *Config) compareSource(d *decoder) {
	owner, source, primary := c.Upstream.Owner, c.Source.Connection, c.AtPrimary()
	if !c.IsApart() {
		return
	}
	if c.HasPrimary() && source.Host == primary.Host && source.Port == primary.Port {
		d.wrong(d.at(&c.Source.Primary), "source and source.primary are the same server", "remove primary, or let host lead to its standby")
		return
	}
	shares := func(other Connection) bool {
		return source.Host == other.Host && source.Port == other.Port || primary.Host == other.Host && primary.Port == other.Port
	}
	if shares(owner) && source.Database == owner.Database {
		d.wrong(d.at(&c.Source), "source and upstream.owner are the same database", "remove source, or write another host, port or database; docs/apart.md says what goes where")
		return
	}
	if shares(owner) && source.User == owner.User && source.Password.Reveal() != owner.Password.Reveal() {
		d.wrong(d.at(&c.Source.User), "source and upstream.owner give role "+source.User+" of one server two passwords",
			"name the same password in both, or give the source a user of its own")
	}
	clients := []Connection{c.Upstream.Reader}
	for _, further := range c.Upstream.Readers {
		clients = append(clients, further.Connection)
	}
	if slices.ContainsFunc(clients, func(reader Connection) bool { return reader.User == source.User && shares(reader) }) {
		d.wrong(d.at(&c.Source.User), "source has the user of a reader of the same server, so that clients' role could read what is protected",
			"give the source a user of its own; `kproxy setup` creates it")
	}
}

// ConnString is the connection as a libpq keyword/value string, password
// included: it is for connecting, never for showing.
func (c Connection) ConnString() string {
	var hosts, ports []string
	for _, server := range c.Servers() {
		hosts, ports = append(hosts, server.Host), append(ports, strconv.Itoa(server.Port))
	}
	pairs := []struct{ key, value string }{
		{"host", strings.Join(hosts, ",")},
		{"port", strings.Join(ports, ",")},
		{"dbname", c.Database},
		{"user", c.User},
		{"sslmode", c.SSLMode},
		{"sslrootcert", c.SSLRootCert},
		{"sslcert", c.SSLCert},
		{"sslkey", c.SSLKey},
		{"sslnegotiation", c.SSLNegotiation},
		{"channel_binding", c.ChannelBinding},
		{"require_auth", c.RequireAuth},
		{"password", c.Password.Reveal()},
	}
	var parts []string
	for _, p := range pairs {
		if p.value != "" {
			parts = append(parts, p.key+"="+quoteValue(p.value))
		}
	}
	return strings.Join(parts, " ")
}

// quoteValue quotes a connection string's value (PostgreSQL, chapter Connection Strings).
func quoteValue(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

func (u *Upstream) check(d *decoder, _ *yaml.Node, _ string) {
	owner := &u.Owner
	if at := d.at(&u.ReaderRoute); at != nil && u.Reader.User != "" && u.Reader.User == owner.User {
		d.wrong(at, "owner and reader are the same user, so that clients could read everything",
			"give the reader a user of its own; `kproxy setup` creates it")
	}
	roles := map[string]string{owner.User: "the owner", u.Reader.User: "upstream.reader"}
	for i := range u.Readers {
		further := &u.Readers[i]
		name := "reader " + further.Name
		if other, taken := roles[further.Connection.User]; taken && further.Connection.User != "" {
			d.wrong(d.at(further), name+" is the same user as "+other, "give it a user of its own; `kproxy setup` creates it")
		}
		roles[further.Connection.User] = name
	}
}

func (c *Connection) check(d *decoder, n *yaml.Node, what string) {
	if c.PasswordEnv != "" && c.PasswordFile != "" {
		d.wrong(n, what+" has both password_env and password_file", "remove one of them")
	}
	if (c.SSLCert == "") != (c.SSLKey == "") {
		d.wrong(n, what+" has sslcert or sslkey alone", "write both, with the paths of PEM files")
	}
	if d.around == nil {
		return
	}
	for _, file := range []struct {
		path *string
		name string
		to   *digest
	}{{&c.SSLRootCert, "sslrootcert", &c.serverFiles}, {&c.SSLCert, "sslcert", &c.roleFiles}, {&c.SSLKey, "sslkey", &c.roleFiles}} {
		if *file.path == "" || *file.path == "system" {
			continue
		}
		if text, ok := d.contents(d.at(file.path), file.name, *file.path); ok {
			file.to.add(text)
		}
	}
	if c.PasswordEnv != "" {
		if password, set := d.around.lookupEnv(c.PasswordEnv); set && password != "" {
			c.Password = NewSecret(password)
		} else {
			d.wrong(d.at(&c.PasswordEnv), "environment variable "+c.PasswordEnv+" is not set", "set it before kproxy starts, or use password_file")
		}
	}
	if c.PasswordFile != "" {
		c.readPassword(d)
	}
}

// maxPasswordBytes is far above what a password can be.
const maxPasswordBytes = 4096

func (c *Connection) readPassword(d *decoder) {
	at := d.at(&c.PasswordFile)
	text, ok := d.contents(at, "password_file", c.PasswordFile)
	if !ok {
		return
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if password == "" || len(password) > maxPasswordBytes || strings.ContainsAny(password, "\x00\r\n") {
		d.wrong(at, "password_file is not a file with a password on one line", "write the password alone into it")
		return
	}
	c.Password = NewSecret(password)
}
