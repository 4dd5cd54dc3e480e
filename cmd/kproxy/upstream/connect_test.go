package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/certificate"
	"github.com/kproxy/kproxy/internal/config"
)

// TestHintsOfConnections connects to servers that have no TLS, or other certificates than are
// asked for: there, the hint is not to start PostgreSQL.
func TestHintsOfConnections(t *testing.T) {
	t.Parallel()
	folder, other := t.TempDir(), t.TempDir()
	for _, f := range []string{folder, other} {
		if err := certificate.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, certificate.CertificateFile), filepath.Join(folder, certificate.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	const running = "is PostgreSQL running there?"
	for _, test := range []struct{ what, host, answer, authority, want string }{
		{"nobody", "127.0.0.1", "", folder, running},
		{"no TLS", "127.0.0.1", "N", folder, "see sslmode"},
		{"an unknown authority", "127.0.0.1", "S", other, "give sslrootcert the authority"},
		{"another name", "127.0.0.2", "S", folder, "write host as the server's certificate names it"},
	} {
		port := answering(t, test.host, test.answer, pair)
		c := &config.Config{}
		c.Upstream.Owner = config.Connection{
			Host: test.host, Port: port, User: "owner", Database: "d", SSLMode: "verify-full", SSLRootCert: filepath.Join(test.authority, certificate.CertificateFile),
		}
		_, err := ConnectOwner(t.Context(), c)
		var failed *ConnectError
		if !errors.As(err, &failed) || failed.Code() != "connection" || !strings.Contains(failed.Hint(), test.want) || test.want != running && strings.Contains(err.Error(), running) {
			t.Errorf("%s: %v", test.what, err)
		}
		c.Source.Connection = c.Upstream.Owner
		for section, connect := range map[string]func(context.Context, *config.Config) (*pgx.Conn, error){"upstream": ConnectOwner, "source": ConnectSource} {
			if _, err := connect(t.Context(), c); test.want == running && !strings.Contains(err.Error(), "see "+section+" in the configuration") {
				t.Errorf("%s, %s: %v", test.what, section, err)
			}
		}
	}
}

// answering is the port of a server that answers who asks for TLS; "" is one that is not there.
func answering(t *testing.T, host, answer string, pair tls.Certificate) (port int) {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	if answer == "" {
		_ = ln.Close()
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := io.ReadFull(conn, make([]byte, 8)); err == nil {
				_, _ = conn.Write([]byte(answer))
			}
			if answer == "S" {
				_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
			}
			_ = conn.Close()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}
