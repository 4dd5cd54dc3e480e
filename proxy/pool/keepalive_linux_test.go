package pool_test

import (
	"errors"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/reactor"
)

// TestServersThatVanishAreNoticed asks the system what it does for a connection to the
// server: as it is handed out, and handed out again after a session on an event loop.
func TestServersThatVanishAreNoticed(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	p := newPool(t, reader(t, server, pgtest.Database(t, server)), nil)
	first := get(t, p, ann())
	pid := first.one(backend)
	expectKeepAlive(t, first, "new")
	conn := first.Conn().(*reactor.Conn)
	if err := errors.Join(conn.Detach(), conn.Attach()); err != nil {
		t.Fatal(err)
	}
	first.Release('I')
	settled(t, p)
	again := get(t, p, ann())
	if again.one(backend) != pid {
		t.Fatal("the connection is not reused")
	}
	expectKeepAlive(t, again, "handed out again")
}

// expectKeepAlive expects that a server that does not answer is found within minutes.
func expectKeepAlive(t *testing.T, s *session, when string) {
	t.Helper()
	raw, err := s.Conn().(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	option := func(level, name int) (value int) {
		err := raw.Control(func(fd uintptr) {
			var failed error
			if value, failed = unix.GetsockoptInt(int(fd), level, name); failed != nil {
				t.Error(failed)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	idle := option(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE)
	interval, count := option(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL), option(unix.IPPROTO_TCP, unix.TCP_KEEPCNT)
	// net.FileConn, which gives a connection back to Go's poller, sets times of its own.
	if silent := idle + interval*count; option(unix.SOL_SOCKET, unix.SO_KEEPALIVE) != 1 || silent > 180 {
		t.Errorf("%s: keepalive after %d s, each %d s, %d times", when, idle, interval, count)
	}
}
