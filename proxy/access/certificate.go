package access

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
)

// commonNameOID is id-at-commonName (RFC 5280, appendix A.1).
var commonNameOID = asn1.ObjectIdentifier{2, 5, 4, 3}

// CheckCertificate tells why a client certificate, whose signature has been verified,
// is not the account's; the error is for the log. Nil is no certificate.
func (d Decision) CheckCertificate(certificate *x509.Certificate, a Account) error {
	if certificate == nil {
		return errors.New("there is no client certificate")
	}
	name := certificate.Subject.String()
	if d.CertificateName == CommonName {
		names := 0
		for _, attribute := range certificate.Subject.Names {
			if attribute.Type.Equal(commonNameOID) {
				names++
			}
		}
		if names != 1 {
			// Which of several counts differs from one implementation to the next.
			return fmt.Errorf("the client certificate has %d common names", names)
		}
		name = certificate.Subject.CommonName
	}
	if name != a.CertificateName {
		return fmt.Errorf("the client certificate is for %q", name)
	}
	if !a.Exists {
		return errors.New("there is no such user")
	}
	return nil
}
