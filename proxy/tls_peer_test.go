package proxy

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// saslRequestPlus is AuthenticationSASL with channel binding.
var saslRequestPlus = string(appendFrame(nil, 'R', []byte("\x00\x00\x00\x0aSCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00\x00")))

// encryptions are ways into TLS, and what PostgreSQL 18 does.
var encryptions = map[string]struct {
	before []string // sent in the clear, each with its answer read; the last one is S
	alpn   []string
	inside []string // sent in TLS
	want   []string // the answers inside, or the handshake's error
}{
	"direct":               {nil, []string{"postgresql"}, []string{packet(protocol30, "user\x00ann\x00\x00")}, []string{saslRequestPlus + "..."}},
	"direct, of two":       {nil, []string{"h2", "postgresql"}, []string{packet(protocol32, "user\x00ann\x00\x00")}, []string{saslRequestPlus + "..."}},
	"direct, asks again":   {nil, []string{"postgresql"}, []string{packet(sslRequestCode, ""), packet(gssRequestCode, ""), packet(protocol30, "user\x00ann\x00\x00")}, []string{"N...", "N...", saslRequestPlus + "..."}},
	"direct, asks twice":   {nil, []string{"postgresql"}, []string{packet(sslRequestCode, ""), packet(sslRequestCode, "")}, []string{"N...", errorPacket("0A000", "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.2")}},
	"direct, another name": {nil, []string{"http/1.1"}, nil, []string{"remote error: tls: no application protocol"}},
	"direct, no name":      {nil, nil, []string{packet(protocol30, "user\x00ann\x00\x00")}, []string{""}},
	"direct, old protocol": {nil, []string{"postgresql"}, []string{packet(2<<16, "")}, []string{"EFATAL:  unsupported frontend protocol 2.0: server supports 3.0 to 3.2\n\x00"}},
	"asked":                {[]string{packet(sslRequestCode, "")}, nil, []string{packet(protocol30, "user\x00ann\x00\x00")}, []string{saslRequestPlus + "..."}},
	"asked after GSS":      {[]string{packet(gssRequestCode, ""), packet(sslRequestCode, "")}, nil, []string{packet(protocol30, "user\x00ann\x00\x00")}, []string{saslRequestPlus + "..."}},
	"asked, with a name":   {[]string{packet(sslRequestCode, "")}, []string{"postgresql"}, []string{packet(3<<16|9999, "user\x00ann\x00\x00")}, []string{"v\x00\x00\x00\x0c\x00\x03\x00\x02\x00\x00\x00\x00" + saslRequestPlus + "..."}},
	"asked, another name":  {[]string{packet(sslRequestCode, "")}, []string{"h2"}, nil, []string{"remote error: tls: no application protocol"}},
	"asked twice":          {[]string{packet(sslRequestCode, "")}, nil, []string{packet(sslRequestCode, "")}, []string{errorPacket("0A000", "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.2")}},
	"asked, then GSS":      {[]string{packet(sslRequestCode, "")}, nil, []string{packet(gssRequestCode, "")}, []string{errorPacket("0A000", "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.2")}},
	"asked, then garbage":  {[]string{packet(sslRequestCode, "")}, nil, []string{"GET / HTTP/1.1\r\n\r\n"}, []string{""}},
	"asked, then cancels":  {[]string{packet(sslRequestCode, "")}, nil, []string{packet(cancelRequestCode, "\x00\x00\x00\x01abcd")}, []string{""}},
	"asked and sent ahead": {[]string{packet(sslRequestCode, "") + packet(protocol30, "user\x00ann\x00\x00")}, nil, nil, []string{"failed"}},
	"asked, sent a record": {[]string{packet(sslRequestCode, "") + "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"}, nil, nil, []string{"failed"}},
}

// TestEncryption compares with PostgreSQL's answers, and those with the server's own where
// it is of the version they are from.
func TestEncryption(t *testing.T) {
	t.Parallel()
	authority := newIssuer(t, "p256")
	certificate := authority.issue(t, "p256", 0, pkix.Name{CommonName: "server"})
	c := nowhere(t)
	c.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	addresses := map[string]string{"kproxy": serve(t, c).addr}
	if pgtest.Shared(t).Version().Major == 18 {
		addresses["PostgreSQL"] = serverWithTLS(t, certificate)
	}
	for server, addr := range addresses {
		for name, e := range encryptions {
			t.Run(server+"/"+name, func(t *testing.T) {
				t.Parallel()
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(patience))
				for _, part := range e.before {
					if _, err := io.WriteString(conn, part); err != nil {
						t.Fatal(err)
					}
					if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
						t.Fatal(err)
					}
				}
				encrypted := tls.Client(conn, &tls.Config{RootCAs: authority.pool(), ServerName: "localhost", NextProtos: e.alpn})
				err = encrypted.Handshake()
				if len(e.inside) == 0 {
					if err == nil || e.want[0] != "failed" && err.Error() != e.want[0] || errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("the handshake ends with %v, want %s", err, e.want[0])
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for i, part := range e.inside {
					if _, err := io.WriteString(encrypted, part); err != nil {
						t.Fatal(err)
					}
					if got := answer(t, encrypted, e.want[i]); got != e.want[i] {
						t.Fatalf("the answer to part %d is %q, want %q", i, got, e.want[i])
					}
				}
			})
		}
	}
}

// serverWithTLS starts a server of its own and returns its address.
func serverWithTLS(t *testing.T, certificate tls.Certificate) string {
	t.Helper()
	server, err := pgserver.Start(deadline(t), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	direct := connectPgx(t, server.DSN("postgres"))
	// The server reads its key only from a file of its own that nobody else can read.
	crt, key := files(t, certificate)
	for name, file := range map[string]string{"test.crt": crt, "test.key": key} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", `\n`)
		write := fmt.Sprintf(`COPY (SELECT unnest(string_to_array('%s', '\n'))) TO PROGRAM 'umask 077 && cat >%s'`, lines, name)
		if _, err := direct.Exec(deadline(t), write); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		"ALTER SYSTEM SET ssl_cert_file = 'test.crt'", "ALTER SYSTEM SET ssl_key_file = 'test.key'", "ALTER SYSTEM SET ssl = on",
		"SELECT pg_reload_conf()",
	} {
		if _, err := direct.Exec(deadline(t), sql); err != nil {
			t.Fatal(err)
		}
	}
	addr := fmt.Sprintf("127.0.0.1:%d", server.Port())
	eventually(t, "the server offers TLS", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close() }()
		var first [1]byte
		_, _ = conn.Write(packetBytes(sslRequestCode, nil))
		_, err = io.ReadFull(conn, first[:])
		return err == nil && first[0] == 'S'
	})
	return addr
}
