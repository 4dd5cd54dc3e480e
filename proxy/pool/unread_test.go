package pool_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/sys/unix"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestUnreadMessagesCloseTheConnection has a session end before it has read what the server
// has sent: an answer, which must not pass as one to the reset, or a notification. The
// connection is closed at once, traceless or not.
func TestUnreadMessagesCloseTheConnection(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	for _, traceless := range []bool{false, true} {
		p := newPool(t, reader(t, server, dsn), nil)
		for unread, send := range map[string]func(*session){
			"nothing": func(*session) {},
			"an answer": func(s *session) {
				s.front.Send(&pgproto3.Query{String: "SELECT 'canary'"})
				if err := s.front.Flush(); err != nil {
					t.Fatal(err)
				}
			},
			"a notification": func(s *session) {
				s.do("LISTEN news")
				execute(t, dsn, "NOTIFY news")
			},
		} {
			s := get(t, p, ann())
			s.do("SELECT 1")
			send(s)
			if unread != "nothing" {
				awaitBytes(t, s.Conn())
			}
			if traceless {
				s.Traceless()
			}
			s.Release('I')
			if kept := settled(t, p).Idle == 1; kept != (unread == "nothing") {
				t.Errorf("traceless %t, with %s unread: the connection is kept: %t", traceless, unread, kept)
			}
		}
	}
}

// awaitBytes waits until a connection has something to read, and leaves it there.
func awaitBytes(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, failed = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		return failed != unix.EAGAIN
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}
