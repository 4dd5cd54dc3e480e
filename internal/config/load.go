package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// surroundings are the environment and the files that a configuration speaks of.
type surroundings struct {
	lookupEnv func(name string) (string, bool)
	// readFile returns at most maxFileBytes + 1 bytes of a file.
	readFile func(path string) ([]byte, error)
}

func machine() *surroundings { return &surroundings{lookupEnv: os.LookupEnv, readFile: readFile} }

// Load reads a configuration file, and the passwords, certificates and
// taxonomies it speaks of. The error is an [Errors].
func Load(path string) (*Config, error) { return load(path, machine()) }

func load(path string, around *surroundings) (*Config, error) {
	text, err := around.readFile(path)
	if err != nil {
		return nil, Errors{{File: path, What: "cannot be read: " + cause(err), Fix: startFrom}}
	}
	return parse(path, text, around)
}

// Parse reads a configuration from its text. It looks at nothing else: no
// password is read, and [Secret.IsSet] is false for those of Upstream; a taxonomy
// in a file of its own is left empty. File is used in messages, and its folder is
// where relative paths start. The error is an [Errors].
func Parse(file string, text []byte) (*Config, error) { return parse(file, text, nil) }

func parse(file string, text []byte, around *surroundings) (*Config, error) {
	r := newReader(file, around)
	c := defaults()
	if root := r.document(text); root != nil {
		r.config(root, &c)
		if len(r.problems) == 0 {
			r.places.note(root, "", 0)
		}
	}
	c.places = r.places
	if err := r.problems.asError(file); err != nil {
		return nil, err
	}
	return &c, nil
}

func (r *reader) config(root *yaml.Node, c *Config) {
	r.mapping(
		root, "the configuration",
		field{key: "listen", doc: "Where clients connect: host:port, :6432 for all interfaces, or the absolute path of a folder for a Unix socket. Port 0 takes a free one.", read: r.marked("listen", r.listen(&c.Listen))},
		field{key: "unix_socket_mode", doc: "The permissions of Unix sockets, in octal digits.", read: r.marked("unix_socket_mode", r.socketMode(&c.UnixSocketMode))},
		field{key: "proxy_protocol", doc: "Load balancers that tell by the PROXY protocol, version 2, whose connections they pass on.", read: r.marked("proxy_protocol", r.proxyProtocol(&c.ProxyProtocol))},
		field{key: "tls", doc: "How clients' connections are encrypted.", read: r.tls(&c.TLS)},
		field{key: "database", doc: "The name clients connect to. Without it: the owner's database.", read: r.storeName(&c.Database, "database")},
		field{key: "users", doc: "Who may log in. `kproxy user add` writes an entry.", read: r.marked("users", r.users(&c.Users))},
		field{key: "auth_query", doc: "How to find users who are not listed.", read: r.marked("auth_query", r.authQuery(&c.AuthQuery))},
		field{key: "access", doc: "From where and how clients may log in: the first rule that matches decides, and where none does, the login is refused. Without it: a password, from everywhere.", read: r.access(&c.Access)},
		field{key: "throttle", doc: "How long who fails to log in waits before the next attempt is answered; off has nobody wait.", read: r.throttle(&c.Throttle)},
		field{key: "upstream", doc: "How kproxy reaches the database, in roles that `kproxy setup` creates.", need: "upstream: with an owner and a reader", read: r.upstream(&c.Upstream)},
		field{key: "pool", doc: "How long connections to the database are kept for the next session.", read: r.pool(&c.Pool)},
		field{key: "publication", doc: "The name of kproxy's publication in the source database.", read: r.storeName(&c.Publication, "publication")},
		field{key: "slot", doc: "The name of kproxy's replication slot.", read: r.slot(&c.Slot)},
		field{key: "replication", doc: "How kproxy follows the database, and when it warns.", read: r.replication(&c.Replication)},
		field{key: "tables", doc: "The protected tables, as schema.table in the case PostgreSQL stores, each with its policy.", need: "tables: with one table or more to protect", read: r.tables(&c.Policy.Tables, true)},
		field{key: "readable", doc: "Tables that are not protected, which clients may read and join with, and views. A view over protected tables is published from what its tables publish.", read: r.readable(&c.Policy.Readable)},
		field{key: "functions", doc: "Functions that clients may call besides PostgreSQL's own, as schema.function, in all their overloads.", read: r.functions(&c.Policy.Functions)},
		field{key: "temporary_tables", doc: "Whether sessions may make temporary tables.", read: r.temporaryTables(&c.TemporaryTables)},
		field{key: "limits", doc: "What one client can take, and all of them together.", read: r.limits(&c.Limits)},
		field{key: "timeouts", doc: "How long clients, statements and connections may take.", read: r.timeouts(&c.Timeouts)},
		field{key: "log", doc: "How kproxy reports.", read: r.log(&c.Log)},
		field{key: "metrics", doc: "Metrics and probes; without the section there are none.", read: r.metrics(&c.Metrics)},
		field{key: "audit", doc: "The audit log; without the section there is none.", read: r.audit(&c.Audit)},
		field{key: "console", doc: "The web console for operators; without the section there is none.", read: r.console(&c.Console)},
		field{key: "verify", doc: "How the process that applies proves what is published by itself.", read: r.verify(&c.Verify)},
	)
	if c.Database == "" {
		c.Database = c.Upstream.Owner.Database
	}
	r.compare(root, c)
}

// beside resolves a path that a file speaks of.
func (r *reader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), path)
}

// contents reads a file that the configuration speaks of. It is false when the
// file is not to be looked at, or when it cannot be read, which is reported.
func (r *reader) contents(n *yaml.Node, what, path string) ([]byte, bool) {
	if r.around == nil {
		return nil, false
	}
	text, err := r.around.readFile(path)
	if err != nil {
		r.wrong(r.follow(n), what+" cannot be read: "+cause(err), "give the path of a readable file; a relative one starts at this file's folder")
		return nil, false
	}
	return text, true
}

// cause is the system's reason alone: a path in the wrong place could be a password.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return "input/output error"
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}
