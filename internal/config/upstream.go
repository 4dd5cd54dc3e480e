package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Upstream is how kproxy reaches the database.
type Upstream struct {
	// Owner maintains the private store and the published relations, and replicates.
	Owner Connection
	// Reader runs the clients' statements; never the same role as Owner.
	Reader Connection
	// Readers are further roles that run clients' statements, on the servers of Reader.
	Readers []Reader
	// Prefer chooses among several servers of Reader. Default PreferPrimary.
	Prefer Prefer
	// MaxStaleness bounds how old what a standby shows may be; 0 is no bound. Default 0.
	MaxStaleness time.Duration
}

// Connection is how kproxy reaches the database in one role.
type Connection struct {
	// Host is a name, an IP address or the absolute path of a socket's folder.
	Host string
	Port int // default 5432
	// Hosts are several servers of one database, a primary and its standbys, in place of
	// Host; empty is that one.
	Hosts    []Server
	Database string
	User     string
	// SSLMode is one of libpq's; default prefer.
	SSLMode string
	// SSLRootCert is the path of a PEM file, or system; empty is libpq's default.
	SSLRootCert string
	// SSLCert and SSLKey are the paths of the PEM files by which the role shows who it is;
	// both are set or none.
	SSLCert string
	SSLKey  string
	// SSLNegotiation, ChannelBinding and RequireAuth are those of libpq; empty is libpq's
	// default.
	SSLNegotiation string
	ChannelBinding string
	RequireAuth    string
	// PasswordEnv or PasswordFile is where the password comes from; with
	// neither, PostgreSQL must let the role in without one, or a .pgpass file
	// must have it.
	PasswordEnv  string
	PasswordFile string
	// Password is what was found there.
	Password Secret

	// The contents of SSLRootCert, and of SSLCert and SSLKey.
	serverFiles, roleFiles digest
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

func (r *reader) upstream(to *Upstream) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var owner, reader, further *yaml.Node
		r.mapping(
			n, "upstream",
			field{key: "owner", doc: "The role that keeps the private store, writes what is published, and replicates.", need: "owner: with host, database and user", read: func(n *yaml.Node) { owner = n }},
			field{key: "reader", doc: "The role that runs what clients ask. What is not said here is as for the owner.", need: "reader: with another user", read: func(n *yaml.Node) { reader = n }},
			field{key: "readers", doc: "Further reader roles, by names for users. They may do what the reader may.", read: func(n *yaml.Node) { further = n }},
		)
		to.Owner = Connection{Port: 5432, SSLMode: "prefer"}
		if owner != nil {
			host := field{key: "host", doc: "The server's name, IP address, or the absolute path of its socket's folder.", need: "host: and the server's name", read: r.host(&to.Owner.Host)}
			r.connection(owner, "upstream.owner", &to.Owner,
				slices.Concat([]field{host}, r.place(&to.Owner, "database: and the database's name"), r.role(&to.Owner)))
		}
		// The reader is, but for who it is, where the owner is.
		to.Reader = to.Owner.as()
		if reader != nil {
			r.reader(reader, to)
		}
		if further != nil {
			r.readers(further, to)
		}
	}
}

// as is the connection without who connects.
func (c Connection) as() Connection {
	c.User, c.PasswordEnv, c.PasswordFile, c.Password, c.SSLCert, c.SSLKey, c.roleFiles = "", "", "", Secret{}, "", "", digest{}
	return c
}

// connection reads the keys of a connection.
func (r *reader) connection(n *yaml.Node, what string, to *Connection, fields []field) {
	r.mapping(n, what, fields...)
	if to.PasswordEnv != "" && to.PasswordFile != "" {
		r.wrong(r.follow(n), what+" has both password_env and password_file", "remove one of them")
	}
	if (to.SSLCert == "") != (to.SSLKey == "") {
		r.wrong(r.follow(n), what+" has sslcert or sslkey alone", "write both, with the paths of PEM files")
	}
}

// place are the keys that say where the database is, with what to write where it has no
// name.
func (r *reader) place(to *Connection, needDatabase string) []field {
	return []field{
		{key: "port", doc: "The server's port.", read: r.storeInteger(&to.Port, "port", 1, 65535)},
		{key: "database", doc: "The database's name.", need: needDatabase, read: r.storeName(&to.Database, "database")},
		{key: "sslmode", doc: "Whether the connection is encrypted and the server's certificate verified, as in libpq.", read: r.oneOf(&to.SSLMode, "sslmode", "disable", "allow", "prefer", "require", "verify-ca", "verify-full")},
		{key: "sslrootcert", doc: "A PEM file with the authorities of the server's certificate, or system. Without it: libpq's default.", read: r.rootCert(to)},
		{key: "sslnegotiation", doc: "How TLS begins, as in libpq; direct is understood from PostgreSQL 17 on.", read: r.oneOf(&to.SSLNegotiation, "sslnegotiation", "postgres", "direct")},
		{key: "channel_binding", doc: "Whether SCRAM is bound to the TLS channel, as in libpq.", read: r.oneOf(&to.ChannelBinding, "channel_binding", "disable", "prefer", "require")},
		{key: "require_auth", doc: "The ways in which the server may ask who connects, as in libpq: scram-sha-256, for example.", read: r.requireAuth(&to.RequireAuth)},
	}
}

// role are the keys that say as whom to connect.
func (r *reader) role(to *Connection) []field {
	return []field{
		{key: "user", doc: "The role's name.", need: "user: and the role's name", read: r.storeName(&to.User, "user")},
		{key: "password_env", doc: "The environment variable that has the password.", read: r.passwordEnv(to)},
		{key: "password_file", doc: "A file with the password alone on one line.", read: r.passwordFile(to)},
		{key: "sslcert", doc: "A PEM file with the role's own certificate.", read: r.existing(to, &to.SSLCert, "sslcert")},
		{key: "sslkey", doc: "A PEM file with that certificate's key.", read: r.existing(to, &to.SSLKey, "sslkey")},
		{key: "password", refused: true, read: func(n *yaml.Node) {
			r.wrong(r.follow(n), "a password must not stand in the file", "write password_env: and a variable's name, or password_file: and a path")
		}},
	}
}

// existing reads the path of a file that must be readable.
func (r *reader) existing(of *Connection, to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.path(to, what)(n)
		if *to == "" {
			return
		}
		if text, ok := r.contents(n, what, *to); ok {
			of.roleFiles.add(text)
		}
	}
}

func (r *reader) host(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "host")
		if !ok {
			return
		}
		if !isHost(text) && !path.IsAbs(text) {
			r.wrong(r.follow(n), "host is not a host", "write a name, an IP address or a socket's folder alone; port, user and database have keys of their own")
			return
		}
		*to = text
	}
}

// oneOf reads one of libpq's words.
func (r *reader) oneOf(to *string, what string, choices ...word) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.textByDefault(n, *to)
		if choice, ok := choose(r, n, what, choices...); ok {
			*to = choice.String()
		}
	}
}

var authMethods = regexp.MustCompile(`^!?[a-z0-9-]+(,!?[a-z0-9-]+)*$`)

// requireAuth reads libpq's list of the ways in which a server may ask who connects.
func (r *reader) requireAuth(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "require_auth")
		if !ok {
			return
		}
		if !authMethods.MatchString(text) {
			r.wrong(r.follow(n), "require_auth is not a list of authentication methods", "write for example scram-sha-256")
			return
		}
		*to = text
	}
}

func (r *reader) rootCert(to *Connection) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "sslrootcert")
		if !ok {
			return
		}
		if text != "system" {
			text = r.beside(text)
			if certificates, ok := r.contents(n, "sslrootcert", text); ok {
				to.serverFiles = digest{}
				to.serverFiles.add(certificates)
			}
		}
		to.SSLRootCert = text
	}
}

// variableName is narrower than what systems allow, so that a password written
// in the name's place is not taken for one and repeated in a message.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func (r *reader) passwordEnv(to *Connection) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "password_env")
		if !ok {
			return
		}
		if !variableName.MatchString(text) {
			r.wrong(r.follow(n), "password_env is not the name of an environment variable", "write its name in capital letters, digits and _, not the password")
			return
		}
		to.PasswordEnv = text
		if r.around == nil {
			return
		}
		password, set := r.around.lookupEnv(text)
		if !set || password == "" {
			r.wrong(r.follow(n), fmt.Sprintf("environment variable %s is not set", text), "set it before kproxy starts, or use password_file")
			return
		}
		to.Password = NewSecret(password)
	}
}

// maxPasswordBytes is far above what a password can be.
const maxPasswordBytes = 4096

func (r *reader) passwordFile(to *Connection) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.path(&to.PasswordFile, "password_file")(n)
		if to.PasswordFile == "" {
			return
		}
		text, ok := r.contents(n, "password_file", to.PasswordFile)
		if !ok {
			return
		}
		password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if password == "" || len(password) > maxPasswordBytes || strings.ContainsAny(password, "\x00\r\n") {
			r.wrong(r.follow(n), "password_file is not a file with a password on one line", "write the password alone into it")
			return
		}
		to.Password = NewSecret(password)
	}
}

var slotName = regexp.MustCompile(`^[a-z0-9_]+$`)

func (r *reader) slot(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.textByDefault(n, *to)
		text, ok := r.name(n, "slot")
		if !ok {
			return
		}
		if !slotName.MatchString(text) {
			r.wrong(r.follow(n), "slot is not a name for a replication slot", "use lower-case letters, digits and _ only")
			return
		}
		*to = text
	}
}
