package proxy

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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
	xscram "github.com/xdg-go/scram"
)

// issuer is a certificate authority.
type issuer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// newKey makes a key: rsa, p256, p384 or ed25519.
func newKey(t testing.TB, kind string) crypto.Signer {
	t.Helper()
	var key crypto.Signer
	var err error
	switch kind {
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		curves := map[string]elliptic.Curve{"p256": elliptic.P256(), "p384": elliptic.P384()}
		key, err = ecdsa.GenerateKey(curves[kind], rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// newIssuer makes an authority with a key of a kind.
func newIssuer(t testing.TB, kind string) *issuer {
	t.Helper()
	i := &issuer{key: newKey(t, kind)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, i.key.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	if i.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return i
}

// pool holds the authority.
func (i *issuer) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.certificate)
	return pool
}

// issue makes a certificate that is signed with an algorithm.
func (i *issuer) issue(t testing.TB, kind string, algorithm x509.SignatureAlgorithm, subject pkix.Name) tls.Certificate {
	t.Helper()
	key := newKey(t, kind)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, SignatureAlgorithm: algorithm,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost", subject.CommonName},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, key.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// files writes a certificate and its key for libpq.
func files(t testing.TB, c tls.Certificate) (certificate, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "crt.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		key:         {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// psql runs a query through the proxy and returns what it prints.
func (p *testProxy) psql(parameters, sql string) (string, error) {
	command := exec.Command("psql", "-XAt", p.url(parameters), "-c", sql)
	command.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=30")
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// scramPlus logs in with a password bound to the server's certificate.
func (w *wire) scramPlus(password string) oldproto.BackendMessage {
	w.t.Helper()
	state := w.Conn.(*tls.Conn).ConnectionState()
	binding, err := xscram.NewTLSServerEndpointBinding(&state)
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := xscram.SHA256.NewClient("", password, "")
	if err != nil {
		w.t.Fatal(err)
	}
	conversation := client.NewConversationWithChannelBinding(binding)
	offer, ok := w.receive().(*oldproto.AuthenticationSASL)
	if !ok || strings.Join(offer.AuthMechanisms, " ") != "SCRAM-SHA-256-PLUS SCRAM-SHA-256" {
		w.t.Fatalf("offered %+v", offer)
	}
	first, _ := conversation.Step("")
	w.send(&oldproto.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256-PLUS", Data: []byte(first)})
	challenge, ok := w.receive().(*oldproto.AuthenticationSASLContinue)
	if !ok {
		w.t.Fatal("no challenge")
	}
	proof, err := conversation.Step(string(challenge.Data))
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(&oldproto.SASLResponse{Data: []byte(proof)})
	m := w.receive()
	if _, ok := m.(*oldproto.AuthenticationSASLFinal); ok {
		m = w.receive()
	}
	return m
}

// TestChannelBinding binds passwords to certificates with all signature algorithms.
func TestChannelBinding(t *testing.T) {
	t.Parallel()
	issuers := map[string]*issuer{}
	for _, kind := range []string{"rsa", "p256", "ed25519"} {
		issuers[kind] = newIssuer(t, kind)
	}
	for _, c := range []struct {
		name      string
		issuer    string
		algorithm x509.SignatureAlgorithm
		binds     bool
	}{
		{"RSA with SHA-256", "rsa", x509.SHA256WithRSA, true},
		{"RSA with SHA-384", "rsa", x509.SHA384WithRSA, true},
		{"RSA with SHA-512", "rsa", x509.SHA512WithRSA, true},
		{"RSA-PSS with SHA-256", "rsa", x509.SHA256WithRSAPSS, true},
		{"RSA-PSS with SHA-384", "rsa", x509.SHA384WithRSAPSS, true},
		{"RSA-PSS with SHA-512", "rsa", x509.SHA512WithRSAPSS, true},
		{"ECDSA with SHA-256", "p256", x509.ECDSAWithSHA256, true},
		{"ECDSA with SHA-384", "p256", x509.ECDSAWithSHA384, true},
		{"ECDSA with SHA-512", "p256", x509.ECDSAWithSHA512, true},
		{"Ed25519", "ed25519", x509.PureEd25519, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			authority := issuers[c.issuer]
			server := authority.issue(t, "p256", c.algorithm, pkix.Name{CommonName: "server"})
			p := startProxy(t, func(config *Config) {
				config.TLS = &tls.Config{Certificates: []tls.Certificate{server}}
			})
			root, _ := files(t, tls.Certificate{Certificate: [][]byte{authority.certificate.Raw}, PrivateKey: authority.key})
			for binding, works := range map[string]bool{"disable": true, "prefer": true, "require": c.binds} {
				parameters := "sslmode=verify-ca&sslrootcert=" + root + "&channel_binding=" + binding
				if out, err := p.psql(parameters, "SELECT 42"); (err == nil) != works || works && out != "42" {
					t.Errorf("psql with channel_binding=%s: %v %s", binding, err, out)
				}
				conn, err := pgconn.Connect(deadline(t), p.url(parameters))
				if (err == nil) != works {
					t.Errorf("pgx with channel_binding=%s: %v", binding, err)
				}
				if err == nil {
					_ = conn.Close(deadline(t))
				}
			}
			if c.binds {
				w := dialWire(t, p.addr).startTLS(&tls.Config{RootCAs: authority.pool(), ServerName: "127.0.0.1"})
				w.startup(testUser, published)
				if m, ok := w.scramPlus(testPassword).(*oldproto.AuthenticationOk); !ok {
					t.Errorf("%#v", m)
				}
			}
		})
	}
}

// TestChannelBindingKnowsTheCertificate has several certificates, of which the client
// sees one.
func TestChannelBindingKnowsTheCertificate(t *testing.T) {
	t.Parallel()
	authority := newIssuer(t, "rsa")
	ecdsa := authority.issue(t, "p256", x509.SHA256WithRSA, pkix.Name{CommonName: "ecdsa.example"})
	rsa := authority.issue(t, "rsa", x509.SHA512WithRSA, pkix.Name{CommonName: "rsa.example"})
	named := authority.issue(t, "p384", x509.SHA384WithRSA, pkix.Name{CommonName: "named.example"})
	byName := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == "named.example" {
			return &named, nil
		}
		return nil, nil
	}
	onlyRSA := []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	for name, c := range map[string]struct {
		server *tls.Config
		client *tls.Config
		want   string
	}{
		"first":    {&tls.Config{Certificates: []tls.Certificate{ecdsa, rsa}}, &tls.Config{ServerName: "localhost"}, "ecdsa.example"},
		"second":   {&tls.Config{Certificates: []tls.Certificate{ecdsa, rsa}}, &tls.Config{ServerName: "localhost", MaxVersion: tls.VersionTLS12, CipherSuites: onlyRSA}, "rsa.example"},
		"by name":  {&tls.Config{Certificates: []tls.Certificate{ecdsa, rsa}, GetCertificate: byName}, &tls.Config{ServerName: "named.example"}, "named.example"},
		"not it":   {&tls.Config{Certificates: []tls.Certificate{ecdsa, rsa}, GetCertificate: byName}, &tls.Config{ServerName: "localhost"}, "ecdsa.example"},
		"no other": {&tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &rsa, nil }}, &tls.Config{ServerName: "127.0.0.1"}, "rsa.example"},
		"by client": {
			&tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				return &tls.Config{Certificates: []tls.Certificate{named}}, nil
			}}, &tls.Config{ServerName: "localhost"}, "named.example",
		},
		"not by client": {
			&tls.Config{Certificates: []tls.Certificate{rsa}, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }},
			&tls.Config{ServerName: "localhost"}, "rsa.example",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := nowhere(t)
			config.TLS = c.server
			p := serve(t, config)
			c.client.RootCAs = authority.pool()
			c.client.ClientSessionCache = tls.NewLRUClientSessionCache(8)
			for range 3 { // sessions are not resumed
				w := dialWire(t, p.addr).startTLS(c.client)
				w.startup(testUser, published)
				if m, ok := w.scramPlus(testPassword).(*oldproto.AuthenticationOk); !ok {
					t.Errorf("%#v", m)
				}
				state := w.Conn.(*tls.Conn).ConnectionState()
				if got := state.PeerCertificates[0].Subject.CommonName; got != c.want || state.DidResume {
					t.Errorf("presented %s (resumed %v), want %s", got, state.DidResume, c.want)
				}
				_ = w.Close()
			}
		})
	}
}

// TestDirectTLS begins with TLS, without a request for it.
func TestDirectTLS(t *testing.T) {
	t.Parallel()
	server, client, file := certificate(t)
	p := startProxy(t, func(c *Config) { c.TLS, c.TLSRequired = server, true })
	dial := func(protocols ...string) (*tls.Conn, error) {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(patience))
		config := client.Clone()
		config.NextProtos = protocols
		encrypted := tls.Client(conn, config)
		return encrypted, encrypted.Handshake()
	}
	t.Run("with the protocol's name", func(t *testing.T) {
		for _, protocols := range [][]string{{"postgresql"}, {"h2", "postgresql"}} {
			conn, err := dial(protocols...)
			if err != nil {
				t.Fatal(err)
			}
			// Inside, further requests for encryption are refused politely.
			for _, code := range []uint32{sslRequestCode, gssRequestCode} {
				if _, err := conn.Write(packetBytes(code, nil)); err != nil {
					t.Fatal(err)
				}
				if got := answer(t, conn, "N..."); got != "N..." {
					t.Fatalf("%q", got)
				}
			}
			w := newWire(t, conn)
			w.startup(testUser, published)
			if m, ok := w.scramPlus(testPassword).(*oldproto.AuthenticationOk); !ok {
				t.Errorf("%#v", m)
			}
		}
	})
	t.Run("without a name", func(t *testing.T) {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(startupBytes(protocol30, "user", testUser)); err == nil {
			if got := answer(t, conn, ""); got != "" {
				t.Errorf("answered by %q", got)
			}
		}
	})
	t.Run("with another name", func(t *testing.T) {
		if _, err := dial("http/1.1"); err == nil {
			t.Error("the handshake succeeds")
		}
	})
	t.Run("pgx", func(t *testing.T) {
		conn := connectPgx(t, p.url("sslmode=verify-full&sslnegotiation=direct&channel_binding=require&sslrootcert="+file))
		if err := conn.Ping(deadline(t)); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("request in the clear with a name", func(t *testing.T) {
		config := client.Clone()
		config.NextProtos = []string{"postgresql"}
		w := dialWire(t, p.addr).startTLS(config)
		w.startup(testUser, published)
		if m, ok := w.scramPlus(testPassword).(*oldproto.AuthenticationOk); !ok {
			t.Errorf("%#v", m)
		}
		if name := w.Conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; name != "postgresql" {
			t.Errorf("agreed on %q", name)
		}
	})
}

// TestDirectTLSNotOffered has no certificate.
func TestDirectTLSNotOffered(t *testing.T) {
	t.Parallel()
	_, client, _ := certificate(t)
	conn, err := net.Dial("tcp", serve(t, nowhere(t)).addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := tls.Client(conn, client).Handshake(); err == nil {
		t.Error("the handshake succeeds")
	}
}
