package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kproxy/kproxy/proxy/reactor"
)

// sockets returns the two ends of a connection.
func sockets(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		end, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		t.Cleanup(func() { _ = end.Close() })
		ends[i] = end
	}
	return ends[0], ends[1]
}

// startSession runs a session between two connections on an event loop of its own, and
// returns where its end will be told.
func startSession(t testing.TB, config Config, state State, client, server net.Conn) <-chan error {
	t.Helper()
	on, err := startShards(1, slog.New(slog.DiscardHandler), func() {})
	if err != nil {
		t.Fatal(err)
	}
	raw, upRaw := reactor.Wrap(client), reactor.Wrap(server)
	up := &upstream{raw: upRaw, conn: upRaw, cancel: func(context.Context) error { return nil }}
	ended, over := make(chan error, 1), make(chan error, 1)
	if err := newSession(&config, "ann", state, raw, raw, up).begin(on.pick(), func(reason error) { ended <- reason }); err != nil {
		t.Fatal(err)
	}
	go func() {
		reason := <-ended
		on.close()
		over <- reason
	}()
	return over
}

// readFrame reads the header of the next message. It returns io.EOF only between two.
func readFrame(r *bufio.Reader) (frame, error) {
	var header [headerBytes]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		if n > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	return parseHeader(header[:])
}

func readBody(r io.Reader, f frame) ([]byte, error) {
	body := make([]byte, f.size)
	_, err := io.ReadFull(r, body)
	return body, unexpected(err)
}

// exchanger drives a relay without connections.
type exchanger struct {
	*relay
	client, server     []byte // what they have sent and the relay has not taken
	toServer, toClient []byte
}

// clientSends has the relay take what the client sends, if it is not to wait.
func (x *exchanger) clientSends(b []byte) error {
	x.client = append(x.client, b...)
	for !x.relay.client.waits() {
		var out writeBuffer
		taken, _, err := x.fromClient(x.client, &out)
		x.toServer = append(x.toServer, out.gathered()...)
		if err != nil {
			return err
		}
		x.client = x.client[taken:]
		if x.relay.client.until == nil {
			return nil
		}
	}
	return nil
}

// serverSends has it take what the server sends, and then what the client has to wait
// for no more.
func (x *exchanger) serverSends(b []byte) error {
	x.server = append(x.server, b...)
	var out writeBuffer
	taken, _, err := x.fromServer(x.server, &out)
	x.toClient = append(x.toClient, out.gathered()...)
	x.server = x.server[taken:]
	if err != nil {
		return err
	}
	return x.clientSends(nil)
}
