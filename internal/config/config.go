package config

import (
	"io/fs"
	"log/slog"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// Config is all that kproxy is told about one database. The tags of its fields declare the
// keys of the file: see [field].
type Config struct {
	// Listen is where clients connect: host:port, where port 0 takes a free one, or the
	// absolute path of a folder for a Unix socket.
	Listen []string `yaml:"listen" as:"listener" default:"127.0.0.1:6432" single:"yes" fix:"host:port, for example 127.0.0.1:6432, [::1]:6432 or :6432 for all interfaces, or the path of a folder for a Unix socket" doc:"Where clients connect: host:port, :6432 for all interfaces, or the absolute path of a folder for a Unix socket. Port 0 takes a free one."`
	// UnixSocketMode is for all by default: whoever connects must still log in.
	UnixSocketMode fs.FileMode   `yaml:"unix_socket_mode" as:"file mode" default:"0777" doc:"The permissions of Unix sockets, in octal digits."`
	ProxyProtocol  ProxyProtocol `yaml:"proxy_protocol" doc:"Load balancers that tell by the PROXY protocol, version 2, whose connections they pass on."`
	TLS            TLS           `yaml:"tls" doc:"How clients' connections are encrypted."`
	Database       string        `yaml:"database" as:"name" doc:"The name clients connect to. Without it: the owner's database."`
	// Users are at least one, unless AuthQuery finds them.
	Users     []User    `yaml:"users" each:"a user" fix:"- name: analyst, and verifier: under it as {kproxy password} prints it" doc:"Who may log in. {kproxy user add} writes an entry."`
	AuthQuery AuthQuery `yaml:"auth_query" doc:"How to find users who are not listed."`
	// Access are the rules that clients' logins go by; empty is a password of everybody.
	Access   []Rule   `yaml:"access" each:"a rule of access" fix:"a list of rules: - {from: [10.0.0.0/8], transport: tls, method: scram}, or remove the key" empty:"nobody can log in" doc:"From where and how clients may log in: the first rule that matches decides, and where none does, the login is refused. Without it: a password, from everywhere."`
	Throttle Throttle `yaml:"throttle" doc:"How long who fails to log in waits before the next attempt is answered; off has nobody wait."`
	// Source has an empty Host where the protected tables are in the owner's database.
	Source   SourceRoute `json:",omitzero" yaml:"source" section:"optional" omit:"hosts" doc:"How the database of the protected tables is reached, where that is not the owner's below: the source and its log are read, and nothing is written there but heartbeats. Without the section the protected tables are in the owner's database."`
	Upstream Upstream    `yaml:"upstream" need:"upstream: with an owner and a reader" doc:"How kproxy reaches the database, in roles that {kproxy setup} creates."`
	Release  Release     `json:",omitzero" yaml:"release" doc:"How the database of store and release is kept."`
	Pool     Pool        `yaml:"pool" doc:"How long connections to the database are kept for the next session."`
	// Publication and Slot are the names of kproxy's objects for logical replication.
	Publication string      `yaml:"publication" as:"name" default:"kproxy" doc:"The name of kproxy's publication in the source database."`
	Slot        string      `yaml:"slot" as:"slot" default:"kproxy" doc:"The name of kproxy's replication slot."`
	Replication Replication `yaml:"replication" doc:"How kproxy follows the database, and when it warns."`
	// Policy is what the keys of a policySection say.
	Policy          catalog.Policy
	TemporaryTables TemporaryTables `yaml:"temporary_tables" choices:"refuse allow" default:"refuse" doc:"Whether sessions may make temporary tables."`
	Limits          Limits          `yaml:"limits" doc:"What one client can take, and all of them together."`
	Answers         Answers         `yaml:"answers" doc:"Answers that are kept for who asks the same, for as long as nothing of what they were read from has changed."`
	Timeouts        Timeouts        `yaml:"timeouts" doc:"How long clients, statements and connections may take."`
	Log             Log             `yaml:"log" doc:"How kproxy reports."`
	// Metrics and Audit have an empty Listen and File where there are none.
	Metrics Metrics `json:",omitzero" yaml:"metrics" section:"optional" doc:"Metrics and probes; without the section there are none."`
	Audit   Audit   `json:",omitzero" yaml:"audit" section:"optional" doc:"The audit log; without the section there is none."`
	// Console has an empty Listen where there is none.
	Console Console `json:",omitzero" yaml:"console" section:"optional" doc:"The web console for operators; without the section there is none."`
	Verify  Verify  `json:",omitzero" yaml:"verify" doc:"How the process that applies proves what is published by itself."`

	places places
}

// ProxyProtocol says which load balancers tell whose connection it is that they pass on.
type ProxyProtocol struct {
	// From are the addresses of load balancers that speak the PROXY protocol, version 2.
	From []netip.Prefix `yaml:"from" as:"network" single:"yes" fix:"a list: [10.0.0.0/8, 192.168.1.7, \"fd00::/8\"], or remove the key" need:"from: with the addresses of your load balancers" doc:"Addresses and networks of the load balancers. They must speak the protocol, and nobody else may."`
}

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

// Log is how kproxy reports.
type Log struct {
	Level  slog.Level `yaml:"level" what:"log level" default:"info" doc:"What is logged at least."`
	Format LogFormat  `yaml:"format" what:"log format" choices:"text json" default:"text" doc:"The form of a line: text is key=value."`
}

// LogFormat is the form of a log line.
type LogFormat string

// The formats.
const (
	LogText LogFormat = "text" // key=value
	LogJSON LogFormat = "json"
)

// file is a configuration as it is written.
type file struct {
	Config `yaml:",inline"`
	Tables policySection `yaml:",inline" after:"replication"`
}

var fileSection = sync.OnceValue(func() *section { return sectionOf(reflect.TypeFor[file](), selection{}) })

// Locate says where the policy of a table's column stands. A column that the
// policy does not name, or none, is located at its table; a table that it does
// not name, at the file, with line 0.
func (c *Config) Locate(table catalog.Name, column string) Position {
	return c.places.locate(table, column)
}

// LocateSetting says where a setting stands, given by its keys as in upstream.owner.user.
// One that is not written is located at the nearest section around it, and without one at
// the file, with line 0.
func (c *Config) LocateSetting(path string) Position { return c.places.setting(path) }

// LocateHide finds the column below hide that hides a column from an audience, which is empty for the table's own
// readers. The line is 0 where nothing hides it from them.
func (c *Config) LocateHide(audience string, table catalog.Name, column string) Position {
	return c.places.hide(hiddenColumn{audience, table, column})
}

// check completes a configuration, and reports settings that do not go together.
func (f *file) check(d *decoder, root *yaml.Node, _ string) {
	f.Tables.check(d, root, "")
	c := &f.Config
	c.Policy = f.Tables.policy
	if c.Database == "" {
		c.Database = c.Upstream.Owner.Database
	}
	if d.at(&c.TLS) == nil {
		c.TLS.Mode = TLSOff
	}
	c.compareAuthQuery(d)
	d.places.note(root, "", 0)
	c.places = d.places
	c.Inherit()
	c.placeHosts(d)
	c.compareSource(d)
	f.compareMirrored(d)
	f.compareSeal(d)
	c.compareListeners(d)
	c.compareReaders(d)
	c.compareAudiences(d, f.Tables.Audiences)
	c.compareDistribute(d)
	c.compareUsers(d, root)
	c.compareRules(d)
}

func (c *Config) compareListeners(d *decoder) {
	if at := d.at(&c.ProxyProtocol); at != nil && !slices.ContainsFunc(c.Listen, isAddress) {
		d.wrong(at, "proxy_protocol is for TCP, and kproxy listens on Unix sockets alone", "remove it, or add host:port to listen")
	}
	if at := d.at(&c.UnixSocketMode); at != nil && !slices.ContainsFunc(c.Listen, path.IsAbs) {
		d.wrong(at, "unix_socket_mode is for Unix sockets, and listen names no folder for one", "add a folder to listen, for example /run/kproxy, or remove the key")
	}
	if at := d.at(&c.TLS.ClientCAFile); at != nil && c.TLS.ClientCAFile != "" && c.TLS.Mode == TLSOff {
		d.wrong(at, "clients show certificates by TLS alone, and tls mode is off", "write mode: require, or remove client_ca_file")
	}
}
