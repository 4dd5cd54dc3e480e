package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// made is a certificate for name that is valid for so many days, signed by key in its own name.
func made(t *testing.T, name string, days int, key crypto.Signer, public crypto.PublicKey, algorithm x509.SignatureAlgorithm) []byte {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(17), NotBefore: start, NotAfter: start.AddDate(0, 0, days), SignatureAlgorithm: algorithm,
	}
	if name != "" {
		template.Subject = pkix.Name{CommonName: name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func p256(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestAllCertificatesOfAConfigurationAreRead names files everywhere, and one of them several times.
func TestAllCertificatesOfAConfigurationAreRead(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), p256(t)
	file := func(name string, parts ...[]byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(texts(parts), "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := func(name string, days int) []byte { return made(t, name, days, key, &key.PublicKey, 0) }
	var public [][]byte
	for days := range mostAuthorities + 1 {
		public = append(public, one("public", 400+days))
	}
	c := &config.Config{}
	c.TLS = config.TLS{Mode: config.TLSRequire, CertFile: file("server", one("server", 90), one("between", 80)), ClientCAFile: file("clients", one("clients", 70), one("clients", 700))}
	c.Upstream.Owner = config.Connection{SSLRootCert: file("root", one("root", 60)), SSLCert: file("owner", one("", 50))}
	c.Upstream.Reader = config.Connection{SSLRootCert: c.Upstream.Owner.SSLRootCert}
	c.Upstream.Readers = []config.Reader{{Connection: config.Connection{SSLRootCert: "system", SSLCert: file("bi", one("bi", 40))}}}
	c.AuthQuery.Connection = config.Connection{SSLRootCert: file("public", public...), SSLCert: file("asks", one("asks", 30))}
	c.Console.Listen, c.Console.CertFile = "127.0.0.1:0", file("console", one("console", 20), one("issuer", 10))
	all, err := Read(c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, found := range all {
		got = append(got, found.Use+" "+found.Subject+" "+filepath.Base(found.File)+" "+found.Until.Format(time.DateOnly))
	}
	want := []string{
		"console_chain CN=issuer console 2026-01-11", "console CN=console console 2026-01-21", "role CN=asks asks 2026-01-31",
		"role CN=bi bi 2026-02-10", "role number 17 owner 2026-02-20", "database_authority CN=root root 2026-03-02",
		"server_chain CN=between server 2026-03-22", "server CN=server server 2026-04-01",
		"database_authority CN=public public 2027-02-15", "client_authority CN=clients clients 2027-12-02",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text := Table(all)
	for _, want := range []string{"console chain       2026-01-11 00:00 UTC  CN=issuer", "VALID UNTIL"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c.TLS.Mode, c.Console.Listen, c.Upstream.Owner.SSLRootCert = config.TLSOff, "", filepath.Join(dir, "absent")
	left, err := Read(c)
	if err == nil || !strings.Contains(err.Error(), "absent") || len(left) != 5 {
		t.Errorf("without TLS, console and a file: %v, %v", left, err)
	}
}

// TestOneCertificateThatCannotBeReadHidesNoOthers: TLS passes over it in a file of authorities.
func TestOneCertificateThatCannotBeReadHidesNoOthers(t *testing.T) {
	t.Parallel()
	key := p256(t)
	odd := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("odd")})
	path := filepath.Join(t.TempDir(), "authorities")
	text := slices.Concat(made(t, "one", 10, key, &key.PublicKey, 0), odd, made(t, "two", 20, key, &key.PublicKey, 0))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &config.Config{}
	c.TLS.Mode = config.TLSOff
	c.Upstream.Owner.SSLRootCert = path
	all, err := Read(c)
	if err == nil || !strings.Contains(err.Error(), "number 2 in "+path) || len(all) != 2 || all[0].Subject != "CN=one" || all[1].Subject != "CN=two" {
		t.Errorf("%+v, %v", all, err)
	}
}

func texts(parts [][]byte) []string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = string(p)
	}
	return all
}

func TestCertificatesNeedTheOperatorInTime(t *testing.T) {
	t.Parallel()
	year := state.Certificate{Use: Server, Subject: "CN=db", File: "server.crt", From: start, Until: start.AddDate(1, 0, 0)}
	day := state.Certificate{Use: Upstream, Subject: "CN=step", File: "root.crt", From: start, Until: start.Add(25 * time.Hour)}
	for _, c := range []struct {
		of   state.Certificate
		now  time.Time
		want string
	}{
		{year, start.AddDate(0, 11, 0), ""},
		{year, year.Until.AddDate(0, 0, -14), ""},
		{year, year.Until.AddDate(0, 0, -13), "the server's certificate, CN=db in server.crt, expires at 2027-01-01 00:00 UTC; then clients that verify it cannot connect"},
		{year, year.Until, "the server's certificate, CN=db in server.crt, expires at 2027-01-01 00:00 UTC; then clients that verify it cannot connect"},
		{year, year.Until.Add(time.Second), "the server's certificate, CN=db in server.crt, has expired at 2027-01-01 00:00 UTC: clients that verify it cannot connect"},
		{year, start.Add(-time.Second), "the server's certificate, CN=db in server.crt, is not valid before 2026-01-01 00:00 UTC: clients that verify it cannot connect"},
		{day, start.Add(20 * time.Hour), ""},
		{day, start.Add(20*time.Hour + time.Second), "an authority of the database servers' certificates, CN=step in root.crt, expires at 2026-01-02 01:00 UTC; then kproxy cannot connect to the database where it verifies the server"},
	} {
		what, fix := Problem(c.of, c.now)
		if what != c.want || (what == "") != (fix == "") {
			t.Errorf("at %s: %q, %q, want %q", c.now, what, fix, c.want)
		}
	}
	for _, use := range []string{Server, ServerChain, ClientAuthority, Upstream, Role, Console, ConsoleChain} {
		if names[use] == "" || effects[use] == "" {
			t.Errorf("%s has no words", use)
		}
	}
}

// TestServersCertificatesThatClientsCannotUse holds for the algorithms that proxy's
// TestChannelBinding connects psql and pgx with.
func TestServersCertificatesThatClientsCannotUse(t *testing.T) {
	t.Parallel()
	ec := p256(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	edPublic, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key       crypto.Signer
		public    crypto.PublicKey
		algorithm x509.SignatureAlgorithm
		want      string
	}{
		{ec, &ec.PublicKey, x509.ECDSAWithSHA256, ""},
		{ec, &ec.PublicKey, x509.ECDSAWithSHA512, ""},
		{rsaKey, &rsaKey.PublicKey, x509.SHA256WithRSA, ""},
		{rsaKey, &rsaKey.PublicKey, x509.SHA256WithRSAPSS, "RSA-PSS"},
		{rsaKey, &ec.PublicKey, x509.SHA384WithRSAPSS, "RSA-PSS"},
		{rsaKey, &ec.PublicKey, x509.SHA512WithRSAPSS, "RSA-PSS"},
		{ed, edPublic, x509.PureEd25519, "without channel binding"},
		{ed, &ec.PublicKey, x509.PureEd25519, "without channel binding"},
		{ec, edPublic, x509.ECDSAWithSHA256, "Java before 15"},
	} {
		path := filepath.Join(t.TempDir(), "server.crt")
		if err := os.WriteFile(path, made(t, "db", 1, c.key, c.public, c.algorithm), 0o600); err != nil {
			t.Fatal(err)
		}
		server, err := OfServer(path)
		if err != nil {
			t.Fatal(err)
		}
		what, fix := Unfit(server)
		if (what == "") != (c.want == "") || !strings.Contains(what, c.want) || (what == "") != (fix == "") {
			t.Errorf("%v: %q, %q", c.algorithm, what, fix)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OfServer(empty); err == nil {
		t.Error("a file without a certificate has one")
	}
}
