package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	oldproto "github.com/jackc/pgproto3/v2"
)

// scriptedServer is a server of which the test decides when it answers what.
type scriptedServer struct {
	t        *testing.T
	conn     net.Conn
	backend  *oldproto.Backend
	frontend *oldproto.Frontend
	client   net.Conn
	heard    chan string // what the server was sent, in a short notation
}

// converse runs a session between a client and a scripted server.
func converse(t *testing.T, reported map[string]string, test func(s *scriptedServer)) {
	t.Helper()
	config := Config{Gate: testGate{}, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler)}.withDefaults()
	client, proxyClient := net.Pipe()
	server, proxyServer := net.Pipe()
	in := &flushingReader{from: proxyServer}
	up := newUpstream(proxyServer, in, bufio.NewReaderSize(in, relayBufferBytes))
	up.cancel = func(context.Context) error { return nil }
	begin, _, err := fakeOpen(nil)
	if err != nil {
		t.Fatal(err)
	}
	up.parameters = reported
	ran := make(chan error, 1)
	go func() { ran <- newSession(&config, "ann", begin, proxyClient, up).run(t.Context()) }()
	s := &scriptedServer{
		t: t, conn: server, client: client, heard: make(chan string, 10_000),
		backend:  oldproto.NewBackend(oldproto.NewChunkReader(server), server),
		frontend: oldproto.NewFrontend(oldproto.NewChunkReader(client), client),
	}
	listened := make(chan bool)
	go func() { s.listen(); close(listened) }()
	test(s)
	_ = client.Close()
	if reason := <-ran; !errors.Is(reason, errClientGone) {
		t.Errorf("the session ended: %v", reason)
	}
	_ = server.Close()
	<-listened
}

// listen notes what the server is sent.
func (s *scriptedServer) listen() {
	for {
		m, err := s.backend.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *oldproto.Query:
			s.heard <- "Q(" + m.String + ")"
		case *oldproto.Parse:
			s.heard <- "P(" + m.Query + ")"
		case *oldproto.Bind:
			s.heard <- "B"
		case *oldproto.Execute:
			s.heard <- "E"
		case *oldproto.Sync:
			s.heard <- "S"
		case *oldproto.Flush:
			s.heard <- "H"
		default:
			s.heard <- fmt.Sprintf("%T", m)
		}
	}
}

// hears returns what has arrived once nothing moves any more.
func (s *scriptedServer) hears() string {
	synctest.Wait()
	var all []string
	for len(s.heard) > 0 {
		all = append(all, <-s.heard)
	}
	return strings.Join(all, " ")
}

// sends has the client send.
func (s *scriptedServer) sends(parts ...any) {
	var out []byte
	for _, m := range messages(parts...) {
		out = encode(s.t, out, m)
	}
	go func() { _, _ = s.client.Write(out) }()
}

// answers has the server send, and returns what the client gets.
func (s *scriptedServer) answers(all ...oldproto.BackendMessage) string {
	var out []byte
	for _, m := range all {
		out = encode(s.t, out, m)
	}
	go func() { _, _ = s.conn.Write(out) }()
	var got []string
	for range all {
		m, err := s.frontend.Receive()
		if err != nil {
			s.t.Fatal(err)
		}
		got = append(got, brief(m))
	}
	return strings.Join(got, " ")
}

func (s *scriptedServer) expect(want string) {
	s.t.Helper()
	if got := s.hears(); got != want {
		s.t.Fatalf("the server got %s, want %s", got, want)
	}
}

var (
	ready     = &oldproto.ReadyForQuery{TxStatus: 'I'}
	complete  = &oldproto.CommandComplete{CommandTag: []byte("SET")}
	parsed    = &oldproto.ParseComplete{}
	bound     = &oldproto.BindComplete{}
	oldFailed = &oldproto.ErrorResponse{Severity: "ERROR", Code: "22012", Message: "an error"}
)

func TestTextWaitsForEffects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		converse(t, nil, func(s *scriptedServer) {
			// Without effects nothing waits.
			s.sends("SELECT 1", "SELECT 2", run("", "SELECT 3"), syncMessage, "SELECT 4")
			s.expect("Q(SELECT 1) Q(SELECT 2) P(SELECT 3) B E S Q(SELECT 4)")
			s.answers(ready, ready, parsed, bound, complete, ready, ready)
			s.sends(parse("n", "SELECT 1"), run("", "BEGIN"), syncMessage, bind("", "n"), execute("", 0), syncMessage)
			s.expect("P(SELECT 1) P(BEGIN) B E S B E S")
			s.answers(parsed, parsed, bound, complete, ready, bound, complete, ready)

			// A text waits for a segment with effects, and only for that.
			s.sends("SET search_path TO a", "SELECT @", "SELECT 'again', @")
			s.expect("Q(SET search_path TO a)")
			s.answers(complete)
			s.expect("")
			s.answers(ready)
			s.expect("Q(SELECT a) Q(SELECT 'again', a)")
			s.answers(ready, ready)

			// What is bound under a name waits, too, once the path was another one.
			s.sends(parse("s", "SELECT 1"), run("", "SET search_path TO b"), syncMessage, bind("", "s"), execute("", 0), syncMessage, "SELECT @")
			s.expect("P(SELECT 1) P(SET search_path TO b) B E S")
			s.answers(parsed, parsed, bound, complete, ready)
			s.expect("B E S Q(SELECT b)")
			s.answers(bound, complete, ready, ready)

			// In one segment it is clear what will be.
			s.sends(run("", "SET search_path TO c"), run("", "SELECT @"), "SELECT @", "SELECT 'now', @")
			s.expect("P(SET search_path TO c) B E P(SELECT c) B E Q(SELECT c)")
			s.answers(parsed, bound, oldFailed)
			s.expect("Q(SELECT 'now', b)") // the server skips both, up to Sync
			s.sends(syncMessage, "SELECT 'then', @")
			s.expect("S")
			s.answers(ready)
			s.expect("Q(SELECT 'then', b)")
		})
	})
}

func TestTextWaitsForTheEndOfASkip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		converse(t, nil, func(s *scriptedServer) {
			s.sends(run("", "SET search_path TO c"), parse("", "fails"), "SELECT @", syncMessage, "SELECT @")
			s.expect("P(SET search_path TO c) B E P(fails) Q(SELECT c) S")
			s.answers(parsed, bound, complete, oldFailed)
			s.expect("")
			s.answers(ready)
			s.expect(`Q(SELECT "$user", public)`)
		})
	})
}

// TestPathIsReported has PostgreSQL 18 report search_path: clients see their own.
func TestPathIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		converse(t, map[string]string{pathParameter: "the reader's"}, func(s *scriptedServer) {
			status := &oldproto.ParameterStatus{Name: pathParameter, Value: "canary"}
			s.sends("SET search_path TO a")
			s.expect("Q(SET search_path TO a)")
			go func() {
				var out []byte
				for _, m := range []oldproto.BackendMessage{complete, status, ready} {
					out = encode(t, out, m)
				}
				_, _ = s.conn.Write(out)
			}()
			var got []string
			for range 3 {
				m, err := s.frontend.Receive()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, brief(m))
				if p, ok := m.(*oldproto.ParameterStatus); ok && *p != (oldproto.ParameterStatus{Name: pathParameter, Value: "a"}) {
					t.Errorf("reported as %+v", p)
				}
			}
			if got := strings.Join(got, " "); got != "C(SET) S ZI" {
				t.Error(got)
			}
			s.sends("SET search_path TO a")
			s.expect("Q(SET search_path TO a)")
			if got := s.answers(complete, ready); got != "C(SET) ZI" {
				t.Error(got)
			}
		})
	})
}

// TestSegmentWithoutEnd executes a statement with effects more often in one segment
// than is remembered: the server is asked for the answers that it holds back.
func TestSegmentWithoutEnd(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	const rounds = 3 * maxNotes
	var out []byte
	for _, m := range []oldproto.FrontendMessage{parse("s", "SET search_path TO a"), parse("t", "SET search_path TO b")} {
		out = encode(t, out, m)
	}
	for range rounds {
		for _, m := range messages(bind("", "s"), execute("", 0), bind("", "t"), execute("", 0)) {
			out = encode(t, out, m)
		}
	}
	for _, m := range messages(run("", seen), syncMessage) {
		out = encode(t, out, m)
	}
	go func() { _, _ = w.Write(out) }()
	want := "1 1 " + strings.Repeat("2 C(SET) 2 C(SET) ", rounds) + "1 2 D(b,b) C(SELECT 1) ZI"
	if got := w.script(1); got != want {
		t.Errorf("got %d bytes, ending in %s", len(got), got[max(0, len(got)-100):])
	}
}

// TestTooManyPrepared prepares more statements with effects than are remembered.
func TestTooManyPrepared(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	var out []byte
	for i := range maxPrepared + 1 {
		out = encode(t, out, parse(fmt.Sprint("s", i), "SET search_path TO a"))
		out = encode(t, out, syncMessage)
	}
	go func() { _, _ = w.Write(out) }()
	if got, want := w.script(maxPrepared+1), strings.Repeat("1 ZI ", maxPrepared)+"E54000 ZI"; got != want {
		t.Fatalf("got %s", got[max(0, len(got)-100):])
	}
	for _, free := range []string{"DEALLOCATE ALL", "DISCARD ALL"} {
		w.send(query(free), parse("again", "SET search_path TO a"), syncMessage)
		// DISCARD ALL also resets application_name, which is reported.
		if got := strings.Replace(w.script(2), " S", "", 1); got != "C("+free+") ZI 1 ZI" {
			t.Fatal(got)
		}
	}
	w.send(parse("plain", "SELECT 1"), bind("", "plain"), execute("", 0), syncMessage)
	if got := w.script(1); got != "1 2 D(1) C(SELECT 1) ZI" {
		t.Fatal(got)
	}
}
