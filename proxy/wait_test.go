package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// scriptedServer is a server of which the test decides when it answers what.
type scriptedServer struct {
	t *testing.T
	exchanger
}

// converse has a test play both a client and the server of a session.
func converse(t *testing.T, reported map[string]string, test func(s *scriptedServer)) {
	t.Helper()
	config := Config{Gate: testGate{}, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler)}.withDefaults()
	begin, _, err := fakeOpen(nil)
	if err != nil {
		t.Fatal(err)
	}
	test(&scriptedServer{t: t, exchanger: exchanger{relay: newRelay(&config, "ann", begin, reported)}})
}

// hears returns what the server has been sent, in a short notation.
func (s *scriptedServer) hears() string {
	from := bytes.NewReader(s.toServer)
	backend := oldproto.NewBackend(oldproto.NewChunkReader(from), nil)
	s.toServer = nil
	var all []string
	for {
		m, err := backend.Receive()
		if err != nil {
			return strings.Join(all, " ")
		}
		switch m := m.(type) {
		case *oldproto.Query:
			all = append(all, "Q("+m.String+")")
		case *oldproto.Parse:
			all = append(all, "P("+m.Query+")")
		case *oldproto.Bind:
			all = append(all, "B")
		case *oldproto.Execute:
			all = append(all, "E")
		case *oldproto.Sync:
			all = append(all, "S")
		case *oldproto.Flush:
			all = append(all, "H")
		default:
			all = append(all, fmt.Sprintf("%T", m))
		}
	}
}

// sends has the client send.
func (s *scriptedServer) sends(parts ...any) {
	var out []byte
	for _, m := range messages(parts...) {
		out = encode(s.t, out, m)
	}
	if err := s.clientSends(out); err != nil {
		s.t.Fatal(err)
	}
}

// answers has the server send, and returns what the client gets.
func (s *scriptedServer) answers(all ...oldproto.BackendMessage) string {
	var got []string
	for _, m := range s.answered(all...) {
		got = append(got, brief(m))
	}
	return strings.Join(got, " ")
}

func (s *scriptedServer) answered(all ...oldproto.BackendMessage) (got []oldproto.BackendMessage) {
	var out []byte
	for _, m := range all {
		out = encode(s.t, out, m)
	}
	if err := s.serverSends(out); err != nil {
		s.t.Fatal(err)
	}
	sent := s.toClient
	s.toClient = nil
	for len(sent) > 0 {
		// The codec uses the memory of a message again.
		size := 1 + int(binary.BigEndian.Uint32(sent[1:]))
		m, err := oldproto.NewFrontend(oldproto.NewChunkReader(bytes.NewReader(sent[:size])), nil).Receive()
		if err != nil {
			s.t.Fatal(err)
		}
		got = append(got, m)
		sent = sent[size:]
	}
	return got
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
}

func TestTextWaitsForTheEndOfASkip(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		s.sends(run("", "SET search_path TO c"), parse("", "fails"), "SELECT @", syncMessage, "SELECT @")
		s.expect("P(SET search_path TO c) B E P(fails) Q(SELECT c) S")
		s.answers(parsed, bound, complete, oldFailed)
		s.expect("")
		s.answers(ready)
		s.expect(`Q(SELECT "$user", public)`)
	})
}

// TestPathIsReported has PostgreSQL 18 report search_path: clients see their own.
func TestPathIsReported(t *testing.T) {
	t.Parallel()
	converse(t, map[string]string{pathParameter: "the reader's"}, func(s *scriptedServer) {
		status := &oldproto.ParameterStatus{Name: pathParameter, Value: "canary"}
		s.sends("SET search_path TO a")
		s.expect("Q(SET search_path TO a)")
		var got []string
		for _, m := range s.answered(complete, status, ready) {
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
}

// TestSegmentWithoutEnd executes a statement with effects more often in one segment
// than is remembered: the server is asked for the answers that it holds back.
func TestSegmentWithoutEnd(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	const rounds = 3 * maxMessages
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
		// DISCARD ALL also resets application_name, which is reported, as other settings are
		// that some versions report although they have not changed.
		reportless := func(word string) bool { return word == "S" }
		if got := strings.Join(slices.DeleteFunc(strings.Fields(w.script(2)), reportless), " "); got != "C("+free+") ZI 1 ZI" {
			t.Fatal(got)
		}
	}
	w.send(parse("plain", "SELECT 1"), bind("", "plain"), execute("", 0), syncMessage)
	if got := w.script(1); got != "1 2 D(1) C(SELECT 1) ZI" {
		t.Fatal(got)
	}
}

// TestUnnamedPortalOfAFailedQuery cannot be executed: a server could crash.
func TestUnnamedPortalOfAFailedQuery(t *testing.T) {
	t.Parallel()
	failed := &oldproto.ReadyForQuery{TxStatus: 'E'}
	converse(t, nil, func(s *scriptedServer) {
		s.sends("BEGIN")
		s.answers(complete, &oldproto.ReadyForQuery{TxStatus: 'T'})
		// While the query is running, it is not known.
		s.sends("SELECT 1/0", execute("", 0), syncMessage)
		s.expect("Q(BEGIN) Q(SELECT 1/0) H")
		refused := func() {
			t.Helper()
			if got := s.hears(); !strings.HasPrefix(got, "P(SELECT kproxy_refused_") {
				t.Fatal(got)
			}
			s.answers(oldFailed, failed)
			s.hears()
		}
		s.answers(oldFailed, failed)
		refused()
		s.sends(&oldproto.Describe{ObjectType: 'P'}, syncMessage)
		s.expect("*pgproto3.Describe S")
		s.answers(&oldproto.NoData{}, failed)
		// A Bind that fails changes nothing.
		s.sends(bind("", "nosuch"), syncMessage)
		s.answers(oldFailed, failed)
		s.hears()
		s.sends(execute("", 0), syncMessage)
		refused()
		s.sends(parse("", "fails"), bind("", ""), syncMessage)
		s.answers(oldFailed, failed)
		s.hears()
		s.sends(execute("", 0), syncMessage)
		refused()
		// ROLLBACK can be bound, and executed later.
		s.sends(parse("", "ROLLBACK"), bind("", ""), &oldproto.Flush{})
		s.hears()
		s.answers(parsed, bound)
		s.sends(syncMessage, execute("", 0), syncMessage)
		s.expect("S E S")
		s.answers(failed, oldFailed, failed)
		s.sends("SELECT 1")
		s.answers(oldFailed, failed)
		s.hears()
		s.sends(run("", "ROLLBACK"), syncMessage)
		s.expect("P(ROLLBACK) B E S")
		s.answers(parsed, bound, complete, ready)
		s.sends(execute("", 0), syncMessage)
		s.expect("E S")
	})
}

// TestPositionIsSoughtAside has what the server sends behind an error wait for the error's
// position.
func TestPositionIsSoughtAside(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		var done func() error
		s.relay.server.later = func(work func(), then func() error) { work(); done = then }
		s.sends("SELECT 1", "SELECT 2")
		failed := *oldFailed
		failed.Position = 8
		if got := s.answers(&failed, ready, complete, ready); got != "" || done == nil {
			t.Fatalf("the client gets %s", got)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
		all := s.answered()
		if len(all) != 4 || all[0].(*oldproto.ErrorResponse).Position != 8 {
			t.Fatalf("the client gets %+v", all)
		}
	})
}
