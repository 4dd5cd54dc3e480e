package config

import (
	"fmt"
	"net/netip"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

// compare reports settings that do not go together.
func (r *reader) compare(root *yaml.Node, c *Config) {
	r.compareListeners(c)
	r.compareReaders(c)
	r.compareAuthQuery(c)
	r.compareUsers(root, c)
	if len(r.rules) == 0 {
		if c.TLS.ClientCAFile != "" {
			r.contradicts("client_ca_file serves nothing: no rule of access asks for certificates", "write access: with a rule that does, or remove the key", "tls.client_ca_file")
		}
		return
	}
	certificates := false
	for i, at := range r.rules {
		certificates = certificates || at == nil || c.Access[i].needsCertificate()
		if at != nil {
			r.compareRule(c, i)
		}
	}
	if !certificates && c.TLS.ClientCAFile != "" {
		r.contradicts("client_ca_file serves nothing: no rule of access asks for certificates", "write method: cert or client_certificate: in a rule, or remove the key", "tls.client_ca_file")
	}
}

func (r *reader) compareListeners(c *Config) {
	if r.marks["proxy_protocol"] != nil && !slices.ContainsFunc(c.Listen, isAddress) {
		r.contradicts("proxy_protocol is for TCP, and kproxy listens on Unix sockets alone", "remove it, or add host:port to listen", "proxy_protocol")
	}
	if r.marks["unix_socket_mode"] != nil && !slices.ContainsFunc(c.Listen, path.IsAbs) {
		r.contradicts("unix_socket_mode is for Unix sockets, and listen names no folder for one", "add a folder to listen, for example /run/kproxy, or remove the key", "unix_socket_mode")
	}
	if c.TLS.ClientCAFile != "" && c.TLS.Mode == TLSOff {
		r.contradicts("clients show certificates by TLS alone, and tls mode is off", "write mode: require, or remove client_ca_file", "tls.client_ca_file")
	}
}

// compareUsers sees to it that somebody can log in, and every user that is named.
func (r *reader) compareUsers(root *yaml.Node, c *Config) {
	if len(r.logins) == 0 && r.marks["auth_query"] == nil {
		users, whole := r.marks["users"], r.follow(root)
		switch {
		case users == nil && whole.Kind == yaml.MappingNode:
			r.wrong(whole, "the configuration has no users", "write users: with a name and a verifier each")
		case users != nil && r.follow(users).Kind == yaml.SequenceNode:
			r.wrong(r.follow(users), "users is empty, so that nobody can log in", "write "+userExample)
		}
	}
	rules := c.Access
	if len(r.rules) == 0 {
		rules = []Rule{{Method: MethodScram}}
	}
	for _, u := range r.logins {
		r.compareUser(u, rules)
	}
}

// compareUser sees to it that a user can log in, unless a rule refuses the user by name.
func (r *reader) compareUser(u login, rules []Rule) {
	var scram, cert, named, refused bool
	for i, rule := range rules {
		if i < len(r.rules) && r.rules[i] == nil {
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
	switch {
	case refused:
	case !u.given && !cert:
		r.wrong(u.at, "a user has no verifier", "write verifier: as `kproxy password` prints it")
	case !scram && !cert && u.Name != "":
		r.wrong(u.at, "no rule of access lets user "+quote(u.Name)+" in", "name the user in a rule, or remove the user")
	}
	if u.CertificateName != "" && !named && !refused {
		r.wrong(u.at, "a user has a certificate_name, but no rule of access asks for a certificate of that name", "write method: cert or client_certificate: verify-full in a rule, or remove the key")
	}
}

// compareRule sees to it that a rule can match, and does what it says.
func (r *reader) compareRule(c *Config, i int) {
	rule, at := c.Access[i], r.rules[i]
	never := func(why, fix string) { r.wrong(at, "the rule can never match: "+why, fix) }
	if rule.needsCertificate() && c.TLS.ClientCAFile == "" && c.TLS.Mode != TLSOff {
		r.wrong(at, "the rule asks for a certificate, but nobody says which are good", "write client_ca_file: in tls, with the authorities that sign clients' certificates")
	}
	switch {
	case rule.Transport == TLSTransport && c.TLS.Mode == TLSOff:
		never("tls mode is off", "write tls: with cert_file: and key_file:, or remove the rule")
	case rule.Transport == PlainTransport && c.TLS.Mode == TLSRequire && rule.Method != MethodReject:
		never("tls mode is require", "write tls mode: allow, or remove the rule")
	case rule.Transport == UnixTransport && !slices.ContainsFunc(c.Listen, path.IsAbs):
		never("listen names no folder for a Unix socket", "add a folder to listen, for example /run/kproxy, or remove the rule")
	case (len(rule.From) > 0 || rule.Transport == TLSTransport || rule.Transport == PlainTransport) && !slices.ContainsFunc(c.Listen, isAddress):
		never("kproxy listens on Unix sockets alone", "add host:port to listen, or remove the rule")
	case len(rule.Databases) > 0 && c.Database != "" && !slices.Contains(rule.Databases, c.Database):
		never("clients' database is "+c.Database, "name it in databases, or remove databases")
	}
	if r.marks["auth_query"] == nil && len(r.logins) > 0 {
		for _, name := range rule.Users {
			r.compareNamed(at, c, name)
		}
	}
	for j, earlier := range c.Access[:i] {
		if r.rules[j] != nil && earlier.covers(rule) {
			never(fmt.Sprintf("the one on line %d matches all that it does", r.rules[j].Line), "move it before that one, or remove it")
			return
		}
	}
}

// compareNamed sees to it that a user of a rule is there.
func (r *reader) compareNamed(at *yaml.Node, c *Config, name string) {
	var known []string
	for _, u := range r.logins {
		known = append(known, u.Name)
	}
	if !slices.Contains(known, name) {
		r.wrong(at, "the rule names user "+quote(name)+", and there is no such user", suggestion(name, known, "the users are"))
	}
}

// covers says whether the rule matches whatever another one does. It may be false where
// several of the rule's networks together hold one of the other's.
func (u Rule) covers(other Rule) bool {
	return (u.Transport == AnyTransport || u.Transport == other.Transport) &&
		includes(u.Databases, other.Databases) && includes(u.Users, other.Users) && u.holds(other)
}

// includes says whether names, none being all, hold the others.
func includes(names, others []string) bool {
	return len(names) == 0 || len(others) > 0 && !slices.ContainsFunc(others, func(o string) bool { return !slices.Contains(names, o) })
}

// holds says whether the rule's networks hold those of another one.
func (u Rule) holds(other Rule) bool {
	from := other.From
	if len(from) == 0 && (other.Transport == TLSTransport || other.Transport == PlainTransport) {
		from = []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	return len(u.From) == 0 || len(from) > 0 && !slices.ContainsFunc(from, func(o netip.Prefix) bool {
		return !slices.ContainsFunc(u.From, func(p netip.Prefix) bool { return p.Bits() <= o.Bits() && p.Contains(o.Addr()) })
	})
}
