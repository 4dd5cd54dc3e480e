package config

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Connection is how kproxy reaches the database in one role.
type Connection struct {
	// Host is a name, an IP address or the absolute path of a socket's folder.
	Host     string
	Port     int // default 5432
	Database string
	User     string
	// SSLMode is one of libpq's; default prefer.
	SSLMode string
	// SSLRootCert is the path of a PEM file, or system; empty is libpq's default.
	SSLRootCert string
	// PasswordEnv or PasswordFile is where the password comes from; with
	// neither, PostgreSQL must let the role in without one, or a .pgpass file
	// must have it.
	PasswordEnv  string
	PasswordFile string
	// Password is what was found there.
	Password Secret
}

// ConnString is the connection as a libpq keyword/value string, password
// included: it is for connecting, never for showing.
func (c Connection) ConnString() string {
	pairs := []struct{ key, value string }{
		{"host", c.Host},
		{"port", strconv.Itoa(c.Port)},
		{"dbname", c.Database},
		{"user", c.User},
		{"sslmode", c.SSLMode},
		{"sslrootcert", c.SSLRootCert},
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
		var owner, reader *yaml.Node
		r.mapping(
			n, "upstream",
			field{key: "owner", need: "owner: with host, database and user", read: func(n *yaml.Node) { owner = n }},
			field{key: "reader", need: "reader: with another user", read: func(n *yaml.Node) { reader = n }},
		)
		to.Owner = Connection{Port: 5432, SSLMode: "prefer"}
		if owner != nil {
			r.connection(owner, "upstream.owner", &to.Owner, true)
		}
		// The reader is, but for who it is, where the owner is.
		to.Reader = to.Owner
		to.Reader.User, to.Reader.PasswordEnv, to.Reader.PasswordFile, to.Reader.Password = "", "", "", Secret{}
		if reader == nil {
			return
		}
		r.connection(reader, "upstream.reader", &to.Reader, false)
		if to.Reader.User != "" && to.Reader.User == to.Owner.User {
			r.wrong(r.follow(reader), "owner and reader are the same user, so that clients could read everything",
				"give the reader a user of its own; `kproxy setup` creates it")
		}
	}
}

func (r *reader) connection(n *yaml.Node, what string, to *Connection, whole bool) {
	need := func(text string) string {
		if whole {
			return text
		}
		return ""
	}
	r.mapping(
		n, what,
		field{key: "host", need: need("host: and the server's name"), read: r.host(&to.Host)},
		field{key: "port", read: r.storeInteger(&to.Port, "port", 1, 65535)},
		field{key: "database", need: need("database: and the database's name"), read: r.storeName(&to.Database, "database")},
		field{key: "user", need: "user: and the role's name", read: r.storeName(&to.User, "user")},
		field{key: "sslmode", read: r.sslMode(&to.SSLMode)},
		field{key: "sslrootcert", read: r.rootCert(&to.SSLRootCert)},
		field{key: "password_env", read: r.passwordEnv(to)},
		field{key: "password_file", read: r.passwordFile(to)},
		field{key: "password", refused: true, read: func(n *yaml.Node) {
			r.wrong(r.follow(n), "a password must not stand in the file", "write password_env: and a variable's name, or password_file: and a path")
		}},
	)
	if to.PasswordEnv != "" && to.PasswordFile != "" {
		r.wrong(r.follow(n), what+" has both password_env and password_file", "remove one of them")
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

func (r *reader) sslMode(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if mode, ok := choose[word](r, n, "sslmode", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"); ok {
			*to = mode.String()
		}
	}
}

func (r *reader) rootCert(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "sslrootcert")
		if !ok {
			return
		}
		if text != "system" {
			text = r.beside(text)
			r.contents(n, "sslrootcert", text)
		}
		*to = text
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
