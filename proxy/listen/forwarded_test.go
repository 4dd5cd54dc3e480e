package listen

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
)

// accepted is both ends of a connection by TCP.
func accepted(t testing.TB) (server *net.TCPConn, client net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), conn.Close() })
	return conn.(*net.TCPConn), client
}

// TestForwarded reads headers that the library writes, and nothing after them.
func TestForwarded(t *testing.T) {
	t.Parallel()
	tcp := func(address string) *net.TCPAddr {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	for _, test := range []struct {
		from, want string
		command    proxyproto.ProtocolVersionAndCommand
		extensions []proxyproto.TLV
	}{
		{from: "203.0.113.7:1234", command: proxyproto.PROXY, want: "203.0.113.7:1234"},
		{from: "[2001:db8::7]:65535", command: proxyproto.PROXY, want: "[2001:db8::7]:65535"},
		{from: "203.0.113.7:1234", command: proxyproto.PROXY, want: "203.0.113.7:1234", extensions: []proxyproto.TLV{{Type: proxyproto.PP2_TYPE_AUTHORITY, Value: []byte("db.example")}}},
		{from: "203.0.113.7:1234", command: proxyproto.LOCAL},
	} {
		header := proxyproto.HeaderProxyFromAddrs(2, tcp(test.from), tcp(test.from))
		header.Command = test.command
		if err := header.SetTLVs(test.extensions); err != nil {
			t.Fatal(err)
		}
		raw, err := header.Format()
		if err != nil {
			t.Fatal(err)
		}
		server, client := accepted(t)
		go func() {
			// In pieces, with the next packet at once.
			for _, piece := range [][]byte{raw[:5], raw[5:16], append(raw[16:], "next"...)} {
				_, _ = client.Write(piece)
				time.Sleep(time.Millisecond)
			}
			_ = client.Close()
		}()
		conn, err := Forwarded(server)
		if err != nil {
			t.Errorf("%s: %v", test.from, err)
			continue
		}
		want := test.want
		if want == "" {
			want = server.RemoteAddr().String()
		}
		if got := conn.RemoteAddr().String(); got != want {
			t.Errorf("the client is %s, want %s", got, want)
		}
		if rest, err := io.ReadAll(conn); err != nil || string(rest) != "next" {
			t.Errorf("%q is left, %v", rest, err)
		}
	}
}

// FuzzForwarded reads hostile headers: whatever comes, a client by TCP or an error, at
// once, and what is taken is the whole header.
func FuzzForwarded(f *testing.F) {
	signature := string(proxyproto.SIGV2)
	for _, seed := range []string{
		"", "\r\n\r\n", signature, signature + "\x21\x11\x00\x0c\xcb\x00\x71\x07\x7f\x00\x00\x01\x04\xd2\x15\x38next",
		signature + "\x20\x00\x00\x00", signature + "\x20\x11\x00\x03abc", signature + "\x21\x11\xff\xff",
		signature + "\x21\x21\x00\x24" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02" + "\x00\x01\x00\x02",
		signature + "\x21\x31\x00\xd8", signature + "\x21\x13\x00\x0c\xcb\x00\x71\x07\x7f\x00\x00\x01\x04\xd2\x15\x38", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		server, client := accepted(t)
		go func() {
			_, _ = client.Write(sent)
			_ = client.(*net.TCPConn).CloseWrite()
		}()
		conn, err := Forwarded(server)
		if err != nil {
			return
		}
		if len(sent) < headerPrefixBytes || !bytes.HasPrefix(sent, proxyproto.SIGV2) {
			t.Fatalf("%q is taken for a header", sent)
		}
		if addr, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || addr.AddrPort().Addr().Is4In6() || !addr.AddrPort().IsValid() {
			t.Errorf("the client is %v", conn.RemoteAddr())
		}
		length := int(sent[14])<<8 | int(sent[15])
		if rest, err := io.ReadAll(conn); err != nil || !bytes.Equal(rest, sent[headerPrefixBytes+length:]) {
			t.Errorf("%q is left, %v", rest, err)
		}
	})
}
