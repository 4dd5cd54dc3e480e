package config

import (
	"net"
	"net/netip"
	"time"

	"go.yaml.in/yaml/v3"
)

// Console is the operator's web console.
type Console struct {
	// Listen is host:port, where port 0 takes a free one; empty is no console. Default
	// 127.0.0.1:6480 where the configuration has the section.
	Listen string
	// Users are the operators who may log in: at least one.
	Users []ConsoleUser
	// Actions says whether the console may change anything. Default Refuse.
	Actions Permission
	// Profiling says whether the console serves the runtime's profiles, which hold parts of
	// the process's memory. Default Refuse.
	Profiling Permission
	// Plain says whether it may be reached without TLS from other machines. Default Refuse.
	Plain Permission
	// CertFile and KeyFile are PEM files; both are set or none.
	CertFile string
	KeyFile  string
}

// ConsoleUser is an operator who may log in to the console.
type ConsoleUser struct {
	Name string
	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword.
	Verifier Secret
}

// Permission says whether something may be done.
type Permission string

// The choices.
const (
	Refuse Permission = "refuse"
	Allow  Permission = "allow"
)

// String is the choice's name in a configuration.
func (p Permission) String() string { return string(p) }

// Verify is how the process that applies proves its releases by itself.
type Verify struct {
	// Every is how often; 0 is never. Default 0: a proof reads every release and the
	// private store as a whole, which is a load that the operator chooses.
	Every time.Duration
}

const (
	consoleAddress = "127.0.0.1:6480"
	consoleExample = "- name: admin, and verifier: under it as `kproxy password` prints it"
)

func (r *reader) console(to *Console) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*to = Console{Listen: consoleAddress, Actions: Refuse, Profiling: Refuse, Plain: Refuse}
		permission := func(key string, to *Permission, doc string) field {
			return field{key: key, doc: doc, read: func(n *yaml.Node) {
				if choice, ok := choose(r, n, "console "+key, Refuse, Allow); ok {
					*to = choice
				}
			}}
		}
		problems := len(r.problems)
		r.mapping(
			n, "console",
			field{key: "listen", doc: "Where the console is, as host:port. Beyond 127.0.0.1 it wants a certificate.", read: r.marked("console.listen", r.consoleListen(&to.Listen))},
			field{key: "users", doc: "Who may log in to the console. They see figures that readers must not.", need: "users: with " + consoleExample, read: r.consoleUsers(&to.Users)},
			permission("actions", &to.Actions, "Whether the console can reload, resynchronize, rebuild, reanonymize and set the log level."),
			permission("profiling", &to.Profiling, "Whether the console serves profiles of the runtime at /debug/pprof/: they hold parts of the process's memory."),
			permission("plain", &to.Plain, "Whether it may be reached without TLS from other machines, where something else encrypts."),
			field{key: "tls", doc: "The console's certificate. With one it takes encrypted connections only.", read: r.consoleTLS(to)},
		)
		if len(r.problems) > problems {
			return
		}
		if to.CertFile == "" && to.Plain != Allow && !isLoopback(to.Listen) {
			r.contradicts("the console would be reached from other machines without TLS, passwords and all",
				"write tls: with cert_file: and key_file:, listen on 127.0.0.1, or write plain: allow where something else encrypts", "console.listen")
		}
	}
}

func (r *reader) consoleListen(to *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "console listen")
		switch {
		case !ok:
		case !isAddress(text):
			r.wrong(r.follow(n), "console listen is not an address", "write host:port, for example "+consoleAddress)
		default:
			*to = text
		}
	}
}

func (r *reader) consoleUsers(to *[]ConsoleUser) func(*yaml.Node) {
	return func(n *yaml.Node) {
		seen := make(map[string]bool)
		items := r.items(n, "console users", consoleExample)
		for _, item := range items {
			if r.exhausted() {
				return
			}
			var u ConsoleUser
			r.mapping(
				item, "a user of the console",
				field{key: "name", doc: "The name to log in with.", need: "name: and the name to log in with", read: func(n *yaml.Node) {
					if text, ok := r.name(n, "a user's name"); ok {
						u.Name = text
					}
				}},
				field{key: "verifier", doc: "The password's SCRAM-SHA-256 verifier, as `kproxy password` prints it.", need: "verifier: as `kproxy password` prints it", read: r.verifier(&u.Verifier)},
				field{key: "password", refused: true, read: func(n *yaml.Node) {
					r.wrong(r.follow(n), "a user's password must not stand in the file", "write verifier: as `kproxy password` prints it")
				}},
			)
			if u.Name != "" && seen[u.Name] {
				r.wrong(r.follow(item), "user "+quote(u.Name)+" of the console stands twice", "remove one of them")
				continue
			}
			seen[u.Name] = true
			*to = append(*to, u)
		}
		if at := r.follow(n); at.Kind == yaml.SequenceNode && len(items) == 0 {
			r.wrong(at, "console users is empty, so that nobody can log in", "write "+consoleExample)
		}
	}
}

// consoleTLS reads the certificate: a console with one takes nothing else.
func (r *reader) consoleTLS(to *Console) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var cert, key *yaml.Node
		pair := TLS{}
		r.mapping(
			n, "console tls",
			field{key: "cert_file", doc: "The certificate and its chain, in PEM.", need: "cert_file: with the path of a PEM file", read: func(n *yaml.Node) { cert = n; r.path(&pair.CertFile, "cert_file")(n) }},
			field{key: "key_file", doc: "The certificate's key, in PEM, without a passphrase.", need: "key_file: with the path of a PEM file", read: func(n *yaml.Node) { key = n; r.path(&pair.KeyFile, "key_file")(n) }},
		)
		if cert != nil && key != nil {
			to.CertFile, to.KeyFile = pair.CertFile, pair.KeyFile
			r.keyPair(&pair, cert, key)
		}
	}
}

// isLoopback says whether an address is one that only the machine itself reaches.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func (r *reader) verify(to *Verify) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(n, "verify", field{key: "every", doc: "How often, by the age of the last proof; 0s is never. A proof reads every release and the private store as a whole, and rests ten times as long as it took at least.", read: r.storeDuration(&to.Every, "every", true, maxDuration)})
	}
}
