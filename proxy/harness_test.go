package proxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/access"

	"github.com/kproxy/kproxy/internal/scram"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	testUser     = "ann"
	testPassword = "pässwörd of ann"
	published    = "clinic" // the database's name for clients

	// patience bounds what must happen soon; nothing is measured against it.
	patience = time.Minute
)

// testProxy is a running proxy.
type testProxy struct {
	*Server
	addr   string
	direct string // URL of the database behind it, for the superuser
	stop   func() error
}

var testVerifier = sync.OnceValue(func() string {
	verifier, err := scram.Derive(testPassword, []byte("0123456789abcdef"), 4096)
	if err != nil {
		panic(err)
	}
	return verifier.String()
})

// testAccess lets in the test's user and further ones, who have the same password.
func testAccess(others ...string) access.Config {
	var c access.Config
	for _, name := range append([]string{testUser}, others...) {
		c.Users = append(c.Users, access.User{Name: name, Verifier: testVerifier()})
	}
	return c
}

// startProxy runs a proxy in front of a new database.
func startProxy(t testing.TB, change func(*Config)) *testProxy {
	t.Helper()
	direct := pgtest.Database(t, pgtest.Shared(t))
	upstream, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	upstream.RuntimeParams["standard_conforming_strings"] = "on"
	c := Config{
		Gate:     testGate{},
		Access:   testAccess(),
		Database: published,
		Upstream: upstream,

		ConnectTimeout: patience, // however slow the machine is
	}
	if change != nil {
		change(&c)
	}
	p := serve(t, c)
	p.direct = direct
	return p
}

// serve runs a proxy with a configuration.
func serve(t testing.TB, c Config) *testProxy {
	t.Helper()
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, ln) }()
	stop := sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(patience):
			return errors.New("the proxy does not stop")
		}
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return &testProxy{Server: server, addr: ln.Addr().String(), stop: stop}
}

// url is the connection URL for clients.
func (p *testProxy) url(parameters string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.UserPassword(testUser, testPassword), Host: p.addr, Path: published, RawQuery: parameters,
	}).String()
}

// connectPgx connects pgx to a URL.
func connectPgx(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(deadline(t), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// deadline is a context for what must happen soon.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// exactReader reads no byte beyond what the codec asks for, so that others may go on.
type exactReader struct{ io.Reader }

// Next implements the codec's ChunkReader.
func (r exactReader) Next(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// wire is a client at the level of messages, with a codec other than the
// proxy's.
type wire struct {
	t testing.TB
	net.Conn
	*oldproto.Frontend
	pid, secret uint32
}

// dialWire opens a connection without a word.
func dialWire(t testing.TB, addr string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newWire(t, conn)
}

func newWire(t testing.TB, conn net.Conn) *wire {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, Conn: conn, Frontend: oldproto.NewFrontend(exactReader{conn}, conn)}
}

// startTLS asks for TLS and expects it.
func (w *wire) startTLS(config *tls.Config) *wire {
	w.t.Helper()
	w.send(&oldproto.SSLRequest{})
	var answer [1]byte
	if _, err := io.ReadFull(w.Conn, answer[:]); err != nil || answer[0] != 'S' {
		w.t.Fatalf("answer to SSLRequest: %q, %v", answer, err)
	}
	return newWire(w.t, tls.Client(w.Conn, config))
}

// send sends messages in one write.
func (w *wire) send(messages ...oldproto.FrontendMessage) {
	w.t.Helper()
	var out []byte
	for _, m := range messages {
		out = encode(w.t, out, m)
	}
	if _, err := w.Write(out); err != nil {
		w.t.Fatal(err)
	}
}

// encode appends a message with the independent codec.
func encode(t testing.TB, dst []byte, m oldproto.Message) []byte {
	t.Helper()
	dst, err := m.Encode(dst)
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

// receive returns the next message.
func (w *wire) receive() oldproto.BackendMessage {
	w.t.Helper()
	// Long scripts take their time on a busy machine.
	if err := w.SetReadDeadline(time.Now().Add(patience)); err != nil {
		w.t.Fatal(err)
	}
	m, err := w.Receive()
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// startup sends a startup message.
func (w *wire) startup(user, database string) {
	w.t.Helper()
	w.send(&oldproto.StartupMessage{
		ProtocolVersion: oldproto.ProtocolVersionNumber,
		Parameters:      map[string]string{"user": user, "database": database},
	})
}

// scram runs the exchange and returns the message after it.
func (w *wire) scram(password string) oldproto.BackendMessage {
	w.t.Helper()
	client, err := xscram.SHA256.NewClient("", password, "")
	if err != nil {
		w.t.Fatal(err)
	}
	conversation := client.NewConversation()
	m := w.receive()
	if _, ok := m.(*oldproto.AuthenticationSASL); !ok {
		return m
	}
	first, _ := conversation.Step("")
	w.send(&oldproto.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256", Data: []byte(first)})
	challenge, ok := w.receive().(*oldproto.AuthenticationSASLContinue)
	if !ok {
		w.t.Fatal("no challenge")
	}
	proof, err := conversation.Step(string(challenge.Data))
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(&oldproto.SASLResponse{Data: []byte(proof)})
	m = w.receive()
	if final, ok := m.(*oldproto.AuthenticationSASLFinal); ok {
		if _, err := conversation.Step(string(final.Data)); err != nil {
			w.t.Fatal(err)
		}
		m = w.receive()
	}
	return m
}

// loginWire connects and logs in.
func (p *testProxy) loginWire(t testing.TB) *wire {
	t.Helper()
	w := dialWire(t, p.addr)
	w.startup(testUser, published)
	if m := w.scram(testPassword); fmt.Sprintf("%T", m) != "*pgproto3.AuthenticationOk" {
		t.Fatalf("login answered by %#v", m)
	}
	for {
		switch m := w.receive().(type) {
		case *oldproto.BackendKeyData:
			w.pid, w.secret = m.ProcessID, m.SecretKey
		case *oldproto.ReadyForQuery:
			return w
		case *oldproto.ErrorResponse:
			t.Fatalf("login: %s", m.Message)
		}
	}
}

// script returns the next messages, up to n ReadyForQuery, in a short notation. Reports of
// the search_path, which servers before PostgreSQL 18 do not send, are left out.
func (w *wire) script(n int) string {
	w.t.Helper()
	var said []string
	for n > 0 {
		m := w.receive()
		if report, is := m.(*oldproto.ParameterStatus); !is || report.Name != "search_path" {
			said = append(said, brief(m))
		}
		if _, ok := m.(*oldproto.ReadyForQuery); ok {
			n--
		}
	}
	return strings.Join(said, " ")
}

// brief writes a message as its type and what matters of it.
func brief(m oldproto.BackendMessage) string {
	switch m := m.(type) {
	case *oldproto.ReadyForQuery:
		return "Z" + string(m.TxStatus)
	case *oldproto.ErrorResponse:
		return "E" + m.Code
	case *oldproto.CommandComplete:
		return "C(" + string(m.CommandTag) + ")"
	case *oldproto.DataRow:
		var values []string
		for _, v := range m.Values {
			values = append(values, string(v))
		}
		return "D(" + strings.Join(values, ",") + ")"
	default:
		encoded, err := m.Encode(nil)
		if err != nil {
			return err.Error()
		}
		return string(encoded[0])
	}
}

// expectFatal reads up to an ErrorResponse and the end of the stream, and hangs
// up.
func (w *wire) expectFatal(state string) *oldproto.ErrorResponse {
	w.t.Helper()
	var last *oldproto.ErrorResponse
	for {
		m, err := w.Receive()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			w.t.Fatal("the connection stays open")
		}
		if err != nil {
			break
		}
		if e, ok := m.(*oldproto.ErrorResponse); ok {
			copied := *e
			last = &copied
		}
	}
	_ = w.Close()
	if last == nil || last.Severity != "FATAL" || last.Code != state {
		w.t.Fatalf("got %+v, want FATAL %s and the end", last, state)
	}
	return last
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// marker is a text that no other test has in its statements.
func marker() string { return "marker_" + strings.ToLower(rand.Text()) }

// active counts the statements running at the server that hold a text.
func active(t testing.TB, direct *pgx.Conn, text string) (n int) {
	t.Helper()
	err := direct.QueryRow(deadline(t), "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%' || $1::text || '%' AND pid <> pg_backend_pid()", text).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
