package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy/access"
)

// nowhere is a configuration that never gets as far as its upstream.
func nowhere(t testing.TB) Config {
	t.Helper()
	upstream, err := pgconn.ParseConfig("postgres://reader:canary-password@127.0.0.1:1/private?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Gate: testGate{}, Access: testAccess(), Database: published, Upstream: upstream}
}

func TestNewReportsAllMistakes(t *testing.T) {
	t.Parallel()
	_, err := New(Config{TLSRequired: true, MaxSessions: -1, MaxMessageBytes: -1, AuthTimeout: -1, Access: access.Config{Users: []access.User{{Name: "bob", Verifier: "md5canary"}}}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"Gate", "Database", "Upstream", "TLSRequired", "MaxSessions", "MaxMessageBytes", "timeout", `user "bob"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("a verifier in %v", err)
	}
}

// TestUsersCannotBeTold compares a wrong password with an unknown user.
func TestUsersCannotBeTold(t *testing.T) {
	t.Parallel()
	p := serve(t, nowhere(t))
	exchange := func(user, password, database string) (shape, message string) {
		w := dialWire(t, p.addr)
		w.startup(user, database)
		if m, ok := w.receive().(*oldproto.AuthenticationSASL); !ok || m.AuthMechanisms[0] != "SCRAM-SHA-256" {
			t.Fatal(m)
		}
		w.send(&oldproto.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256", Data: []byte("n,,n=,r=abc")})
		challenge := string(w.receive().(*oldproto.AuthenticationSASLContinue).Data)
		nonce, rest, _ := strings.Cut(challenge, ",")
		w.send(&oldproto.SASLResponse{Data: []byte("c=biws," + nonce + ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")})
		e := w.expectFatal(stateInvalidPassword)
		salt, iterations, _ := strings.Cut(rest, ",")
		return strings.Join([]string{
			string(rune('0' + len(nonce)/10)), string(rune('0' + len(salt)/4)), iterations, e.Severity, e.Code,
		}, " "), strings.ReplaceAll(e.Message, user, "USER") + salt
	}
	knownShape, known := exchange(testUser, "wrong", published)
	unknownShape, unknown := exchange("eve", "wrong", published)
	if knownShape != unknownShape {
		t.Errorf("%s, but %s for one who does not exist", knownShape, unknownShape)
	}
	message, _, _ := strings.Cut(known, "s=")
	if other, _, _ := strings.Cut(unknown, "s="); other != message || message != `password authentication failed for user "USER"` {
		t.Errorf("%q, but %q for one who does not exist", message, other)
	}
	if _, again := exchange("eve", "wrong", "nowhere"); again != unknown {
		t.Error("the salt of a user who does not exist changes")
	}
	if _, other := exchange("mallory", "wrong", published); other == unknown {
		t.Error("users who do not exist share a salt")
	}
}

func TestAfterAuthentication(t *testing.T) {
	t.Parallel()
	unavailable := error(nil)
	c := nowhere(t)
	c.Available = func() error { return unavailable }
	p := serve(t, c)

	w := dialWire(t, p.addr)
	w.startup(testUser, "other")
	w.scram(testPassword)
	w.expectFatal(stateInvalidCatalogName)

	w = dialWire(t, p.addr)
	w.startup(testUser, published)
	w.scram(testPassword)
	e := w.expectFatal(stateConnectionFailure)
	for _, secret := range []string{"canary", "reader", "127.0.0.1", "private"} {
		if strings.Contains(e.Message+e.Hint+e.Detail, secret) {
			t.Errorf("%q in %+v", secret, e)
		}
	}

	w = dialWire(t, p.addr)
	w.startup(testUser, published)
	w.receive()
	w.send(&oldproto.SASLInitialResponse{AuthMechanism: "PLAIN", Data: []byte("x")})
	w.expectFatal(stateProtocolViolation)

	unavailable = refusedText{}
	w = dialWire(t, p.addr)
	w.startup(testUser, published)
	w.scram(testPassword)
	w.expectFatal("42501")
}

// TestMessagesBeforeLogin sends every type, with and without a body, in place
// of the startup packet and of the SASL response.
func TestMessagesBeforeLogin(t *testing.T) {
	t.Parallel()
	p := serve(t, nowhere(t))
	for kind := range 256 {
		for _, body := range []string{"", "x", "SCRAM-SHA-256\x00\xff\xff\xff\xff", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			w := dialWire(t, p.addr)
			w.startup(testUser, published)
			w.receive()
			w.send(rawMessage(appendFrame(nil, byte(kind), []byte(body))))
			if kind == 'X' {
				_, err := w.Receive()
				if err == nil {
					t.Errorf("%c answered", kind)
				}
				continue
			}
			w.expectFatal(stateProtocolViolation)
		}
		w := dialWire(t, p.addr)
		w.send(rawMessage(appendFrame(nil, byte(kind), nil)))
		_ = w.Conn.(*net.TCPConn).CloseWrite()
		for {
			m, err := w.Receive()
			if err != nil {
				break
			}
			if e, ok := m.(*oldproto.ErrorResponse); !ok || e.Severity != "FATAL" {
				t.Errorf("%c answered by %#v", kind, m)
			}
		}
		_ = w.Close()
	}
	for name, length := range map[string]uint32{"negative": 0xffffffff, "huge": 0x7fffffff, "zero": 0, "short": 3, "over the cap": maxPasswordBytes + 5} {
		w := dialWire(t, p.addr)
		w.startup(testUser, published)
		w.receive()
		w.send(rawMessage(binary.BigEndian.AppendUint32([]byte{'p'}, length)))
		if e := w.expectFatal(stateProtocolViolation); e.Message != "invalid message length" {
			t.Errorf("%s: %s", name, e.Message)
		}
	}
}

func TestStartupLengths(t *testing.T) {
	t.Parallel()
	p := serve(t, nowhere(t))
	for _, length := range []uint32{0, 4, 7, maxStartupBytes + 1, 0x7fffffff, 0xffffffff} {
		w := dialWire(t, p.addr)
		w.send(rawMessage(binary.BigEndian.AppendUint32(nil, length)))
		if m, err := w.Receive(); err == nil {
			t.Errorf("length %d was answered by %#v", length, m)
		}
	}
}

func TestAuthTimeout(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	c.AuthTimeout = 50 * time.Millisecond
	p := serve(t, c)
	silent := dialWire(t, p.addr)
	if m, err := silent.Receive(); err == nil {
		t.Errorf("silence was answered by %#v", m)
	}
	half := dialWire(t, p.addr)
	half.startup(testUser, published)
	half.expectFatal(stateQueryCanceled)
}

// certificate makes a self-signed certificate and writes it for psql.
func certificate(t *testing.T) (server, client *tls.Config, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	file = filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(file, pemEncode(der), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}, file
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server, client, file := certificate(t)
	p := startProxy(t, func(c *Config) { c.TLS, c.TLSRequired = server, true })

	t.Run("plain is refused", func(t *testing.T) {
		w := dialWire(t, p.addr)
		w.startup(testUser, published)
		if e := w.expectFatal(stateInvalidAuthorization); e.Hint == "" {
			t.Error("no hint")
		}
	})
	t.Run("psql", func(t *testing.T) {
		for _, binding := range []string{"disable", "prefer", "require"} {
			out, err := exec.Command("psql", "-XAt", p.url("sslmode=verify-full&sslrootcert="+file+"&channel_binding="+binding), "-c", "SELECT 42").CombinedOutput()
			if err != nil || string(out) != "42\n" {
				t.Errorf("channel_binding=%s: %v %s", binding, err, out)
			}
		}
	})
	t.Run("pgx", func(t *testing.T) {
		conn := connectPgx(t, p.url("sslmode=verify-full&sslrootcert="+file))
		if err := conn.Ping(deadline(t)); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("after GSS", func(t *testing.T) {
		w := dialWire(t, p.addr)
		w.send(&oldproto.GSSEncRequest{})
		var answer [1]byte
		if _, err := io.ReadFull(w.Conn, answer[:]); err != nil || answer[0] != 'N' {
			t.Fatal(answer, err)
		}
		w = w.startTLS(client)
		w.startup(testUser, published)
		if m, ok := w.scram(testPassword).(*oldproto.AuthenticationOk); !ok {
			t.Error(m)
		}
	})
	t.Run("no request twice", func(t *testing.T) {
		w := dialWire(t, p.addr).startTLS(client)
		w.send(&oldproto.SSLRequest{})
		w.expectFatal(stateFeatureNotSupported)
		w = dialWire(t, p.addr).startTLS(client)
		w.send(&oldproto.GSSEncRequest{})
		w.expectFatal(stateFeatureNotSupported)
		w = dialWire(t, p.addr)
		w.send(&oldproto.GSSEncRequest{}, &oldproto.GSSEncRequest{})
		if _, err := io.ReadFull(w.Conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		w.expectFatal(stateFeatureNotSupported)
	})
	t.Run("bytes injected before TLS", func(t *testing.T) {
		injected := encode(t, nil, &oldproto.SSLRequest{})
		injected = encode(t, injected, &oldproto.StartupMessage{
			ProtocolVersion: oldproto.ProtocolVersionNumber, Parameters: map[string]string{"user": "mallory"},
		})
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		if _, err := conn.Write(injected); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := tls.Client(conn, client).Handshake(); err == nil {
			t.Error("the handshake overlooked the injected bytes")
		}
	})
}

func TestTLSNotOffered(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	w := dialWire(t, p.addr)
	w.send(&oldproto.SSLRequest{})
	var answer [1]byte
	if _, err := io.ReadFull(w.Conn, answer[:]); err != nil || answer[0] != 'N' {
		t.Fatal(answer, err)
	}
	w.startup(testUser, published)
	if m, ok := w.scram(testPassword).(*oldproto.AuthenticationOk); !ok {
		t.Error(m)
	}
	if err := connectPgx(t, p.url("sslmode=prefer")).Ping(deadline(t)); err != nil {
		t.Error(err)
	}
}

func TestInvalidParameterValue(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for parameters, state := range map[string]string{
		"timezone=Nowhere":                     stateInvalidParameterValue,
		"search_path=forbidden":                stateInsufficientPrivilege, // by the gate
		"options=-c%20search_path%3Dforbidden": stateInsufficientPrivilege,
		"options=-c%20role%3Dpostgres":         stateInsufficientPrivilege,
		"options=-d%205":                       stateInsufficientPrivilege,
		"kproxy_knows=nothing":                 stateUndefinedObject,
		"replication=database":                 stateFeatureNotSupported,
	} {
		_, err := pgconn.Connect(deadline(t), p.url("sslmode=disable&"+parameters))
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != state {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}
