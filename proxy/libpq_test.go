package proxy

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestLibpq18 has psql, with the libpq that comes with a server of version 18 in place
// of its own, negotiate what older ones cannot.
func TestLibpq18(t *testing.T) {
	t.Parallel()
	shared := pgtest.Shared(t)
	library := filepath.Join(filepath.Dir(shared.Binaries().Dir), "lib")
	if found, _ := filepath.Glob(filepath.Join(library, "libpq.so.5")); shared.Version().Major < 18 || len(found) == 0 {
		t.Skipf("the server, PostgreSQL %s, has no libpq of version 18 or later with it", shared.Version())
	}
	psql := func(parameters, sql string) *exec.Cmd {
		command := exec.Command("psql", "-XAt", parameters, "-c", sql)
		command.Env = append(os.Environ(), "LD_LIBRARY_PATH="+library, "PGCONNECT_TIMEOUT=30")
		return command
	}
	authority := newIssuer(t, "p256")
	server := authority.issue(t, "p256", 0, pkix.Name{CommonName: "server"})
	ann := authority.issue(t, "p256", 0, pkix.Name{CommonName: testUser})
	root, _ := files(t, tls.Certificate{Certificate: [][]byte{authority.certificate.Raw}, PrivateKey: authority.key})
	certificate, key := files(t, ann)
	p := startProxy(t, func(c *Config) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: authority.pool(), ClientAuth: tls.VerifyClientCertIfGiven}
	})
	for _, parameters := range []string{
		"sslmode=disable",
		"sslmode=disable&min_protocol_version=3.2&max_protocol_version=3.2",
		"sslmode=disable&max_protocol_version=latest",
		"sslmode=require",
		"sslmode=require&gssencmode=prefer",
		"sslmode=require&sslnegotiation=direct",
		"sslmode=require&sslnegotiation=direct&min_protocol_version=3.2&max_protocol_version=latest",
		"sslmode=verify-ca&channel_binding=require&sslnegotiation=direct&sslrootcert=" + root,
		"sslmode=verify-ca&require_auth=scram-sha-256&sslrootcert=" + root,
		"sslmode=verify-full&channel_binding=require&sslcert=" + certificate + "&sslkey=" + key + "&sslrootcert=" + root,
	} {
		out, err := psql(p.url(parameters), "SELECT 42").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "42" {
			t.Errorf("%s: %v %s", parameters, err, out)
		}
	}
	direct := connectPgx(t, p.direct)
	for _, version := range []string{"3.0", "3.2"} {
		mark := marker()
		command := psql(p.url("sslmode=require&max_protocol_version="+version), "SELECT pg_sleep(600) /* "+mark+" */")
		var out strings.Builder
		command.Stderr = &out
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
		if err := command.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err == nil || !strings.Contains(out.String(), "canceling statement due to user request") {
			t.Errorf("%s: %v %s", version, err, out.String())
		}
	}
}
