package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// TestTLS serves with a certificate. Its mode is require by default.
func TestTLS(t *testing.T) {
	t.Parallel()
	o := hospitalSite()
	o.settings = "tls: {cert_file: server.crt, key_file: server.key}"
	s := newSite(t, o)
	s.writeCertificate(t)
	s.kproxy(t, "setup").must(t)
	s.serve(t)
	const count = "SELECT count(*) FROM patients;"
	for _, parameters := range []string{"sslmode=require", "sslmode=verify-full&sslrootcert=" + s.dir + "/server.crt"} {
		if o := psql(t, s.url(parameters), count).must(t); o.stdout != "600\n" {
			t.Errorf("%s: psql wrote %q", parameters, o.stdout)
		}
		if n := scalar[int](t, connect(t, s.url(parameters)), "SELECT count(*) FROM patients"); n != patients {
			t.Errorf("%s: %d patients", parameters, n)
		}
	}
	o2 := psql(t, s.url("sslmode=disable"), count)
	if o2.code == 0 || !strings.Contains(o2.stderr, "FATAL") || !strings.Contains(strings.ToLower(o2.stderr), "encr") {
		t.Errorf("without TLS: exit code %d\n%s", o2.code, o2.stderr)
	}
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify: %s%s", o.stdout, o.stderr)
	}
}

// writeCertificate makes a self-signed certificate for the loopback address.
func (s *site) writeCertificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kproxy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "server.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	s.write(t, "server.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}
