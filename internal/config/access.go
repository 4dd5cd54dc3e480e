package config

import (
	"net/netip"

	"go.yaml.in/yaml/v3"
)

// Rule is like a line of pg_hba.conf: the first that matches a login in all respects
// decides.
type Rule struct {
	Transport Transport `yaml:"transport" choices:"any plain tls unix" default:"any" doc:"How the client connects: any, TCP that is not encrypted (plain), tls, or a Unix socket (unix)."`
	// From are the networks of clients; empty is everywhere, Unix sockets included.
	From []netip.Prefix `yaml:"from" as:"network" single:"yes" fix:"a list: [10.0.0.0/8, 192.168.1.7, \"fd00::/8\"], or remove the key" doc:"Addresses and networks of clients; names of hosts are not looked up. Without it: everywhere."`
	// Databases and Users are names; empty is all.
	Databases []string `yaml:"databases" as:"name" single:"yes" fix:"a list: [hospital], or remove the key" doc:"Names that clients connect to. Without it: all."`
	Users     []string `yaml:"users" as:"name" single:"yes" fix:"a list: [ann, bob], or remove the key" doc:"Names of users. Without it: all."`
	Method    Method   `yaml:"method" choices:"scram cert reject" need:"method: scram, cert or reject" doc:"A password (scram), a certificate of the user's name (cert), or not at all (reject)."`
	// ClientCertificate is what MethodScram asks for in addition to the password.
	ClientCertificate ClientCertificate `yaml:"client_certificate" choices:"none verify-ca verify-full" default:"none" doc:"A certificate in addition to the password: none, one that an authority of client_ca_file has signed (verify-ca), or one of the user's name, too (verify-full)."`
	// ClientName says where a certificate has the user's name.
	ClientName ClientName `yaml:"client_name" choices:"cn dn" default:"cn" doc:"Where a certificate has the user's name: cn is the common name, dn the whole subject, as in CN=analyst,O=Example."`
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

// Method is how a client shows who it is.
type Method string

// The methods.
const (
	MethodScram  Method = "scram"  // by a password
	MethodCert   Method = "cert"   // by a certificate of the user's name
	MethodReject Method = "reject" // not at all
)

// ClientCertificate is a certificate that a client shows in addition to its password.
type ClientCertificate string

// The certificates.
const (
	NoCertificate  ClientCertificate = "none"
	AnyCertificate ClientCertificate = "verify-ca"   // that an authority of client_ca_file has signed
	OwnCertificate ClientCertificate = "verify-full" // of the user's name, too
)

// ClientName says where a certificate has the user's name.
type ClientName string

// The places.
const (
	CommonName        ClientName = "cn" // the subject's common name
	DistinguishedName ClientName = "dn" // the whole subject, in the form of RFC 2253
)

func (u *Rule) check(d *decoder, _ *yaml.Node, _ string) {
	transport, certificate := d.at(&u.Transport), d.at(&u.ClientCertificate)
	if transport == nil && u.needsCertificate() {
		u.Transport = TLSTransport
	}
	switch name, from := d.at(&u.ClientName), d.at(&u.From); {
	case certificate != nil && (u.Method == MethodCert || u.Method == MethodReject):
		d.wrong(certificate, "client_certificate is for method scram, not "+string(u.Method), "remove it; method: cert asks for a certificate of the user's name by itself")
	case u.needsCertificate() && u.Transport != TLSTransport:
		d.wrong(transport, "a certificate comes by TLS alone, and the rule is of transport "+string(u.Transport), "write transport: tls")
	case name != nil && u.Method != MethodCert && u.ClientCertificate != OwnCertificate:
		d.wrong(name, "client_name is of no use where no certificate of the user's name is asked for", "remove it, or write client_certificate: verify-full")
	case u.Transport == UnixTransport && from != nil:
		d.wrong(from, "clients of Unix sockets have no address", "remove from, or write it in a rule for another transport")
	}
}
