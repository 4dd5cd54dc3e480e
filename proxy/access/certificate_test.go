package access

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"
)

// subject is a certificate of a subject with several attributes, each of its own.
func subject(t *testing.T, attributes ...pkix.AttributeTypeAndValue) *x509.Certificate {
	t.Helper()
	var sequence pkix.RDNSequence
	for _, a := range attributes {
		sequence = append(sequence, pkix.RelativeDistinguishedNameSET{a})
	}
	c := &x509.Certificate{}
	c.Subject.FillFromRDNSequence(&sequence)
	return c
}

func TestCheckCertificate(t *testing.T) {
	t.Parallel()
	organization := pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "Clinic, Inc."}
	common := func(name string) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: commonNameOID, Value: name}
	}
	ann := subject(t, organization, common("ann"))
	byName, byWhole := Decision{}, Decision{Rule: Rule{CertificateName: DistinguishedName}}
	for name, c := range map[string]struct {
		d           Decision
		certificate *x509.Certificate
		account     Account
		want        string // "" = it fits
	}{
		"fits":                  {byName, ann, Account{Exists: true, CertificateName: "ann"}, ""},
		"another name":          {byName, ann, Account{Exists: true, CertificateName: "bob"}, `is for "ann"`},
		"another case":          {byName, ann, Account{Exists: true, CertificateName: "Ann"}, `is for "ann"`},
		"nobody":                {byName, ann, Account{CertificateName: "ann"}, "no such user"},
		"none":                  {byName, nil, Account{Exists: true, CertificateName: "ann"}, "no client certificate"},
		"no common name":        {byName, subject(t, organization), Account{Exists: true}, "0 common names"},
		"several common names":  {byName, subject(t, common("ann"), common("bob")), Account{Exists: true, CertificateName: "bob"}, "2 common names"},
		"an empty common name":  {byName, subject(t, common("")), Account{Exists: true, CertificateName: "ann"}, `is for ""`},
		"with a NUL":            {byName, subject(t, common("ann\x00.example.org")), Account{Exists: true, CertificateName: "ann"}, `\x00`},
		"whole name fits":       {byWhole, ann, Account{Exists: true, CertificateName: `CN=ann,O=Clinic\, Inc.`}, ""},
		"whole name is another": {byWhole, ann, Account{Exists: true, CertificateName: "ann"}, `is for "CN=ann,O=Clinic\\, Inc."`},
	} {
		err := c.d.CheckCertificate(c.certificate, c.account)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
