package certificates

import (
	"crypto/x509"
	"errors"
)

// Unfit says which clients cannot use a server's certificate, or cannot bind a password to it
// (tls-server-end-point, RFC 5929, section 4), and what to use in its place. It is empty where all
// known ones can.
//
// The binding is a hash of the certificate, by the hash function of its signature; Ed25519 and
// Ed448 have none of their own. For RSA-PSS the function is a parameter of the signature, which
// libpq reads since February 2023 (commit 9244c11afe) and Java names in none of its own terms.
func Unfit(server *x509.Certificate) (what, fix string) {
	const use = "use a certificate with an ECDSA (P-256) or RSA key, signed with SHA-256 by such a key; openssl's default for these is right"
	switch server.SignatureAlgorithm {
	case x509.PureEd25519, x509.UnknownSignatureAlgorithm:
		return "is signed with an algorithm of which no hash function is known, such as Ed25519, or RSA-PSS with a salt of unusual length, and passwords cannot be bound to it: " +
			"kproxy offers SCRAM-SHA-256 without channel binding, and clients with channel_binding=require cannot log in", use
	case x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS:
		return "is signed with RSA-PSS: libpq before 11.19, 12.14, 13.10, 14.7 and 15.2 cannot log in by password, and pgjdbc, which cannot bind passwords to it, " +
			"not with channelBinding=require", use
	}
	if server.PublicKeyAlgorithm == x509.Ed25519 {
		return "has an Ed25519 key: Java before 15 and programs that use Windows's own TLS, such as Npgsql, cannot connect", use
	}
	return "", ""
}

// OfServer reads the certificate that clients see.
func OfServer(path string) (*x509.Certificate, error) {
	parsed, err := parse(path)
	if err != nil {
		return nil, err
	}
	if len(parsed) == 0 {
		return nil, errors.New("reading certificates: " + path + " has none")
	}
	return parsed[0], nil
}
