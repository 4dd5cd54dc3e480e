package access

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Transport is what a connection comes through.
type Transport int

// Transports. Any matches all others.
const (
	Any   Transport = iota
	Plain           // TCP without encryption
	TLS             // TCP with TLS
	Unix            // a Unix socket
)

// String names the transport as PostgreSQL's messages do.
func (t Transport) String() string {
	switch t {
	case Plain:
		return "no encryption"
	case TLS:
		return "TLS encryption"
	case Unix:
		return "Unix socket"
	default:
		return "any transport"
	}
}

// Method is how a client proves who it is.
type Method int

// Methods.
const (
	Reject      Method = iota // not at all: the login is refused
	Password                  // by SCRAM-SHA-256, with channel binding where there can be
	Certificate               // by a client certificate of the user's name
)

// CertificateCheck is what a rule asks of the client certificate beside a password.
type CertificateCheck int

// Certificate checks, as clientcert= in pg_hba.conf.
const (
	NoCertificate CertificateCheck = iota // none
	VerifyCA                              // one that the certificate authority has signed
	VerifyFull                            // one that has the user's name as well
)

// CertificateName is where in a certificate the user's name stands.
type CertificateName int

// Names in a certificate, as clientname= in pg_hba.conf.
const (
	CommonName        CertificateName = iota // the subject's one common name
	DistinguishedName                        // the whole subject, in the form of RFC 2253
)

// Rule is like a line of pg_hba.conf. It matches a connection that it matches in all
// respects.
type Rule struct {
	Transport Transport

	// Databases and Users are names, compared exactly; empty = all.
	Databases []string
	Users     []string

	// Addresses are the networks of clients; empty = all, and Unix sockets, which have
	// no address. IPv4 addresses are written as such, not within IPv6.
	Addresses []netip.Prefix

	// Method applies to whom the rule matches. Certificate needs TLS.
	Method Method

	// Certificate is what Password asks for beside the password; it needs TLS.
	Certificate CertificateCheck

	// CertificateName says where the certificate has the user's name.
	CertificateName CertificateName
}

// NeedsCertificate tells whether the rule asks for client certificates, which then
// need an authority that signs them.
func (r Rule) NeedsCertificate() bool {
	return r.Method == Certificate || r.Method == Password && r.Certificate != NoCertificate
}

func (r Rule) check() error {
	switch {
	case r.Transport < Any || r.Transport > Unix:
		return errors.New("there is no such transport")
	case r.Method < Reject || r.Method > Certificate:
		return errors.New("there is no such method")
	case r.Certificate < NoCertificate || r.Certificate > VerifyFull:
		return errors.New("there is no such check of certificates")
	case r.CertificateName < CommonName || r.CertificateName > DistinguishedName:
		return errors.New("there is no such name in a certificate")
	case r.NeedsCertificate() && r.Transport != TLS:
		return errors.New("certificates need transport TLS")
	case r.Transport == Unix && len(r.Addresses) > 0:
		return errors.New("clients on a Unix socket have no addresses")
	}
	for _, prefix := range r.Addresses {
		if !prefix.IsValid() || prefix.Addr().Is4In6() || prefix.Addr().Zone() != "" {
			return fmt.Errorf("%s is not a network of IPv4 or IPv6", prefix)
		}
	}
	for _, name := range slices.Concat(r.Databases, r.Users) {
		if name == "" || strings.ContainsRune(name, 0) {
			return errors.New("a name is empty or has a NUL")
		}
	}
	return nil
}

// Request is who asks to log in.
type Request struct {
	User, Database string
	Transport      Transport  // not Any
	Address        netip.Addr // the zero Addr for Unix sockets
	Certified      bool       // there is a client certificate whose signature has been verified
}

// matchesPlace tells whether r matches all of q but the user.
func (r Rule) matchesPlace(q Request) bool {
	if r.Transport != Any && r.Transport != q.Transport {
		return false
	}
	if len(r.Databases) > 0 && !slices.Contains(r.Databases, q.Database) {
		return false
	}
	address := plainAddress(q.Address)
	return len(r.Addresses) == 0 ||
		slices.ContainsFunc(r.Addresses, func(p netip.Prefix) bool { return p.Contains(address) })
}

func (r Rule) matchesUser(user string) bool {
	return len(r.Users) == 0 || slices.Contains(r.Users, user)
}

// plainAddress is the address as rules have it: IPv4 as such, without a zone.
func plainAddress(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Decision is what applies to a request.
type Decision struct {
	// Rule that applies. Where the login is refused whatever the client proves, it is the
	// rule to pretend: Method is Reject only if the client may be told at once.
	Rule

	// Number of the rule in Config.Rules from 1; 0 = none matched.
	Number int

	// Refused says that no proof helps.
	Refused bool

	// Why says, for the log, why it is refused.
	Why string

	pretended Rule
}

// Refuse is the decision about a client whose certificate is not the user's, for a reason that
// the log gets: the login goes on, if others could log in there by password, and fails as a
// wrong password does.
func (d Decision) Refuse(why error) Decision {
	return Decision{Rule: d.pretended, Number: d.Number, Refused: true, Why: why.Error(), pretended: d.pretended}
}

// decide finds the first rule that matches. A refusal that depends on the user must look
// like a wrong password, else strangers could tell from it whom the rules name, and how
// they log in: what is pretended depends on the place and on whether there is a certificate,
// never on the user.
func decide(rules []Rule, q Request) Decision {
	d := Decision{Refused: true, Why: "no access rule is for the user", pretended: pretended(rules, q)}
	d.Rule = d.pretended
	for i, rule := range rules {
		if !rule.matchesPlace(q) || !rule.matchesUser(q.User) {
			continue
		}
		d.Number = i + 1
		switch {
		case rule.Method == Reject:
			d.Why = "the access rule rejects the user"
		case rule.NeedsCertificate() && !q.Certified:
			d.Why = "the access rule asks for a client certificate, and there is none"
		default:
			d.Rule, d.Refused, d.Why = rule, false, ""
		}
		return d
	}
	return d
}

// pretended is the rule that whoever cannot log in seems to meet: the first at the place that
// asks for a password, for passwords are what is guessed at; else the first by certificate.
// Where nobody can log in, it is a refusal.
func pretended(rules []Rule, q Request) Rule {
	var other Rule
	for _, rule := range rules {
		if !rule.matchesPlace(q) {
			continue
		}
		if rule.Method == Password && (q.Certified || !rule.NeedsCertificate()) {
			return rule
		}
		if other.Method == Reject {
			other = rule
		}
		if len(rule.Users) == 0 {
			break // nobody gets beyond
		}
	}
	return other
}
