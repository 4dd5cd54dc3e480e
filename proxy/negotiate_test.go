package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/access"
)

// quiet is how long a server is listened to that should have nothing to say.
const quiet = 20 * time.Millisecond

// errorPacket is an ErrorResponse without the place in the server's source.
func errorPacket(state, message string) string {
	body := "SFATAL\x00VFATAL\x00C" + state + "\x00M" + message + "\x00\x00"
	return string(appendFrame(nil, 'E', []byte(body)))
}

// negotiations are what PostgreSQL 18 answers to the first bytes of a connection. The
// answer to each part is read before the next one is sent.
var negotiations = map[string]struct {
	send []string
	want []string // "..." at the end = the connection stays open
}{
	"nothing":             {[]string{""}, []string{"..."}},
	"http":                {[]string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, []string{""}},
	"ssh":                 {[]string{"SSH-2.0-OpenSSH_9.2\r\n"}, []string{""}},
	"length 0":            {[]string{"\x00\x00\x00\x00"}, []string{""}},
	"length 7":            {[]string{"\x00\x00\x00\x07\x00\x03\x00"}, []string{""}},
	"length 10005":        {[]string{"\x00\x00\x27\x15"}, []string{""}},
	"length negative":     {[]string{"\xff\xff\xff\xff"}, []string{""}},
	"TLS where none is":   {[]string{"\x16\x03\x01\x02\x00"}, []string{""}},
	"query first":         {[]string{"Q\x00\x00\x00\x04"}, []string{""}},
	"half a packet":       {[]string{"\x00\x00\x00\x10\x00\x03"}, []string{"..."}},
	"version 2.0":         {[]string{packet(2<<16, strings.Repeat("\x00", 288))}, []string{"EFATAL:  unsupported frontend protocol 2.0: server supports 3.0 to 3.2\n\x00"}},
	"version 1.5":         {[]string{packet(1<<16|5, "")}, []string{"EFATAL:  unsupported frontend protocol 1.5: server supports 3.0 to 3.2\n\x00"}},
	"version 0.1":         {[]string{packet(1, "")}, []string{"EFATAL:  unsupported frontend protocol 0.1: server supports 3.0 to 3.2\n\x00"}},
	"version 0.0":         {[]string{packet(0, "")}, []string{errorPacket("0A000", "unsupported frontend protocol 0.0: server supports 3.0 to 3.2")}},
	"version 4.0":         {[]string{packet(4<<16, "user\x00a\x00\x00")}, []string{errorPacket("0A000", "unsupported frontend protocol 4.0: server supports 3.0 to 3.2")}},
	"unknown request":     {[]string{packet(80877105, "")}, []string{errorPacket("0A000", "unsupported frontend protocol 1234.5681: server supports 3.0 to 3.2")}},
	"no user":             {[]string{packet(protocol30, "\x00")}, []string{errorPacket("28000", "no PostgreSQL user name specified in startup packet")}},
	"empty user":          {[]string{packet(protocol30, "user\x00\x00\x00")}, []string{errorPacket("28000", "no PostgreSQL user name specified in startup packet")}},
	"no terminator":       {[]string{packet(protocol30, "user\x00a\x00")}, []string{errorPacket("08P01", "invalid startup packet layout: expected terminator as last byte")}},
	"empty body":          {[]string{packet(protocol30, "")}, []string{errorPacket("08P01", "invalid startup packet layout: expected terminator as last byte")}},
	"more after the end":  {[]string{packet(protocol30, "user\x00a\x00\x00x\x00")}, []string{errorPacket("08P01", "invalid startup packet layout: expected terminator as last byte")}},
	"name without value":  {[]string{packet(protocol30, "user\x00a\x00database\x00")}, []string{errorPacket("08P01", "invalid startup packet layout: expected terminator as last byte")}},
	"3.9999 without user": {[]string{packet(3<<16|9999, "\x00")}, []string{"v\x00\x00\x00\x0c\x00\x03\x00\x02\x00\x00\x00\x00" + errorPacket("28000", "no PostgreSQL user name specified in startup packet")}},
	"3.1 with an option":  {[]string{packet(3<<16|1, "_pq_.a\x00b\x00\x00")}, []string{"v\x00\x00\x00\x13\x00\x03\x00\x01\x00\x00\x00\x01_pq_.a\x00" + errorPacket("28000", "no PostgreSQL user name specified in startup packet")}},
	"3.3 with options":    {[]string{packet(3<<16|3, "_pq_.a\x00\x00_pq_.\x00b\x00\x00")}, []string{"v\x00\x00\x00\x19\x00\x03\x00\x02\x00\x00\x00\x02_pq_.a\x00_pq_.\x00" + errorPacket("28000", "no PostgreSQL user name specified in startup packet")}},
	"3.2 logs in":         {[]string{packet(protocol32, "user\x00ann\x00\x00")}, []string{saslRequest + "..."}},
	"3.9999 logs in":      {[]string{packet(3<<16|9999, "user\x00ann\x00\x00")}, []string{"v\x00\x00\x00\x0c\x00\x03\x00\x02\x00\x00\x00\x00" + saslRequest + "..."}},
	"TLS, then login":     {[]string{packet(sslRequestCode, ""), packet(protocol30, "user\x00ann\x00\x00")}, []string{"N...", saslRequest + "..."}},
	"GSS, then TLS":       {[]string{packet(gssRequestCode, ""), packet(sslRequestCode, ""), packet(protocol30, "user\x00ann\x00\x00")}, []string{"N...", "N...", saslRequest + "..."}},
	"TLS, then GSS":       {[]string{packet(sslRequestCode, ""), packet(gssRequestCode, "")}, []string{"N...", "N..."}},
	"TLS with a body":     {[]string{packet(sslRequestCode, "body"), packet(protocol30, "user\x00ann\x00\x00")}, []string{"N...", saslRequest + "..."}},
	"TLS twice":           {[]string{packet(sslRequestCode, ""), packet(sslRequestCode, "")}, []string{"N...", errorPacket("0A000", "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.2")}},
	"GSS twice":           {[]string{packet(gssRequestCode, ""), packet(gssRequestCode, "")}, []string{"N...", errorPacket("0A000", "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.2")}},
	"cancel":              {[]string{packet(cancelRequestCode, "\x00\x00\x00\x01abcd")}, []string{""}},
	"cancel without key":  {[]string{packet(cancelRequestCode, "\x00\x00\x00\x01")}, []string{""}},
	"cancel nobody":       {[]string{packet(cancelRequestCode, "")}, []string{""}},
	"cancel, long key":    {[]string{packet(cancelRequestCode, "\x00\x00\x00\x01"+strings.Repeat("k", 256))}, []string{""}},
	"cancel, longer key":  {[]string{packet(cancelRequestCode, "\x00\x00\x00\x01"+strings.Repeat("k", 257))}, []string{""}},
}

// saslRequest is AuthenticationSASL without channel binding.
var saslRequest = string(appendFrame(nil, 'R', []byte("\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00")))

func packet(code uint32, body string) string { return string(packetBytes(code, []byte(body))) }

// TestNegotiation compares with PostgreSQL's answers, and those with the server's own
// where it is of the version they are from.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	servers := map[string]string{"kproxy": serve(t, nowhere(t)).addr}
	direct := pgtest.Database(t, pgtest.Shared(t))
	var version int
	if err := connectPgx(t, direct).QueryRow(deadline(t), "SELECT current_setting('server_version_num')::int / 10000").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version == 18 {
		at, err := url.Parse(direct)
		if err != nil {
			t.Fatal(err)
		}
		servers["PostgreSQL"] = at.Host
	}
	for server, addr := range servers {
		for name, c := range negotiations {
			t.Run(server+"/"+name, func(t *testing.T) {
				t.Parallel()
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				for i, part := range c.send {
					if _, err := io.WriteString(conn, part); err != nil {
						t.Fatal(err)
					}
					if got := answer(t, conn, c.want[i]); got != c.want[i] {
						t.Fatalf("the answer to part %d is %q, want %q", i, got, c.want[i])
					}
				}
			})
		}
	}
}

// answer reads what a server has to say, up to the end or to what is wanted, with "..."
// where it leaves the connection open.
func answer(t *testing.T, conn net.Conn, want string) string {
	t.Helper()
	var said []byte
	until := time.Now().Add(patience)
	for {
		if sameForm(said)+"..." == want {
			until = time.Now().Add(quiet)
		}
		if err := conn.SetReadDeadline(until); err != nil {
			t.Fatal(err)
		}
		var b [512]byte
		n, err := conn.Read(b[:])
		said = append(said, b[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return sameForm(said) + "..."
		}
		if err != nil {
			return sameForm(said)
		}
	}
}

// sameForm is an answer without what differs from server to server.
func sameForm(said []byte) string {
	var text strings.Builder
	for len(said) > headerBytes {
		size := 1 + int(binary.BigEndian.Uint32(said[1:]))
		if size < headerBytes || size > len(said) {
			break // not of protocol 3
		}
		if said[0] == 'E' {
			text.Write(withoutPlace(said[:size]))
		} else {
			text.Write(said[:size])
		}
		said = said[size:]
	}
	return text.String() + string(said)
}

// withoutPlace drops from an ErrorResponse where in the server it happened.
func withoutPlace(message []byte) []byte {
	var kept []byte
	for _, field := range bytes.Split(message[headerBytes:len(message)-2], []byte{0}) {
		if !bytes.ContainsAny(field[:1], "FLR") {
			kept = append(append(kept, field...), 0)
		}
	}
	return appendFrame(nil, 'E', append(kept, 0))
}

// TestUnixSocket has neither TLS nor an address; rules know it as such, and TLS that is
// required is required of others only.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	certificate, _, _ := certificate(t)
	c := nowhere(t)
	c.TLS, c.TLSRequired = certificate, true
	c.Access.Rules = []access.Rule{
		{Transport: access.Unix, Databases: []string{"local"}, Method: access.Password},
		{Transport: access.Unix, Databases: []string{"blocked"}},
	}
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), ".s.PGSQL.6432")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	dial := func() *wire {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return newWire(t, conn)
	}
	for database, want := range map[string]string{
		"local":   "ok",
		"blocked": `28000 an access rule rejects the connection from user "ann", database "blocked", Unix socket`,
		"another": `28000 no access rule for user "ann", database "another", Unix socket`,
	} {
		w := dial()
		w.send(packetBytes(sslRequestCode, nil), packetBytes(gssRequestCode, nil))
		if got := answer(t, w.Conn, "NN..."); got != "NN..." {
			t.Fatalf("%q", got)
		}
		if err := w.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if got := w.outcome(testUser, database, testPassword); got != want {
			t.Errorf("%s: %s, want %s", database, got, want)
		}
	}
	w := dial()
	w.send(rawMessage{tlsHandshakeByte, 3, 1, 2, 0})
	if got := answer(t, w.Conn, ""); got != "" {
		t.Errorf("TLS is answered by %q", got)
	}
}
