package proxy

import (
	"context"
	"log/slog"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"

	"github.com/kproxy/kproxy/proxy/reactor"
)

// tokenText is what the server is sent in place of a text that is refused.
var tokenText = regexp.MustCompile(`[QP]\(SELECT ("?[0-9a-z_]+"?)\)`)

// TestStaleServersAreNotAsked has the server's data become too old, and new again.
func TestStaleServersAreNotAsked(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		fresh := true
		s.gate.fresh = func() bool { return fresh }
		s.sends(parse("s", "SELECT 1"), bind("p", "s"), syncMessage)
		s.expect("P(SELECT 1) B S")
		s.answers(parsed, bound, ready)

		for name, test := range map[string]struct {
			sends []oldproto.FrontendMessage
			heard string // TOKEN stands for the refused text
		}{
			"Query":   {messages("SELECT 2"), "Q(TOKEN)"},
			"Parse":   {messages(parse("", "SELECT 2"), syncMessage), "P(TOKEN) S"},
			"Bind":    {messages(bind("", "s"), execute("", 0), syncMessage), "P(TOKEN) S"},
			"Execute": {messages(execute("p", 0), syncMessage), "P(TOKEN) S"},
		} {
			fresh = false
			s.sends(test.sends)
			heard := s.hears()
			token := tokenText.FindStringSubmatch(heard)
			if token == nil || tokenText.ReplaceAllString(heard, heard[:1]+"(TOKEN)") != test.heard {
				t.Fatalf("%s: the server got %s, want %s", name, heard, test.heard)
			}
			got := s.answered(&oldproto.ErrorResponse{Severity: "ERROR", Code: "42703", Message: `column "` + token[1] + `" does not exist`}, ready)
			told, ok := got[0].(*oldproto.ErrorResponse)
			if !ok || told.Code != stateCannotConnectNow || told.Message != errStale.Error() || told.Hint != (stale{}).Hint() {
				t.Errorf("%s: the client is told %+v", name, got[0])
			}

			fresh = true
			s.sends("SELECT 3")
			s.expect("Q(SELECT 3)")
			s.answers(complete, ready)
		}
	})
}

// TestSessionsOnStaleServersEnd has the data of a session's server become too old while
// the session does several things: it ends when it is idle, and not before.
func TestSessionsOnStaleServersEnd(t *testing.T) {
	t.Parallel()
	var fresh atomic.Bool
	fresh.Store(true)
	client, accepted := sockets(t)
	up, server := sockets(t)
	raw, upRaw := reactor.Wrap(accepted), reactor.Wrap(up)
	config := Config{Gate: testGate{}, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler)}.withDefaults()
	begin, _, err := fakeOpen(nil)
	if err != nil {
		t.Fatal(err)
	}
	session := newSession(&config, "ann", begin, raw, raw, &upstream{raw: upRaw, conn: upRaw, cancel: func(context.Context) error { return nil }})
	session.relay.gate.fresh = fresh.Load
	on, err := newShard()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = on.loop.Run() }()
	t.Cleanup(on.loop.Close)
	ended := make(chan error, 1)
	if err := session.begin(on, func(reason error) { ended <- reason }); err != nil {
		t.Fatal(err)
	}
	goesOn := func(when string) {
		t.Helper()
		over := make(chan bool)
		session.shard.loop.Post(func() {
			session.guarded(func() error { return session.tick(time.Now()) })
			over <- session.ended
		})
		if <-over {
			t.Fatalf("the session has ended: %s", when)
		}
	}
	w := newWire(t, client)
	backend := oldproto.NewBackend(oldproto.NewChunkReader(server), server)
	ask := func(sql string) {
		t.Helper()
		w.send(&oldproto.Query{String: sql})
		if q, ok := receiveFrom(t, backend).(*oldproto.Query); !ok || q.String != sql {
			t.Fatalf("the server got %#v", q)
		}
	}
	answer := func(status byte) {
		t.Helper()
		if err := backend.Send(&oldproto.ReadyForQuery{TxStatus: status}); err != nil {
			t.Fatal(err)
		}
		if got := w.script(1); got != "Z"+string(status) {
			t.Fatalf("the client got %s", got)
		}
	}
	goesOn("idle and fresh")
	ask("BEGIN")
	fresh.Store(false)
	goesOn("a statement runs")
	answer('T')
	goesOn("in a transaction")
	fresh.Store(true)
	ask("COMMIT")
	fresh.Store(false)
	goesOn("the transaction is about to end")
	if err := backend.Send(&oldproto.ReadyForQuery{TxStatus: 'I'}); err != nil {
		t.Fatal(err)
	}
	last := w.expectFatal(stateAdminShutdown)
	if last.Message != "terminating connection because the data of its database server are too old" || last.Hint == "" {
		t.Errorf("the last word is %+v", last)
	}
	if reason := <-ended; finalError(reason) == nil {
		t.Errorf("it ended with %v", reason)
	}
}

// receiveFrom returns what a server is sent next.
func receiveFrom(t *testing.T, backend *oldproto.Backend) oldproto.FrontendMessage {
	t.Helper()
	m, err := backend.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
