package sync

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestReasonsAreToldOnce(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	missing := &pgconn.PgError{Message: `database "nowhere" does not exist`, Code: "3D000"}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("failed to connect:\n\t%w\n\t%w", dial, dial), "connection refused"},
		{fmt.Errorf("failed to connect: %w", &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5432}, Err: syscall.ECONNREFUSED}), "127.0.0.1:5432: connection refused"},
		{errors.Join(errors.New("tls error: server refused TLS connection"), missing), `database "nowhere" does not exist (SQLSTATE 3D000)`},
		{errors.New("failed to connect:\n\tfirst\n\tfirst\n\tsecond"), "failed to connect: first second"},
	} {
		if got := Reason(test.err); got.Error() != test.want || !errors.Is(got, test.err) {
			t.Errorf("%q is told as %q", test.err, got)
		}
	}
	if Reason(nil) != nil {
		t.Error("there is a reason for nothing")
	}
}

// A server that is not there is told of in one line, with the ways of encryption that are
// tried by default.
func TestReasonOfNoServer(t *testing.T) {
	t.Parallel()
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := port.Addr().String()
	_ = port.Close()
	owner, err := pgx.ParseConfig("postgres://kproxy@" + address + "/hospital?sslmode=prefer")
	if err != nil {
		t.Fatal(err)
	}
	owner.ConnectTimeout = 10 * time.Second
	err = Rebuild(t.Context(), owner, "kproxy", nil)
	if err == nil || strings.Count(err.Error(), "refused") != 1 || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %q", err)
	}
}
