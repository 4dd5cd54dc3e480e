package proxy_test

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/chaos"
)

// maxLengthBytes is what a connection may allocate, whatever lengths it tells, the login
// and both other ends included.
const maxLengthBytes = 512 << 10

// TestLengthsCostNothing has clients and servers announce much and send little. Memory is
// taken for what has come.
func TestLengthsCostNothing(t *testing.T) {
	p, err := startFuzzed(func(c *proxy.Config) {
		c.MaxStatementBytes, c.MaxMessageBytes = 0, 1<<30-1
		c.Pool.IdleTimeout = -1 // each session meets the server as it is then
	})
	if err != nil {
		t.Fatal(err)
	}
	lengths := [][]byte{{0x00, 0x0f, 0xff, 0xff}, {0x03, 0xff, 0xff, 0xff}, {0x3f, 0xff, 0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}}
	few := []byte("a few bytes")
	for _, length := range lengths {
		for _, kind := range []byte("QPBDECFdf") {
			if kind == 'B' && length[0] == 0 {
				continue // this process is the server as well, which takes that much
			}
			costs(t, string(kind)+" of a client", func() error { return p.hear(append(append([]byte{kind}, length...), few...)) })
		}
		for _, kind := range []byte("TDENSCGVt1dKR") {
			p.server.Turn(&chaos.Hostility{Bytes: append(append([]byte{kind}, length...), few...)})
			costs(t, string(kind)+" of the server", func() error { return p.suffer(true) })
		}
		p.server.Turn(nil)
		costs(t, "a first packet", func() error { return p.knock(p.Login(true, false), append(length, few...)) })
		first := append(packet(version30, "user\x00ann\x00database\x00clinic\x00\x00"), 'p')
		costs(t, "a password", func() error { return p.knock(p.Login(true, false), append(append(first, length...), few...)) })
	}
	for _, length := range lengths {
		for _, kind := range []byte("TDENSKvR") {
			p.server.Turn(&chaos.Hostility{AtLogin: true, Bytes: append(append([]byte{kind}, length...), few...)})
			costs(t, string(kind)+" at the server's login", func() error { return p.suffer(true) })
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.server.Close(); err != nil {
		t.Error(err)
	}
}

// costs runs a case and fails if it allocates too much.
func costs(t *testing.T, what string, run func() error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := run(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxLengthBytes {
		t.Errorf("%s: %d bytes", what, n)
	}
}

// TestSlowReader has a client ask for much and read nothing. What waits for it in the
// proxy is bounded, and it gets all in the end.
func TestSlowReader(t *testing.T) {
	p, err := startFuzzed(func(c *proxy.Config) { c.MaxStatementBytes = 0 })
	if err != nil {
		t.Fatal(err)
	}
	client, err := p.login()
	if err != nil {
		t.Fatal(err)
	}
	const queries = 40
	query := chaos.AppendMessage(nil, 'Q', []byte(chaos.Statement{Verb: chaos.Rows, A: 300, B: 9000}.Text()+"\x00"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range queries { // some 100 MB of answers
		if _, err := client.Write(query); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	runtime.ReadMemStats(&after)
	// The server has the answer to one query in memory, up to 3 MB and its copies.
	if n := int64(after.HeapInuse) - int64(before.HeapInuse); n > 24<<20 {
		t.Errorf("%d bytes wait for a client that does not read", n)
	}
	for range queries {
		for kind := byte(0); kind != 'Z'; {
			if kind, _, err = chaos.ReadMessage(client.In); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = client.Conn.(*net.UnixConn).Close()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.server.Close(); err != nil {
		t.Error(err)
	}
}
