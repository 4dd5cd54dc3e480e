package proxy

import (
	"context"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"
)

func pemEncode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestCancelReachesTheRightQuery(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	one, two := p.loginWire(t), p.loginWire(t)
	mark := marker()
	cancel := func(pid, secret uint32) {
		w := dialWire(t, p.addr)
		w.send(&oldproto.CancelRequest{ProcessID: pid, SecretKey: secret})
		if m, err := w.Receive(); err == nil {
			t.Errorf("a cancel request was answered by %#v", m)
		}
	}
	one.send(&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	two.send(&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	eventually(t, "both run", func() bool { return active(t, direct, mark) == 2 })

	cancel(one.pid, one.secret+1)
	cancel(one.pid+1, one.secret)
	cancel(one.pid, one.secret)
	if got := one.script(1); got != "T E57014 ZI" && got != "E57014 ZI" {
		t.Error(got)
	}
	if n := active(t, direct, mark); n != 1 {
		t.Errorf("%d still run, want the other one", n)
	}
	// Nothing runs: nothing is canceled, not even what comes next.
	cancel(one.pid, one.secret)
	one.send(&oldproto.Query{String: "SELECT 1"})
	if got := one.script(1); got != "T D(1) C(SELECT 1) ZI" {
		t.Error(got)
	}
	cancel(two.pid, two.secret)
	if got := two.script(1); !strings.Contains(got, "E57014") {
		t.Error(got)
	}
}

func TestCancelKeys(t *testing.T) {
	t.Parallel()
	var keys cancelKeys
	one, two := &session{}, &session{}
	first, second := keys.add(one, shortSecretBytes), keys.add(two, longSecretBytes)
	body := func(k cancelKey) []byte { return append(binary.BigEndian.AppendUint32(nil, k.pid), k.secret...) }
	if keys.find(body(first)) != one || keys.find(body(second)) != two {
		t.Error("a key does not find its session")
	}
	for _, key := range []cancelKey{first, second} {
		for i := range body(key) {
			wrong := body(key)
			wrong[i] ^= 1
			if keys.find(wrong) != nil {
				t.Errorf("a key that is wrong in byte %d finds a session", i)
			}
		}
		for length := range maxSecretBytes + 8 {
			padded := append(body(key), make([]byte, maxSecretBytes)...)[:length]
			if length != len(body(key)) && keys.find(padded) != nil {
				t.Errorf("a key of %d bytes finds a session", length)
			}
		}
	}
	keys.remove(first)
	if keys.find(body(first)) != nil || keys.find(body(second)) != two {
		t.Error("the wrong key was removed")
	}
}

func TestDisconnectCancels(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	for name, last := range map[string][]oldproto.FrontendMessage{"closed": nil, "terminated": {&oldproto.Terminate{}}} {
		mark := marker()
		w := p.loginWire(t)
		w.send(append([]oldproto.FrontendMessage{&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"}}, last...)...)
		eventually(t, name+": it runs", func() bool { return active(t, direct, mark) == 1 })
		_ = w.Close()
		eventually(t, name+": it is canceled", func() bool { return active(t, direct, mark) == 0 })
	}
}

func TestTerminateIsAnsweredFirst(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	w.send(&oldproto.Query{String: "SELECT pg_sleep(0.1)"}, &oldproto.Query{String: "SELECT 2"}, &oldproto.Terminate{})
	if got := w.script(2); got != "T D() C(SELECT 1) ZI T D(2) C(SELECT 1) ZI" {
		t.Error(got)
	}
	if m, err := w.Receive(); err == nil {
		t.Errorf("after the end: %#v", m)
	}
}

func TestUpstreamDies(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	w := p.loginWire(t)
	w.send(&oldproto.Query{String: "SELECT pg_backend_pid()"})
	var pid string
	for {
		m := w.receive()
		if row, ok := m.(*oldproto.DataRow); ok {
			pid = string(row.Values[0])
		}
		if _, ok := m.(*oldproto.ReadyForQuery); ok {
			break
		}
	}
	if _, err := direct.Exec(deadline(t), "SELECT pg_terminate_backend("+pid+")"); err != nil {
		t.Fatal(err)
	}
	w.expectFatal(stateAdminShutdown)
}

func TestSessionsAreCapped(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.MaxSessions = 2 })
	// Strangers who do not log in take no place.
	for range 5 {
		dialWire(t, p.addr).startup(testUser, published)
	}
	one, two := p.loginWire(t), p.loginWire(t)
	w := dialWire(t, p.addr)
	w.startup(testUser, published)
	w.scram(testPassword)
	w.expectFatal(stateTooManyConnections)
	// A cancel request needs no session.
	one.send(&oldproto.Query{String: "SELECT pg_sleep(600)"})
	eventually(t, "the query is known", func() bool {
		w := dialWire(t, p.addr)
		w.send(&oldproto.CancelRequest{ProcessID: one.pid, SecretKey: one.secret})
		_ = one.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := one.Receive()
		return err == nil
	})
	_ = two.Close()
	eventually(t, "a place is free", func() bool {
		conn, err := pgconn.Connect(deadline(t), p.url("sslmode=disable"))
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	})
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	p := startProxy(t, func(c *Config) {
		c.Available = func() error {
			if down.Load() {
				return errors.New("the guarantees cannot be proved")
			}
			return nil
		}
	})
	w := p.loginWire(t)
	w.send(&oldproto.Parse{Name: "s", Query: "SELECT 1"}, &oldproto.Parse{Query: "SELECT 2"}, &oldproto.Sync{})
	if got := w.script(1); got != "1 1 ZI" {
		t.Fatal(got)
	}
	down.Store(true)
	w.send(&oldproto.Bind{PreparedStatement: "s"}, &oldproto.Execute{}, &oldproto.Sync{},
		&oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{},
		&oldproto.Parse{Name: "p", Query: ""}, &oldproto.Sync{})
	if got := w.script(3); got != "E57P03 ZI E57P03 ZI E57P03 ZI" {
		t.Error(got)
	}
	down.Store(false)
	w.send(&oldproto.Bind{PreparedStatement: "s"}, &oldproto.Execute{}, &oldproto.Sync{})
	if got := w.script(1); got != "2 D(1) C(SELECT 1) ZI" {
		t.Error(got)
	}
	// The refusals have not dropped the unnamed statement.
	w.send(&oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{})
	if got := w.script(1); got != "2 D(2) C(SELECT 1) ZI" {
		t.Error(got)
	}
	down.Store(true)
	w.send(&oldproto.Query{String: "SELECT 1"}, &oldproto.Query{String: ""})
	if got := w.script(2); got != "E57P03 ZI E57P03 ZI" {
		t.Error(got)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	direct := connectPgx(t, p.direct)
	idle, busy, unknown := p.loginWire(t), p.loginWire(t), dialWire(t, p.addr)
	unknown.startup(testUser, published)
	mark := marker()
	busy.send(&oldproto.Query{String: "SELECT pg_sleep(0.5) /* " + mark + " */"})
	eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	idle.expectFatal(stateAdminShutdown)
	unknown.expectFatal(stateCannotConnectNow)
	if got := busy.script(1); got != "T D() C(SELECT 1) ZI" {
		t.Error(got)
	}
	busy.expectFatal(stateAdminShutdown)
	if conn, err := net.Dial("tcp", p.addr); err == nil {
		_ = conn.Close()
		t.Error("still accepting")
	}
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.DrainTimeout = 50 * time.Millisecond })
	direct := connectPgx(t, p.direct)
	w := p.loginWire(t)
	mark := marker()
	w.send(&oldproto.Query{String: "SELECT pg_sleep(600) /* " + mark + " */"})
	eventually(t, "it runs", func() bool { return active(t, direct, mark) == 1 })
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	w.expectFatal(stateAdminShutdown)
	eventually(t, "it is canceled", func() bool { return active(t, direct, mark) == 0 })
}

// TestEndAmidRows ends a session whose client is receiving rows that are larger than what is
// read at once: it gets the row that has begun, and then the reason.
func TestEndAmidRows(t *testing.T) {
	t.Parallel()
	for range 2 {
		p := startProxy(t, func(c *Config) { c.DrainTimeout = time.Millisecond })
		w := p.loginWire(t)
		w.send(&oldproto.Query{String: "SELECT repeat('x', 300000) FROM generate_series(1, 1000000)"})
		rows, stopped := 0, make(chan error, 1)
		for last := (*oldproto.ErrorResponse)(nil); last == nil; {
			switch m := w.receive().(type) {
			case *oldproto.DataRow:
				if rows++; rows == 3 {
					go func() { stopped <- p.stop() }()
				}
				if len(m.Values[0]) != 300000 {
					t.Fatalf("row %d has %d bytes", rows, len(m.Values[0]))
				}
			case *oldproto.ErrorResponse:
				if last = m; m.Severity != "FATAL" || m.Code != stateAdminShutdown {
					t.Errorf("the last word is %+v", m)
				}
			}
		}
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
	}
}

// TestSlowReaderGrowsNothing leaves a large result unread and looks at the
// process's memory.
func TestSlowReaderGrowsNothing(t *testing.T) {
	p := startProxy(t, nil)
	w := p.loginWire(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w.send(&oldproto.Query{String: "SELECT repeat('x', 50000000)"})
	direct := connectPgx(t, p.direct)
	eventually(t, "the server waits for the reader", func() bool {
		var n int
		err := direct.QueryRow(deadline(t), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite'").Scan(&n)
		return err == nil && n > 0
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	p := startProxy(t, nil)
	for range 5 {
		w := p.loginWire(t)
		w.send(&oldproto.Query{String: "SELECT 1"})
		w.script(1)
		_ = w.Close()
		_ = dialWire(t, p.addr).Close()
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}
