package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy/access"
)

// logBuffer keeps what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// refusedLine is in each line about a login that failed.
const refusedLine = `msg="connection refused"`

// lines are those with a text.
func (b *logBuffer) lines(with string) (found []string) {
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, with) {
			found = append(found, line)
		}
	}
	return found
}

// logged has a configuration log into a buffer.
func logged(c *Config) *logBuffer {
	b := &logBuffer{}
	c.Logger = slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return b
}

// outcome logs in and says how it ended: "ok", or SQLSTATE and message. The upstream
// needs not be there.
func (w *wire) outcome(user, database, password string) string {
	w.t.Helper()
	w.startup(user, database)
	switch m := w.scram(password).(type) {
	case *oldproto.AuthenticationOk:
		return "ok"
	case *oldproto.ErrorResponse:
		return m.Code + " " + m.Message
	default:
		w.t.Fatalf("%#v", m)
		return ""
	}
}

const (
	wrongPassword    = "28P01 password authentication failed for user \"USER\""
	wrongCertificate = "28000 certificate authentication failed for user \"USER\""
	noCertificate    = "28000 connection requires a valid client certificate"
	fromHere         = ` from host "127.0.0.1", user "USER", database "DATABASE", TLS encryption`
)

// loginCases are logins over TLS under the rules of TestLoginsByRules: what the client
// and the operator are told. USER and DATABASE stand for what was given.
var loginCases = []struct {
	user, database, certificate, password string
	want, log                             string
}{
	{"ann", published, "", testPassword, "ok", ""},
	{"ann", published, "", "wrong", wrongPassword, `reason="wrong password"`},
	{"eve", published, "", testPassword, wrongPassword, `reason="there is no such user"`},
	{"certified", published, "", testPassword, wrongPassword, `reason="the user has no password"`},
	{"ann", "blocked", "", testPassword, "28000 an access rule rejects the connection" + fromHere, "rule=1"},
	{"eve", "blocked", "ann", "wrong", "28000 an access rule rejects the connection" + fromHere, "rule=1"},
	{"cem", "secret", "", testPassword, wrongPassword, `reason="the access rule rejects the user"`},
	{"ann", "certs", "ann", "", "ok", ""},
	{"ann", "certs", "bob", "", wrongCertificate, `reason="the client certificate is for \"bob\""`},
	{"eve", "certs", "eve", "", wrongCertificate, `reason="there is no such user"`},
	{"ann", "certs", "", "", noCertificate, noCertificate[6:]},
	{"eve", "certs", "", "", noCertificate, noCertificate[6:]},
	{"certified", "names", "ann", "", "ok", ""},
	{"ann", "names", "ann", "", wrongCertificate, "CN=ann,O=clinic"},
	{"ann", "both", "bob", testPassword, "ok", ""},
	{"ann", "both", "bob", "wrong", wrongPassword, `reason="wrong password"`},
	{"ann", "both", "", testPassword, noCertificate, noCertificate[6:]},
	{"ann", "full", "ann", testPassword, "ok", ""},
	{"ann", "full", "bob", testPassword, wrongPassword, `reason="the client certificate is for \"bob\""`},
	{"ann", "full", "ann", "wrong", wrongPassword, `reason="wrong password"`},
	{"ann", "elsewhere", "", testPassword, "28000 no access rule for" + strings.TrimPrefix(fromHere, " from"), "rule=0"},
	{"bob", "few", "", testPassword, "ok", ""},
	{"ann", "few", "", testPassword, wrongPassword, `reason="no access rule is for the user"`},
	{"eve", "few", "", testPassword, wrongPassword, `reason="no access rule is for the user"`},
}

// TestLoginsByRules logs in with and without certificates.
func TestLoginsByRules(t *testing.T) {
	t.Parallel()
	authority, stranger := newIssuer(t, "p256"), newIssuer(t, "p256")
	server := authority.issue(t, "p256", 0, pkix.Name{CommonName: "server"})
	var certificates []tls.Certificate
	certified := map[string]int{"": -1}
	for name, by := range map[string]*issuer{"ann": authority, "bob": authority, "eve": authority, "foreign": stranger} {
		certified[name] = len(certificates)
		certificates = append(certificates, by.issue(t, "p256", 0, pkix.Name{CommonName: name, Organization: []string{"clinic"}}))
	}
	c := nowhere(t)
	c.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: authority.pool(), ClientAuth: tls.VerifyClientCertIfGiven}
	c.Access = testAccess("bob", "cem")
	c.Access.Throttle.Off = true
	c.Access.Users = append(c.Access.Users, access.User{Name: "certified", CertificateName: "CN=ann,O=clinic"})
	nobody := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	c.Access.Rules = []access.Rule{
		{Databases: []string{"blocked"}},
		{Users: []string{"cem"}, Databases: []string{"secret"}},
		{Transport: access.TLS, Databases: []string{"certs"}, Method: access.Certificate},
		{Transport: access.TLS, Databases: []string{"names"}, Method: access.Certificate, CertificateName: access.DistinguishedName},
		{Transport: access.TLS, Databases: []string{"both"}, Method: access.Password, Certificate: access.VerifyCA},
		{Transport: access.TLS, Databases: []string{"full"}, Method: access.Password, Certificate: access.VerifyFull},
		{Transport: access.TLS, Databases: []string{"secret", published}, Method: access.Password},
		{Databases: []string{"elsewhere"}, Addresses: nobody, Method: access.Password},
		{Databases: []string{"few"}, Users: []string{"bob"}, Method: access.Password},
	}
	log := logged(&c)
	p := serve(t, c)
	for _, test := range loginCases {
		config := &tls.Config{RootCAs: authority.pool(), ServerName: "127.0.0.1"}
		if i := certified[test.certificate]; i >= 0 {
			config.Certificates = certificates[i : i+1]
		}
		w := dialWire(t, p.addr).startTLS(config)
		name := strings.NewReplacer("USER", test.user, "DATABASE", test.database)
		if got := w.outcome(test.user, test.database, test.password); got != name.Replace(test.want) {
			t.Errorf("%s on %s with %q: %s, want %s", test.user, test.database, test.certificate, got, name.Replace(test.want))
		}
		_ = w.Close()
		if test.log == "" {
			continue
		}
		remote := "remote=" + w.LocalAddr().String() + " "
		eventually(t, "the log says so", func() bool { return len(log.lines(remote)) > 0 })
		lines := log.lines(remote)
		if len(lines) != 1 || !strings.Contains(lines[0], refusedLine) || !strings.Contains(lines[0], test.log) || !strings.Contains(lines[0], "user="+test.user) {
			t.Errorf("%s on %s with %q: logged %q, want %s", test.user, test.database, test.certificate, lines, test.log)
		}
	}
	foreign := tls.Config{RootCAs: authority.pool(), ServerName: "127.0.0.1", Certificates: certificates[certified["foreign"] : certified["foreign"]+1]}
	w := dialWire(t, p.addr).startTLS(&foreign)
	w.send(&oldproto.StartupMessage{ProtocolVersion: protocol30, Parameters: map[string]string{"user": "ann"}})
	if m, err := w.Receive(); err == nil {
		t.Errorf("a certificate of another authority: %#v", m)
	}
	eventually(t, "the log says so", func() bool { return len(log.lines("TLS handshake failed")) == 1 })
}

// TestSecretsAreNotLogged makes all kinds of failures and looks for what is secret.
func TestSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	verifier, err := scram.Parse(testVerifier())
	if err != nil {
		t.Fatal(err)
	}
	looked, err := scram.Derive("a looked-up password", []byte("fedcba9876543210"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	server, client, _ := certificate(t)
	c := nowhere(t)
	c.TLS = server
	c.Access.Throttle.Off = true
	c.Access.Lookup = func(_ context.Context, user string) (string, bool, error) {
		switch user {
		case "looked":
			return looked.String(), true, nil
		case "old":
			return "md5canary0123456789abcdef", true, nil
		case "unlucky":
			return "", false, errors.New("no connection")
		}
		return "", false, nil
	}
	log := logged(&c)
	p := serve(t, c)
	for _, user := range []string{testUser, "looked", "old", "unlucky", "eve", "x\x1b[31m\n" + strings.Repeat("y", 5000)} {
		for _, password := range []string{testPassword, "canary-guess", "a looked-up password"} {
			dialWire(t, p.addr).outcome(user, published, password)
			dialWire(t, p.addr).startTLS(client).outcome(user, "canary-database", password)
		}
	}
	w := dialWire(t, p.addr)
	w.startup(testUser, published)
	w.receive()
	w.send(&oldproto.PasswordMessage{Password: "canary-guess in the clear"})
	w.expectFatal(stateProtocolViolation)
	eventually(t, "all is logged", func() bool { return len(log.lines(refusedLine)) == 6*3*2+1 })
	text := log.String()
	for name, secret := range map[string]string{
		"the password": testPassword, "a guess": "canary-guess", "a looked-up password": "a looked-up",
		"the verifier": testVerifier()[:20], "an old verifier": "md5canary", "the upstream's password": "canary-password",
		"the stored key":        base64.StdEncoding.EncodeToString(verifier.StoredKey),
		"the server key":        base64.StdEncoding.EncodeToString(verifier.ServerKey),
		"the salt":              base64.StdEncoding.EncodeToString(verifier.Salt),
		"a looked-up key":       base64.StdEncoding.EncodeToString(looked.StoredKey),
		"an exchange":           ",i=4096",
		"a control character":   "\x1b",
		"the whole of the name": strings.Repeat("y", 64),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in the log", name)
		}
	}
	for _, line := range log.lines(refusedLine) {
		if !strings.Contains(line, "reason=") || !strings.Contains(line, "remote=127.0.0.1:") {
			t.Errorf("logged %q", line)
		}
	}
}

// TestLookedUpUsersCannotBeTold compares who exists in a lookup, or whom the
// configuration names, with who does not exist, while the lookup works and while it does not.
func TestLookedUpUsersCannotBeTold(t *testing.T) {
	t.Parallel()
	looked, err := scram.Derive("a looked-up password", []byte("fedcba9876543210"), 4096)
	if err != nil {
		t.Fatal(err)
	}
	for _, down := range []bool{false, true} {
		c := nowhere(t)
		c.Access.Lookup = func(_ context.Context, user string) (string, bool, error) {
			if down {
				return "", false, errors.New("no connection")
			}
			return looked.String(), user == "looked", nil
		}
		c.Access.LookupLifetime = 1 // nanosecond: each login looks up
		p := serve(t, c)
		want := "28P01 password authentication failed for user \"USER\""
		if down {
			want = "57P03 users cannot be looked up now"
		}
		for _, user := range []string{testUser, "looked", "eve"} {
			if got := dialWire(t, p.addr).outcome(user, published, "wrong"); got != strings.ReplaceAll(want, "USER", user) {
				t.Errorf("down %v: %s: %s", down, user, got)
			}
		}
		if got := dialWire(t, p.addr).outcome(testUser, published, testPassword); got != "ok" {
			t.Errorf("down %v: the user of the configuration: %s", down, got)
		}
		if got := dialWire(t, p.addr).outcome("looked", published, "a looked-up password"); (got == "ok") == down {
			t.Errorf("down %v: the looked-up user: %s", down, got)
		}
	}
}

// TestThrottled fails until it is refused, and logs in from elsewhere.
func TestThrottled(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	c.Access.Throttle = access.Throttling{Free: 3, Delay: 1, MaxDelay: 100, Forget: 3600e9} // nanoseconds, but for the last
	log := logged(&c)
	p := serve(t, c)
	refused := ""
	for range 20 {
		got := dialWire(t, p.addr).outcome(testUser, published, "wrong")
		if got != "28P01 password authentication failed for user \""+testUser+"\"" {
			refused = got
		}
	}
	if len(log.lines("delayed=")) == 0 {
		t.Error("nothing was delayed")
	}
	if refused != "" {
		t.Errorf("refused in spite of a short queue: %s", refused)
	}
	if got := dialWire(t, p.addr).outcome(testUser, published, testPassword); got != "ok" {
		t.Errorf("with the right password: %s", got)
	}

	c.Access.Throttle = access.Throttling{Free: 1, Delay: 3600e9, MaxDelay: 3600e9, Forget: 3600e9}
	c.AuthTimeout = patience / 10 // for attempts that fail, too
	p = serve(t, c)
	for range 2 {
		dialWire(t, p.addr).outcome(testUser, published, "wrong")
	}
	waiting := dialWire(t, p.addr)
	if got := waiting.outcome(testUser, published, testPassword); got != stateQueryCanceled+" canceling authentication due to timeout" {
		t.Errorf("it waits no longer than a login may take: %s", got)
	}
	if got := dialWire(t, p.addr).outcome(testUser, published, testPassword); got != "28000 too many failed attempts to log in" {
		t.Errorf("the queue is full: %s", got)
	}
	if got := dialWire(t, p.addr).outcome("eve", published, "wrong"); !strings.HasPrefix(got, "28P01") {
		t.Errorf("another user: %s", got)
	}
}

// TestPendingConnectionsAreBounded holds all places of one address.
func TestPendingConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	c := nowhere(t)
	c.Access.MaxPending, c.Access.MaxPendingPerAddress = 8, 3
	log := logged(&c)
	p := serve(t, c)
	var held []*wire
	for range 3 {
		w := dialWire(t, p.addr)
		w.startup(testUser, published)
		w.receive()
		held = append(held, w)
	}
	w := dialWire(t, p.addr)
	if m, err := w.Receive(); err == nil {
		t.Errorf("%#v", m)
	}
	eventually(t, "it is logged", func() bool { return len(log.lines("have not logged in")) == 1 })
	_ = held[0].Close()
	eventually(t, "there is a place", func() bool {
		w := dialWire(t, p.addr)
		w.startup(testUser, published)
		_, err := w.Receive()
		_ = w.Close()
		return err == nil
	})
}

// lastLook is a connection that looks at something before it is closed.
type lastLook struct {
	net.Conn
	look func()
}

func (c lastLook) Close() error {
	c.look()
	return c.Conn.Close()
}

// TestRefusedConnectionsKeepTheirPlaces holds the only place, for connections that are
// refused in several ways, until they are closed: who does not read the refusal must not
// have room for others.
func TestRefusedConnectionsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		user  string
		first []oldproto.FrontendMessage
		taken int
	}{
		"an unknown version": {first: []oldproto.FrontendMessage{rawMessage("\x00\x00\x00\x08\x00\x09\x00\x00")}},
		"no user":            {first: []oldproto.FrontendMessage{&oldproto.StartupMessage{ProtocolVersion: protocol30}}},
		"a cancel request":   {first: []oldproto.FrontendMessage{&oldproto.CancelRequest{ProcessID: 1, SecretKey: 2}}},
		"a wrong password":   {user: "eve"},
		"no room for users":  {user: testUser, taken: 1},
	} {
		c := nowhere(t)
		c.Access.MaxPending, c.Access.MaxPendingPerAddress, c.MaxSessions = 1, 1, 1
		server, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		for range test.taken {
			if err := server.limit.acquire("bob", 1, 1); err != nil {
				t.Fatal(err)
			}
		}
		began := server.current.Load()
		enter := func() bool {
			leave, ok := began.access.Enter(netip.Addr{})
			if ok {
				leave()
			}
			return ok
		}
		looked := 0
		client, accepted := sockets(t)
		over := make(chan struct{})
		go server.handle(t.Context(), began, lastLook{accepted, func() {
			if looked++; enter() {
				t.Errorf("%s: the place is free before the connection is closed", name)
			}
		}}, func() { close(over) })
		w := newWire(t, client)
		if w.send(test.first...); test.user != "" {
			w.outcome(test.user, published, testPassword)
		}
		_ = w.Close()
		<-over
		if looked != 1 || !enter() {
			t.Errorf("%s: closed %d times, and the place is free: %v", name, looked, enter())
		}
	}
}

// TestCertificatesNeedAnAuthority refuses rules that nobody could meet.
func TestCertificatesNeedAnAuthority(t *testing.T) {
	t.Parallel()
	server, _, _ := certificate(t)
	c := nowhere(t)
	c.TLS = server
	c.Access.Rules = []access.Rule{{Transport: access.TLS, Method: access.Certificate}}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "certificates") {
		t.Error(err)
	}
	c.TLS = server.Clone()
	c.TLS.ClientCAs = x509.NewCertPool()
	for auth, ok := range map[tls.ClientAuthType]bool{
		tls.NoClientCert: false, tls.RequestClientCert: false, tls.RequireAnyClientCert: false,
		tls.VerifyClientCertIfGiven: true, tls.RequireAndVerifyClientCert: true,
	} {
		c.TLS.ClientAuth = auth
		if _, err := New(c); (err == nil) != ok {
			t.Errorf("%v: %v", auth, err)
		}
	}
	c = nowhere(t)
	c.Access.Users[0].Reader = "nowhere"
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Error(err)
	}
}
