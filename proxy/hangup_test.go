package proxy

import (
	"log/slog"
	"net"
	"testing"

	"github.com/kproxy/kproxy/proxy/listen"
)

// TestMonitorsThatDoNotWait has clients ask for encryption, and hang up before they are
// answered: they are gone before the server accepts them.
func TestMonitorsThatDoNotWait(t *testing.T) {
	t.Parallel()
	all, err := listen.All(t.Context(), []string{"127.0.0.1:0", t.TempDir()}, listen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []uint32{sslRequestCode, gssRequestCode} {
		for _, l := range all {
			conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte(packet(code, ""))); err != nil {
				t.Fatal(err)
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				if err := tcp.SetLinger(0); err != nil { // a reset
					t.Fatal(err)
				}
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var log lockedBuffer
	seen := new(witness)
	c := nowhere(t)
	c.Logger, c.Observer = slog.New(slog.NewTextHandler(&log, nil)), seen
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, server, all...)
	eventually(t, "it listens", func() bool { return len(*server.addresses.Load()) == len(all) })
	eventually(t, "a probe, which is accepted after them, gets its answer", func() bool { return server.Probe(deadline(t)) == nil })
	eventually(t, "all have ended", func() bool { return server.Counts() == Counts{} })
	if text := log.String(); text != "" {
		t.Errorf("the log tells of them:\n%s", text)
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if len(seen.rejected) > 0 {
		t.Errorf("rejected: %+v", seen.rejected)
	}
}
