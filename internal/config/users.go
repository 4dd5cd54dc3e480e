package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// User is a client that may log in.
type User struct {
	Name string `yaml:"name" what:"a user's name" as:"name" need:"name: and the name to log in with" doc:"The name to log in with."`
	// Verifier is a SCRAM-SHA-256 verifier in the form of pg_authid.rolpassword; not set
	// for a user who logs in by certificate alone.
	Verifier Secret `yaml:"verifier" as:"verifier" doc:"A SCRAM-SHA-256 verifier, as {kproxy password} prints it. Who logs in by certificate alone needs none."`
	// Reader is the name of the reader role in Upstream.Readers that the user's sessions
	// run as; empty is Upstream.Reader.
	Reader string `yaml:"reader" what:"a user's reader" as:"name" doc:"The reader role, of upstream.readers, that the user's sessions run as. Without it: upstream.reader."`
	// CertificateName is the name in the user's certificate where a rule asks for one;
	// empty is Name.
	CertificateName string   `yaml:"certificate_name" doc:"The name in the user's certificate. Without it: the user's."`
	_               struct{} `yaml:"password" refused:"a user's password must not stand in the file" fix:"write verifier: as {kproxy password} prints it"`
}

const userExample = "- name: analyst, and verifier: under it as `kproxy password` prints it"

// compareUsers sees to it that somebody can log in, and every user that is named.
func (c *Config) compareUsers(d *decoder, root *yaml.Node) {
	if d.at(&c.Users) == nil && d.at(&c.AuthQuery) == nil && root.Kind == yaml.MappingNode {
		d.wrong(root, "the configuration has no users", "write users: with a name and a verifier each")
	}
	if at := d.at(&c.Users); at != nil && at.Kind == yaml.SequenceNode && len(at.Content) == 0 && d.at(&c.AuthQuery) == nil {
		d.wrong(at, "users is empty, so that nobody can log in", "write "+userExample)
	}
	lines := make(map[string]int)
	for i := range c.Users {
		u := &c.Users[i]
		if at := d.at(&u.Name); at != nil && u.Name != "" {
			if line, twice := lines[u.Name]; twice {
				d.wrong(at, fmt.Sprintf("user %s stands twice, first on line %d", quote(u.Name), line), "remove one of them")
			} else {
				lines[u.Name] = at.Line
			}
		}
		c.compareUser(d, u)
	}
}

// compareUser sees to it that a user can log in, unless a rule refuses the user by name.
func (c *Config) compareUser(d *decoder, u *User) {
	rules := c.Access
	if len(rules) == 0 {
		rules = []Rule{{Method: MethodScram}}
	}
	var scram, cert, named, refused bool
	for i, rule := range rules {
		if i < len(c.Access) && d.flawed[&c.Access[i]] {
			return // what the rule was to be is not known
		}
		if len(rule.Users) > 0 && !slices.Contains(rule.Users, u.Name) && u.Name != "" {
			continue
		}
		switch rule.Method {
		case MethodScram:
			scram = true
		case MethodCert:
			cert = true
		case MethodReject:
			refused = refused || slices.Contains(rule.Users, u.Name)
		}
		named = named || rule.Method == MethodCert || rule.ClientCertificate == OwnCertificate
	}
	at := d.at(u)
	switch {
	case refused:
	case d.at(&u.Verifier) == nil && !cert:
		d.wrong(at, "a user has no verifier", "write verifier: as `kproxy password` prints it")
	case !scram && !cert && u.Name != "":
		d.wrong(at, "no rule of access lets user "+quote(u.Name)+" in", "name the user in a rule, or remove the user")
	}
	if u.CertificateName != "" && !named && !refused {
		d.wrong(at, "a user has a certificate_name, but no rule of access asks for a certificate of that name", "write method: cert or client_certificate: verify-full in a rule, or remove the key")
	}
}
