package config

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Server is where a PostgreSQL server listens.
type Server struct {
	Host string // a name, an IP address or the absolute path of a socket's folder
	Port int
}

// Servers are those that the connection may lead to; one at least.
func (c Connection) Servers() []Server {
	if len(c.Hosts) > 0 {
		return c.Hosts
	}
	return []Server{{c.Host, c.Port}}
}

// Reader is a further reader role.
type Reader struct {
	// Name is what users and auth_query call it by.
	Name string `yaml:",name" what:"a reader's name" as:"name"`
	// Connection is, but for who connects, that of Upstream.Reader.
	Connection Connection `yaml:",inline" only:"user password password_env password_file sslcert sslkey"`
	// Reads says of a reader in no audience that its users read the finest release.
	Reads Reads `json:",omitempty" yaml:"reads" choices:"tables" doc:"That the reader's users, who are in no audience, read what tables says. Where there are audiences, each reader is in one of them or says so."`
}

// Reads says what the users of a reader in no audience read.
type Reads string

// ReadsTables has them read what tables says.
const ReadsTables Reads = "tables"

func (r *Reader) check(d *decoder, n *yaml.Node, what string) { r.Connection.check(d, n, what) }

// Finest are the roles of the readers that are meant to read the finest release.
func (c *Config) Finest() (roles []string) {
	for _, r := range c.Upstream.Readers {
		if r.Reads == ReadsTables {
			roles = append(roles, r.Connection.User)
		}
	}
	return roles
}

// Prefer chooses among several servers.
type Prefer string

// The choices.
const (
	PreferPrimary Prefer = "primary"      // the primary alone
	PreferStandby Prefer = "standby"      // a standby that is fresh enough, else the primary
	OnlyStandby   Prefer = "standby-only" // a standby that is fresh enough, else none
)

// leastStaleness leaves room for the second between two looks at each server.
const leastStaleness = 2 * time.Second

func (r *ReaderRoute) check(d *decoder, n *yaml.Node, what string) {
	r.Reader.check(d, n, what)
	if r.MaxStaleness > 0 && r.MaxStaleness < leastStaleness {
		d.wrong(d.at(&r.MaxStaleness), "max_staleness is shorter than it can be told", "write at least "+leastStaleness.String()+": the servers are asked every second")
	}
	if at := d.at(&r.Reader.Hosts); at != nil && d.at(&r.Reader.Host) != nil {
		d.wrong(at, "upstream.reader has both host and hosts", "remove host")
	}
}

// placeHosts gives those of several servers a port that have none.
func (c *Config) placeHosts(d *decoder) {
	reader := &c.Upstream.Reader
	for i := range reader.Hosts {
		server := &reader.Hosts[i]
		if server.Port == 0 {
			server.Port = reader.Port
		}
		if slices.Contains(reader.Hosts[:i], *server) {
			d.wrong(d.at(server), "hosts names a server twice", "remove one of them")
		}
	}
}

// compareReaders sees to it that readers which are named are there, and that several
// servers are chosen among only where there are several.
func (c *Config) compareReaders(d *decoder) {
	c.compareReader(d, &c.AuthQuery.Reader, "auth_query's reader")
	for i := range c.Users {
		c.compareReader(d, &c.Users[i].Reader, "a user's reader")
	}
	prefer := d.at(&c.Upstream.Prefer)
	if prefer == nil || c.Upstream.Prefer == PreferPrimary {
		return
	}
	if len(c.Upstream.Reader.Servers()) == 1 {
		d.wrong(prefer, "prefer is for several servers, and upstream.reader has one", "write hosts: with the primary and its standbys, or remove the key")
	} else if c.TemporaryTables == TemporaryAllow {
		d.wrong(prefer, "standbys make no temporary tables, which temporary_tables: allow promises", "write prefer: primary, or temporary_tables: refuse")
	}
}

func (c *Config) compareReader(d *decoder, name *string, what string) {
	var known []string
	for _, further := range c.Upstream.Readers {
		known = append(known, further.Name)
	}
	if *name == "" || slices.Contains(known, *name) {
		return
	}
	fix := suggestion(*name, known, "upstream.readers has")
	if len(known) == 0 {
		fix = "write upstream.readers: with " + *name + ": and its user under it, or remove the key"
	}
	d.wrong(d.at(name), what+" is "+quote(*name)+", but there is no such reader", fix)
}
