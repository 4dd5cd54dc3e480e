package pool_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its own certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.crt")}
	text, key := a.issue("authority")
	block, _ := pem.Decode([]byte(text))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key = cert, key
	if err := os.WriteFile(a.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue makes a certificate for a name, in PEM; the first one is the authority's.
func (a *authority) issue(name string) (string, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: a.cert == nil,
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key
}

// encoded is a key in PEM.
func (a *authority) encoded(key *ecdsa.PrivateKey) string {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// startEncrypted runs a server with TLS, a Unix socket, and a role that must show a
// certificate.
func startEncrypted(t *testing.T, a *authority) (server *pgserver.Server, dsn, folder string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "pool") // short enough for the path of a socket
	if err == nil {
		err = os.Chmod(folder, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	server, err = pgserver.Start(t.Context(), pgserver.Options{Settings: map[string]string{"unix_socket_directories": folder}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	dsn = server.DSN("postgres")
	cert, key := a.issue("localhost")
	authorityText, err := os.ReadFile(a.file)
	if err != nil {
		t.Fatal(err)
	}
	// The server writes its files, for they must be its own.
	write := func(name, text string) {
		execute(t, dsn, fmt.Sprintf("COPY (SELECT pg_catalog.unnest(pg_catalog.string_to_array('%s', E'\\n'))) TO '%s'",
			strings.TrimSpace(text), filepath.Join(server.DataDir(), name)))
		if err := os.Chmod(filepath.Join(server.DataDir(), name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("server.crt", cert)
	write("server.key", a.encoded(key))
	write("root.crt", string(authorityText))
	write("pg_hba.conf", "hostssl all certified all cert\nlocal all all scram-sha-256\nhost all postgres all scram-sha-256\nhostssl all all all scram-sha-256")
	for _, setting := range []string{"ssl = on", "ssl_ca_file = 'root.crt'"} {
		execute(t, dsn, "ALTER SYSTEM SET "+setting)
	}
	execute(t, dsn, "CREATE ROLE certified LOGIN")
	execute(t, dsn, "SELECT pg_reload_conf()")
	eventually(t, "TLS", func() bool { return execute(t, dsn, "SHOW ssl")[0][0] == "on" })
	return server, dsn, folder
}

// TestWaysToTheServer connects in all ways that there are, uses the connection twice and
// has a statement canceled.
func TestWaysToTheServer(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	server, dsn, folder := startEncrypted(t, a)
	role := reader(t, server, dsn)
	cert, key := a.issue("certified")
	certFile, keyFile := filepath.Join(t.TempDir(), "certified.crt"), filepath.Join(t.TempDir(), "certified.key")
	for file, text := range map[string]string{certFile: cert, keyFile: a.encoded(key)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stranger := newAuthority(t)
	password := fmt.Sprintf("user=%s password='%s' ", role.User, role.Password)
	verified := "host=localhost sslmode=verify-full sslrootcert=" + a.file + " "
	ways := []struct {
		name, settings string
		encrypted      string // as pg_stat_ssl has it; "" = it must fail
	}{
		{"verified", password + verified, "t"},
		{"bound to the channel", password + verified + "channel_binding=require require_auth=scram-sha-256", "t"},
		{"certificate", "user=certified sslcertmode=require sslcert=" + certFile + " sslkey=" + keyFile + " " + verified, "t"},
		{"socket", password + "host=" + folder, "f"},
		{"wrong name", password + "host=127.0.0.1 sslmode=verify-full sslrootcert=" + a.file, ""},
		{"wrong authority", password + "host=localhost sslmode=verify-full sslrootcert=" + stranger.file, ""},
		{"in the clear", password + "host=127.0.0.1 sslmode=disable", ""},
		{"channel that cannot be bound to", password + "channel_binding=require host=" + folder, ""},
		{"no certificate", "user=certified " + verified, ""},
	}
	if server.Version().Major >= 17 {
		ways = append(ways, struct{ name, settings, encrypted string }{"TLS without asking", password + verified + "sslnegotiation=direct", "t"})
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			role := parse(t, fmt.Sprintf("port=%d dbname=postgres %s", server.Port(), way.settings))
			p := newPool(t, role, nil)
			if way.encrypted == "" {
				if _, err := obtain(t.Context(), p, ann()); err == nil {
					t.Error("it is connected")
				}
				return
			}
			s := get(t, p, ann())
			pid := s.one(backend)
			if got := s.one("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != way.encrypted {
				t.Errorf("encrypted: %s", got)
			}
			isCanceled(t, s)
			s.Release('I')
			settled(t, p)
			again := get(t, p, ann())
			if again.one(backend) != pid {
				t.Error("the connection is not reused")
			}
			isCanceled(t, again)
			if err := s.Cancel(t.Context()); err == nil {
				t.Error("a session that has ended can cancel")
			}
		})
	}
}

// isCanceled has what a session runs canceled.
func isCanceled(t *testing.T, s *session) {
	t.Helper()
	over, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for { // one that comes before the statement does nothing
			if err := s.Cancel(t.Context()); err != nil {
				done <- err
				return
			}
			select {
			case <-over:
				done <- nil
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	_, err := s.query("SELECT pg_sleep(60)")
	close(over)
	if canceled := <-done; canceled != nil {
		t.Error(canceled)
	}
	if err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("not canceled: %v", err)
	}
}
