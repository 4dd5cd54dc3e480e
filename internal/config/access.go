package config

import (
	"net/netip"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Rule is like a line of pg_hba.conf: the first that matches a login in all respects
// decides.
type Rule struct {
	Transport Transport // default AnyTransport
	// From are the networks of clients; empty is everywhere, Unix sockets included.
	From []netip.Prefix
	// Databases and Users are names; empty is all.
	Databases []string
	Users     []string
	Method    Method
	// ClientCertificate is what MethodScram asks for beside the password.
	ClientCertificate ClientCertificate
	// ClientName says where a certificate has the user's name; default CommonName.
	ClientName ClientName
}

// needsCertificate says whether the rule asks for a client's certificate.
func (u Rule) needsCertificate() bool {
	return u.Method == MethodCert || u.Method == MethodScram && u.ClientCertificate != NoCertificate
}

// Transport is what a connection comes through.
type Transport string

// The transports.
const (
	AnyTransport   Transport = "any"
	PlainTransport Transport = "plain" // TCP that is not encrypted
	TLSTransport   Transport = "tls"
	UnixTransport  Transport = "unix" // a Unix socket
)

// String is the transport's name in a configuration.
func (t Transport) String() string { return string(t) }

// Method is how a client shows who it is.
type Method string

// The methods.
const (
	MethodScram  Method = "scram"  // by a password
	MethodCert   Method = "cert"   // by a certificate of the user's name
	MethodReject Method = "reject" // not at all
)

// String is the method's name in a configuration.
func (m Method) String() string { return string(m) }

// ClientCertificate is a certificate that a client shows beside its password.
type ClientCertificate string

// The certificates.
const (
	NoCertificate  ClientCertificate = "none"
	AnyCertificate ClientCertificate = "verify-ca"   // that an authority of client_ca_file has signed
	OwnCertificate ClientCertificate = "verify-full" // of the user's name, too
)

// String is the choice's name in a configuration.
func (c ClientCertificate) String() string { return string(c) }

// ClientName says where a certificate has the user's name.
type ClientName string

// The places.
const (
	CommonName        ClientName = "cn" // the subject's common name
	DistinguishedName ClientName = "dn" // the whole subject, in the form of RFC 2253
)

// String is the place's name in a configuration.
func (c ClientName) String() string { return string(c) }

func (r *reader) access(to *[]Rule) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const example = "a list of rules: - {from: [10.0.0.0/8], transport: tls, method: scram}"
		items := r.items(n, "access", example)
		r.nonEmpty(n)
		if r.follow(n).Kind == yaml.SequenceNode && len(items) == 0 {
			r.wrong(r.follow(n), "access is empty, so that nobody can log in", "write "+example+", or remove the key")
		}
		for _, item := range items {
			if r.exhausted() {
				return
			}
			before := len(r.problems)
			*to = append(*to, r.rule(item))
			at := r.follow(item)
			if len(r.problems) > before {
				at = nil
			}
			r.rules = append(r.rules, at)
		}
	}
}

func (r *reader) rule(n *yaml.Node) Rule {
	u := Rule{Transport: AnyTransport, ClientCertificate: NoCertificate, ClientName: CommonName}
	var transport, from, certificate, name *yaml.Node
	r.mapping(
		n, "a rule of access",
		field{key: "transport", doc: "How the client connects: any, TCP that is not encrypted (plain), tls, or a Unix socket (unix).", read: func(n *yaml.Node) {
			transport = n
			store(r, n, &u.Transport, "transport", AnyTransport, PlainTransport, TLSTransport, UnixTransport)
		}},
		field{key: "from", doc: "Addresses and networks of clients; names of hosts are not looked up. Without it: everywhere.", read: func(n *yaml.Node) { from = n; r.networks(&u.From)(n) }},
		field{key: "databases", doc: "Names that clients connect to. Without it: all.", read: r.names(&u.Databases, "databases", "[hospital]")},
		field{key: "users", doc: "Names of users. Without it: all.", read: r.names(&u.Users, "users", "[ann, bob]")},
		field{key: "method", doc: "A password (scram), a certificate of the user's name (cert), or not at all (reject).", need: "method: scram, cert or reject", read: func(n *yaml.Node) { store(r, n, &u.Method, "method", MethodScram, MethodCert, MethodReject) }},
		field{key: "client_certificate", doc: "A certificate beside the password: none, one that an authority of client_ca_file has signed (verify-ca), or one of the user's name, too (verify-full).", read: func(n *yaml.Node) {
			certificate = n
			store(r, n, &u.ClientCertificate, "client_certificate", NoCertificate, AnyCertificate, OwnCertificate)
		}},
		field{key: "client_name", doc: "Where a certificate has the user's name: cn is the common name, dn the whole subject, as in CN=analyst,O=Example.", read: func(n *yaml.Node) { name = n; store(r, n, &u.ClientName, "client_name", CommonName, DistinguishedName) }},
	)
	if transport == nil && u.needsCertificate() {
		u.Transport = TLSTransport
	}
	switch {
	case certificate != nil && (u.Method == MethodCert || u.Method == MethodReject):
		r.wrong(r.follow(certificate), "client_certificate is for method scram, not "+u.Method.String(), "remove it; method: cert asks for a certificate of the user's name by itself")
	case u.needsCertificate() && u.Transport != TLSTransport:
		r.wrong(r.follow(transport), "a certificate comes by TLS alone, and the rule is of transport "+u.Transport.String(), "write transport: tls")
	case name != nil && u.Method != MethodCert && u.ClientCertificate != OwnCertificate:
		r.wrong(r.follow(name), "client_name is of no use where no certificate of the user's name is asked for", "remove it, or write client_certificate: verify-full")
	case u.Transport == UnixTransport && from != nil:
		r.wrong(r.follow(from), "clients of Unix sockets have no address", "remove from, or write it in a rule for another transport")
	}
	return u
}

// store reads one of the choices by its name.
func store[T ~string](r *reader, n *yaml.Node, to *T, what string, choices ...T) {
	texts := make([]string, len(choices))
	for i, c := range choices {
		texts[i] = string(c)
	}
	if slices.Contains(texts, string(*to)) {
		r.byDefault(n, string(*to))
	}
	if choice, ok := choose(r, n, what, words(texts)...); ok {
		*to = T(choice)
	}
}

// names reads names that PostgreSQL can keep, each once.
func (r *reader) names(to *[]string, what, example string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.oneOrMore(n, what, "a list: "+example) {
			if r.exhausted() {
				return
			}
			text, ok := r.name(item, what)
			switch {
			case !ok:
			case slices.Contains(*to, text):
				r.wrong(r.follow(item), what+" names "+quote(text)+" twice", "remove one of them")
			default:
				*to = append(*to, text)
			}
		}
	}
}
