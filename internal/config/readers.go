package config

import (
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
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
	Name string
	// Connection is, but for who connects, that of Upstream.Reader.
	Connection Connection
}

// Prefer chooses among several servers.
type Prefer string

// The choices.
const (
	PreferPrimary Prefer = "primary"      // the primary alone
	PreferStandby Prefer = "standby"      // a standby that is fresh enough, else the primary
	OnlyStandby   Prefer = "standby-only" // a standby that is fresh enough, else none
)

// String is the choice's name in a configuration.
func (p Prefer) String() string { return string(p) }

// leastStaleness leaves room for the second between two looks at each server.
const leastStaleness = 2 * time.Second

// reader reads the reader role and the choice among its servers.
func (r *reader) reader(n *yaml.Node, to *Upstream) {
	var hosts *yaml.Node
	r.connection(n, "upstream.reader", &to.Reader, slices.Concat([]field{
		{key: "host", doc: "The server, where it is not the owner's.", read: r.marked("reader.host", r.host(&to.Reader.Host))},
		{key: "hosts", doc: "Several servers in place of host: the primary and its physical standbys. Which is which, kproxy finds out.", read: func(n *yaml.Node) { hosts = n }},
		{key: "prefer", doc: "Where sessions go: to the primary; to a standby, or the primary where none is fresh enough; or to standbys only.", read: r.marked("prefer", func(n *yaml.Node) {
			storeChoice(r, &to.Prefer, "prefer", PreferPrimary, PreferStandby, OnlyStandby)(n)
		})},
		{key: "max_staleness", doc: "How old the oldest change may be that was committed at the source and that a statement does not see, 2s at least; 0s is no bound. It holds on the primary and on standbys. Where it is not known to be kept, no statement is served.", read: r.marked("max_staleness", func(n *yaml.Node) {
			r.storeDuration(&to.MaxStaleness, "max_staleness", true, maxDuration)(n)
			if to.MaxStaleness > 0 && to.MaxStaleness < leastStaleness {
				r.wrong(r.follow(n), "max_staleness is shorter than it can be told", "write at least "+leastStaleness.String()+": the servers are asked every second")
			}
		})},
	}, r.place(&to.Reader, ""), r.role(&to.Reader)))
	if hosts != nil {
		r.hosts(hosts, &to.Reader)
	}
	if to.Reader.User != "" && to.Reader.User == to.Owner.User {
		r.wrong(r.follow(n), "owner and reader are the same user, so that clients could read everything",
			"give the reader a user of its own; `kproxy setup` creates it")
	}
}

// hosts reads several servers, once it is known which port those without one have.
func (r *reader) hosts(n *yaml.Node, to *Connection) {
	const example = "a list: [db1, \"db2:5433\", /run/postgresql]"
	if _, written := r.marks["reader.host"]; written {
		r.wrong(r.follow(n), "upstream.reader has both host and hosts", "remove host")
	}
	r.nonEmpty(n)
	seen := make(map[Server]bool)
	for _, item := range r.items(n, "hosts", example) {
		if r.exhausted() {
			return
		}
		text, ok := r.setting(item, "hosts")
		if !ok {
			continue
		}
		server, ok := parseServer(text, to.Port)
		switch {
		case !ok:
			r.wrong(r.follow(item), "hosts names what is not a host", "write a name or an IP address, with :port where it is another one ([::1]:5433), or a socket's folder")
		case seen[server]:
			r.wrong(r.follow(item), "hosts names a server twice", "remove one of them")
		default:
			seen[server] = true
			to.Hosts = append(to.Hosts, server)
		}
	}
	if r.follow(n).Kind == yaml.SequenceNode && len(r.follow(n).Content) == 0 {
		r.wrong(r.follow(n), "hosts is an empty list", "write "+example+", or host: and one name")
	}
}

// parseServer reads a host, which may have a port.
func parseServer(text string, port int) (Server, bool) {
	if _, err := netip.ParseAddr(text); err == nil || path.IsAbs(text) {
		return Server{text, port}, true
	}
	if host, digits, err := net.SplitHostPort(text); err == nil {
		number, err := strconv.ParseUint(digits, 10, 16)
		return Server{host, int(number)}, err == nil && number > 0 && isHost(host)
	}
	return Server{text, port}, isHost(text)
}

// readers reads the further reader roles by their names.
func (r *reader) readers(n *yaml.Node, to *Upstream) {
	entries, _ := r.entries(n, "upstream.readers")
	roles := map[string]string{to.Owner.User: "the owner", to.Reader.User: "upstream.reader"}
	for _, e := range entries {
		if r.exhausted() {
			return
		}
		name, ok := r.name(e.key, "a reader's name")
		if !ok {
			continue
		}
		further := Reader{Name: name, Connection: to.Reader.as()}
		r.connection(e.value, "reader "+quote(name), &further.Connection, r.role(&further.Connection))
		if other, taken := roles[further.Connection.User]; taken && further.Connection.User != "" {
			r.wrong(r.follow(e.value), "reader "+quote(name)+" is the same user as "+other, "give it a user of its own; `kproxy setup` creates it")
		}
		roles[further.Connection.User] = "reader " + quote(name)
		to.Readers = append(to.Readers, further)
	}
}

// mention is a reader's name where it is used.
type mention struct {
	name, what string
	at         *yaml.Node
}

// readerName reads the name of a further reader role, which may be given later in the file.
func (r *reader) readerName(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if text, ok := r.name(n, what); ok {
			*to = text
			r.named = append(r.named, mention{text, what, r.follow(n)})
		}
	}
}

// compareReaders sees to it that readers which are named are there, and that several
// servers are chosen among only where there are several.
func (r *reader) compareReaders(c *Config) {
	var known []string
	for _, further := range c.Upstream.Readers {
		known = append(known, further.Name)
	}
	for _, m := range r.named {
		switch {
		case len(known) == 0:
			r.wrong(m.at, m.what+" is "+quote(m.name)+", but there is no such reader", "write upstream.readers: with "+m.name+": and its user under it, or remove the key")
		case !slices.Contains(known, m.name):
			r.wrong(m.at, m.what+" is "+quote(m.name)+", but there is no such reader", suggestion(m.name, known, "upstream.readers has"))
		}
	}
	if len(c.Upstream.Reader.Servers()) == 1 {
		const what, fix = " is for several servers, and upstream.reader has one", "write hosts: with the primary and its standbys, or remove the key"
		if c.Upstream.Prefer != PreferPrimary {
			r.contradicts("prefer"+what, fix, "prefer")
		}
		return
	}
	if c.Upstream.Prefer != PreferPrimary && c.TemporaryTables == TemporaryAllow {
		r.contradicts("standbys make no temporary tables, which temporary_tables: allow promises", "write prefer: primary, or temporary_tables: refuse", "prefer")
	}
}
