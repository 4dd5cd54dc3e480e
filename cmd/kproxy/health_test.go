package main

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// answering listens and answers the first eight bytes of each connection.
func answering(t *testing.T, network, address, answer string) net.Listener {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, 8); err == nil {
				_, _ = io.WriteString(conn, answer)
			}
			_ = conn.Close()
		}
	}()
	return listener
}

func TestHealth(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for answer, fault := range map[string]string{"S": "", "N": "", "H": "something else", "": "waiting for an answer"} {
		listener := answering(t, "tcp", "127.0.0.1:0", answer)
		err := answers(ctx, []string{"/run/kproxy", listener.Addr().String()})
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("answered by %q: %v", answer, err)
		}
	}
	folder := t.TempDir()
	answering(t, "unix", folder+"/.s.PGSQL.5432", "N")
	if err := answers(ctx, []string{folder}); err != nil {
		t.Error(err)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]string{
		":6432": "localhost:6432", "0.0.0.0:6432": "localhost:6432", "[::]:6432": "localhost:6432",
		"10.0.0.1:7": "10.0.0.1:7", "db:6432": "db:6432", "/run/kproxy": "/run/kproxy/.s.PGSQL.5432",
	} {
		if _, address, err := reachable([]string{first}); err != nil || address != want {
			t.Errorf("%s: %q, %v", first, address, err)
		}
	}
	for _, none := range [][]string{nil, {"127.0.0.1:0"}} {
		if _, _, err := reachable(none); err == nil {
			t.Errorf("%q: no error", none)
		}
	}
}
