package config

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// User is a client that may log in.
type User struct {
	Name string
	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword; not set
	// for a user who logs in by certificate alone.
	Verifier Secret
	// Reader is the name of the reader role in Upstream.Readers that the user's sessions
	// run as; empty is Upstream.Reader.
	Reader string
	// CertificateName is the name in the user's certificate where a rule asks for one;
	// empty is Name.
	CertificateName string
}

// login is a user as it stands in the file.
type login struct {
	User
	at    *yaml.Node
	given bool // a verifier, right or wrong
}

const userExample = "- name: analyst, and verifier: under it as `kproxy password` prints it"

func (r *reader) users(to *[]User) func(*yaml.Node) {
	return func(n *yaml.Node) {
		lines := make(map[string]int)
		for _, item := range r.items(n, "users", userExample) {
			if r.exhausted() {
				return
			}
			u, name := r.user(item)
			r.logins = append(r.logins, u)
			if name == nil {
				continue
			}
			if line, twice := lines[u.Name]; twice {
				r.wrong(name, "user "+quote(u.Name)+" stands twice, first on line "+strconv.Itoa(line), "remove one of them")
				continue
			}
			lines[u.Name] = name.Line
			*to = append(*to, u.User)
		}
	}
}

// user reads a user and the node of its name, nil when it has none.
func (r *reader) user(n *yaml.Node) (u login, name *yaml.Node) {
	r.mapping(
		n, "a user",
		field{key: "name", doc: "The name to log in with.", need: "name: and the name to log in with", read: func(n *yaml.Node) {
			if text, ok := r.name(n, "a user's name"); ok {
				u.Name, name = text, r.follow(n)
			}
		}},
		field{key: "verifier", doc: "A SCRAM-SHA-256 verifier, as `kproxy password` prints it. Who logs in by certificate alone needs none.", read: func(n *yaml.Node) {
			u.given = true
			r.verifier(&u.Verifier)(n)
		}},
		field{key: "reader", doc: "The reader role, of upstream.readers, that the user's sessions run as. Without it: upstream.reader.", read: r.readerName(&u.Reader, "a user's reader")},
		field{key: "certificate_name", doc: "The name in the user's certificate. Without it: the user's.", read: func(n *yaml.Node) {
			if text, ok := r.setting(n, "certificate_name"); ok {
				u.CertificateName = text
			}
		}},
		field{key: "password", refused: true, read: func(n *yaml.Node) {
			r.wrong(r.follow(n), "a user's password must not stand in the file", "write verifier: as `kproxy password` prints it")
		}},
	)
	u.at = r.follow(n)
	return u, name
}
