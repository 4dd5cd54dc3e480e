package proxy

import (
	"strings"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
)

// allowed is the time-out under test, far above what the other steps take.
const allowed = 2 * time.Second

// messages of the extended protocol for one text.
func extended(text string) []oldproto.FrontendMessage {
	return []oldproto.FrontendMessage{&oldproto.Parse{Query: text}, &oldproto.Bind{}, &oldproto.Execute{}}
}

// expectLast expects the end of a session with a message.
func (w *wire) expectLast(state, message string) {
	w.t.Helper()
	if last := w.expectFatal(state); last.Message != message {
		w.t.Errorf("the last word is %q", last.Message)
	}
}

func TestStatementTimeout(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Timeouts.Statement = allowed })
	w := p.loginWire(t)
	for name, ask := range map[string][]oldproto.FrontendMessage{
		"simple":                    {&oldproto.Query{String: "SELECT pg_sleep(600)"}},
		"simple, the second":        {&oldproto.Query{String: "SELECT pg_sleep(0.1); SELECT pg_sleep(600)"}},
		"extended":                  append(extended("SELECT pg_sleep(600)"), &oldproto.Sync{}),
		"extended, without Sync":    append(extended("SELECT pg_sleep(600)"), &oldproto.Flush{}),
		"extended, with a pipeline": append(append(extended("SELECT pg_sleep(600)"), extended("SELECT 1")...), &oldproto.Sync{}),
	} {
		w.send(ask...)
		var refused *oldproto.ErrorResponse
		for refused == nil {
			if e, ok := w.receive().(*oldproto.ErrorResponse); ok {
				refused = e
			}
		}
		if refused.Severity != "ERROR" || refused.Code != stateQueryCanceled || refused.Message != "canceling statement due to statement timeout" {
			t.Errorf("%s: %s %s %s", name, refused.Severity, refused.Code, refused.Message)
		}
		if strings.HasSuffix(name, "without Sync") {
			w.send(&oldproto.Sync{})
		}
		if got := w.script(1); got != "ZI" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A client's own cancel request, or one of the server, is not taken for it; each
	// statement has its own time.
	w = p.loginWire(t)
	w.send(&oldproto.Query{String: "SET statement_timeout = 50; SELECT pg_sleep(600)"})
	if got := w.script(1); got != "C(SET) T E57014 ZI" {
		t.Errorf("the server's own time-out: %s", got)
	}
	w.send(&oldproto.Query{String: "RESET statement_timeout" + strings.Repeat("; SELECT pg_sleep(0.7)", 4)})
	if got, want := w.script(1), "C(RESET)"+strings.Repeat(" T D() C(SELECT 1)", 4)+" ZI"; got != want {
		t.Errorf("four in a text: %s", got)
	}
	var four []oldproto.FrontendMessage
	for range 4 {
		four = append(four, extended("SELECT pg_sleep(0.7)")...)
	}
	w.send(append(four, &oldproto.Sync{})...)
	if got, want := w.script(1), strings.Repeat("1 2 D() C(SELECT 1) ", 4)+"ZI"; got != want {
		t.Errorf("four in a pipeline: %s", got)
	}
}

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Timeouts.Idle = allowed })
	silent, transaction, busy := p.loginWire(t), p.loginWire(t), p.loginWire(t)
	transaction.send(&oldproto.Query{String: "BEGIN"})
	transaction.script(1)
	busy.send(&oldproto.Query{String: "SELECT pg_sleep(4)"})
	silent.expectLast(stateIdleSessionTimeout, "terminating connection due to idle-session timeout")
	if got := busy.script(1); got != "T D() C(SELECT 1) ZI" {
		t.Errorf("a statement: %s", got)
	}
	for range 5 {
		time.Sleep(allowed / 4)
		busy.send(&oldproto.Query{String: "SELECT 1"})
		busy.script(1)
	}
	transaction.send(&oldproto.Query{String: "COMMIT"})
	if got := transaction.script(1); got != "C(COMMIT) ZI" {
		t.Errorf("a transaction: %s", got)
	}
	busy.expectLast(stateIdleSessionTimeout, "terminating connection due to idle-session timeout")
}

func TestIdleInTransactionTimeout(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Timeouts.IdleInTransaction = allowed })
	outside, begun, failed, open, carried := p.loginWire(t), p.loginWire(t), p.loginWire(t), p.loginWire(t), p.loginWire(t)
	begun.send(&oldproto.Query{String: "BEGIN; SELECT pg_sleep(3)"})
	if got := begun.script(1); got != "C(BEGIN) T D() C(SELECT 1) ZT" {
		t.Error(got)
	}
	failed.send(&oldproto.Query{String: "BEGIN; SELECT 1/0"})
	if got := failed.script(1); got != "C(BEGIN) E22012 ZE" {
		t.Error(got)
	}
	open.send(append(extended("SELECT 1"), &oldproto.Flush{})...)
	inside := []*wire{begun, failed, open}
	// From PostgreSQL 18 on, the transaction goes on, though the server says that it is idle.
	carried.send(append(extended("SELECT 1"), query("SELECT 2"), syncMessage)...)
	switch got := carried.script(2); got {
	case "1 2 D(1) C(SELECT 1) T D(2) C(SELECT 1) ZT ZI":
		inside = append(inside, carried)
	case "1 2 D(1) C(SELECT 1) T D(2) C(SELECT 1) ZI ZI":
	default:
		t.Error(got)
	}
	for _, w := range inside {
		w.expectLast(stateIdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
	}
	outside.send(&oldproto.Query{String: "SELECT 1"})
	if got := outside.script(1); got != "T D(1) C(SELECT 1) ZI" {
		t.Errorf("outside of transactions: %s", got)
	}
}

func TestTransactionTimeout(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Timeouts.Transaction = allowed })
	direct := connectPgx(t, p.direct)
	mark := marker()
	idle, busy, implicit, short := p.loginWire(t), p.loginWire(t), p.loginWire(t), p.loginWire(t)
	idle.send(&oldproto.Query{String: "BEGIN"})
	busy.send(&oldproto.Query{String: "BEGIN"}, &oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	implicit.send(&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	for range 4 {
		short.send(&oldproto.Query{String: "SELECT pg_sleep(0.7)"})
	}
	if got, want := short.script(4), strings.Repeat("T D() C(SELECT 1) ZI ", 4); got+" " != want {
		t.Errorf("short ones: %s", got)
	}
	for _, w := range []*wire{idle, busy, implicit} {
		w.expectLast(stateTransactionTimeout, "terminating connection due to transaction timeout")
	}
	eventually(t, "nothing runs any more", func() bool { return active(t, direct, mark) == 0 })
	short.send(&oldproto.Query{String: "SELECT 1"})
	if got := short.script(1); got != "T D(1) C(SELECT 1) ZI" {
		t.Errorf("outside of transactions: %s", got)
	}
}

// TestAnswersKeptBack waits longer than a statement may run before it asks for its
// answer.
func TestAnswersKeptBack(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Timeouts.Statement, c.Timeouts.IdleInTransaction = allowed, 4*allowed })
	slow, silent := p.loginWire(t), p.loginWire(t)
	for _, w := range []*wire{slow, silent} {
		w.send(extended("SELECT 1")...)
	}
	time.Sleep(2 * allowed)
	slow.send(append(extended("SELECT 2"), &oldproto.Sync{})...)
	if got := slow.script(1); got != "1 2 D(1) C(SELECT 1) 1 2 D(2) C(SELECT 1) ZI" {
		t.Errorf("the slow client: %s", got)
	}
	silent.expectLast(stateIdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
}
