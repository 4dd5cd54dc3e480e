package proxy

import (
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// cancel sends a cancel request for a session.
func (p *testProxy) cancel(t *testing.T, session *wire) {
	t.Helper()
	w := dialWire(t, p.addr)
	w.send(&oldproto.CancelRequest{ProcessID: session.pid, SecretKey: session.secret})
	if m, err := w.Receive(); err == nil {
		t.Errorf("a cancel request was answered by %#v", m)
	}
}

func TestCancelInTheMiddleOfCopy(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, format := range []string{"text", "csv", "binary"} {
		w := p.loginWire(t)
		w.send(query("SELECT 1; COPY (SELECT repeat('x', 1000), generate_series(1, 100000000)) TO STDOUT (FORMAT " + format + "); SELECT 2"))
		for rows := 0; rows < 100; {
			if _, ok := w.receive().(*oldproto.CopyData); ok {
				rows++
			}
		}
		p.cancel(t, w)
		last := ""
		for last != "ZI" {
			before := last
			if last = brief(w.receive()); last == "ZI" && before != "E57014" {
				t.Errorf("%s: %s before the end", format, before)
			}
		}
		w.send(query("SELECT 'still in step'"))
		if got := w.script(1); got != "T D(still in step) C(SELECT 1) ZI" {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// TestCancelWhileATextWaits cancels what the text waits for: its effects are undone.
func TestCancelWhileATextWaits(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	w, mark := p.loginWire(t), marker()
	w.send(query("SET search_path TO a; SELECT pg_sleep(600) /* "+mark+" */"), query(seen))
	eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
	p.cancel(t, w)
	got := w.script(2)
	for _, first := range []string{"C(SET) E57014 ZI ", "C(SET) T E57014 ZI "} {
		if got == first+at(fakeDefaultPath)+" ZI" {
			return
		}
	}
	t.Error(got)
}
