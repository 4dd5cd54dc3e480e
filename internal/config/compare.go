package config

import (
	"fmt"
	"net/netip"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

// compareRules sees to it that rules can match, and that certificates are asked for where
// there are authorities for them.
func (c *Config) compareRules(d *decoder) {
	certificates := false
	for i := range c.Access {
		flawed := d.flawed[&c.Access[i]]
		certificates = certificates || flawed || c.Access[i].needsCertificate()
		if !flawed {
			c.compareRule(d, i)
		}
	}
	if at := d.at(&c.TLS.ClientCAFile); at != nil && c.TLS.ClientCAFile != "" && !certificates {
		d.wrong(at, "client_ca_file serves nothing: no rule of access asks for certificates", "write method: cert or client_certificate: in a rule of access, or remove the key")
	}
}

// compareRule sees to it that a rule can match, and does what it says.
func (c *Config) compareRule(d *decoder, i int) {
	rule, at := c.Access[i], d.at(&c.Access[i])
	never := func(why, fix string) { d.wrong(at, "the rule can never match: "+why, fix) }
	if rule.needsCertificate() && c.TLS.ClientCAFile == "" && c.TLS.Mode != TLSOff {
		d.wrong(at, "the rule asks for a certificate, but nobody says which are good", "write client_ca_file: in tls, with the authorities that sign clients' certificates")
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
	if d.at(&c.AuthQuery) == nil && len(c.Users) > 0 {
		for _, name := range rule.Users {
			c.compareNamed(d, at, name)
		}
	}
	for j, earlier := range c.Access[:i] {
		if !d.flawed[&c.Access[j]] && earlier.covers(rule) {
			never(fmt.Sprintf("the one on line %d matches all that it does", d.at(&c.Access[j]).Line), "move it before that one, or remove it")
			return
		}
	}
}

// compareNamed sees to it that a user of a rule is there.
func (c *Config) compareNamed(d *decoder, at *yaml.Node, name string) {
	var known []string
	for _, u := range c.Users {
		known = append(known, u.Name)
	}
	if !slices.Contains(known, name) {
		d.wrong(at, "the rule names user "+quote(name)+", and there is no such user", suggestion(name, known, "the users are"))
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
