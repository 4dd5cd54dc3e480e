package pool

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestCancelerKnowsWhatItHasSent has servers that end the exchange at each of its steps.
func TestCancelerKnowsWhatItHasSent(t *testing.T) {
	t.Parallel()
	request := binary.BigEndian.AppendUint32(nil, 16)
	for _, v := range []uint32{cancelRequestCode, 7, 0x01020304} {
		request = binary.BigEndian.AppendUint32(request, v)
	}
	receive := func(conn net.Conn) {
		got := make([]byte, len(request))
		if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, request) {
			t.Errorf("% x, %v", got, err)
		}
	}
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	for _, c := range []struct {
		name      string
		encrypted bool
		server    func(net.Conn)
		fails     bool
		uncertain bool
	}{
		{"taken", false, receive, false, false},
		{"no answer", false, silent, true, true},
		{"closed inside the request", false, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 5)) }, true, true},
		{"an answer", false, func(conn net.Conn) { receive(conn); _, _ = conn.Write([]byte("E")) }, true, true},
		{"no answer about TLS", true, silent, true, false},
		{"TLS refused", true, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 8)); _, _ = conn.Write([]byte("N")) }, true, false},
		{"no handshake", true, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 8)); _, _ = conn.Write([]byte("S")); silent(conn) }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			go func() {
				c.server(theirs)
				_ = theirs.Close()
			}()
			canceler := &canceler{
				dial: func(context.Context, string, string) (net.Conn, error) { return ours, nil },
				pid:  7, secret: []byte{1, 2, 3, 4},
			}
			if c.encrypted {
				canceler.tls = &tls.Config{ServerName: "localhost"}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := canceler.cancel(ctx)
			if (err != nil) != c.fails || errors.Is(err, ErrCancelUncertain) != c.uncertain {
				t.Errorf("%v; it is to fail: %v, uncertain: %v", err, c.fails, c.uncertain)
			}
		})
	}
}
