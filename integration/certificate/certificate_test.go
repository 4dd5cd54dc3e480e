package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

// A client that has the certificate for its authority takes it, by name and by address.
func TestCertificateIsItsOwnAuthority(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := Write(folder); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, CertificateFile), filepath.Join(folder, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, CertificateFile))
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(text)
	for _, name := range []string{"localhost", "127.0.0.1"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: authorities}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "elsewhere", Roots: authorities}); err == nil {
		t.Error("it is taken for another server's")
	}
}
