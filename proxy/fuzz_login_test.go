package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/proxy/chaos"
)

// packet is a message before login, which has no type.
func packet(code uint32, body string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	return append(binary.BigEndian.AppendUint32(out, code), body...)
}

const (
	sslRequest    = 80877103
	gssRequest    = 80877104
	cancelRequest = 80877102
	version30     = 3 << 16
)

// firstBytes are what clients, and others, begin with.
var firstBytes = [][]byte{
	{},
	{0},
	{0, 0, 0, 0},
	{0, 0, 0, 4},
	{0, 0, 0, 8},
	{0xff, 0xff, 0xff, 0xff},
	{0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0},
	{0, 0, 0x27, 0x11, 0, 3, 0, 0},
	packet(sslRequest, ""), packet(gssRequest, ""), packet(sslRequest, "x"), append(packet(sslRequest, ""), packet(gssRequest, "")...),
	append(packet(sslRequest, ""), packet(sslRequest, "")...), append(packet(gssRequest, ""), packet(version30, "user\x00ann\x00\x00")...),
	append(packet(sslRequest, ""), packet(version30, "user\x00ann\x00database\x00clinic\x00\x00")...),
	append(packet(sslRequest, ""), 0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3),
	{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3},
	{0x16, 3, 1, 0xff, 0xff},
	{0x80, 0x2e, 1, 0, 2},
	packet(cancelRequest, "12345678"), packet(cancelRequest, ""), packet(cancelRequest, "1234"), packet(cancelRequest, "1234567"),
	packet(cancelRequest, "1234"+string(make([]byte, 32))), packet(cancelRequest, "1234"+string(make([]byte, 256))), packet(cancelRequest, "1234"+string(make([]byte, 9000))),
	packet(version30, ""), packet(version30, "\x00"), packet(version30, "user"), packet(version30, "user\x00ann\x00"), packet(version30, "user\x00\x00\x00"),
	packet(version30+1, "user\x00ann\x00\x00"), packet(version30+2, "user\x00ann\x00_pq_.x\x00y\x00\x00"), packet(version30+9999, "user\x00ann\x00_pq_.test_protocol_negotiation\x00\x00\x00"),
	packet(2<<16, "ann"), packet(4<<16, "user\x00ann\x00\x00"), packet(version30, "user\x00ann\x00replication\x00true\x00\x00"),
	packet(version30, "user\x00ann\x00options\x00-c search_path=a\\ b --x=y\x00\x00"), packet(version30, "user\x00ann\x00database\x00\xff\xfe\x00\x00"),
	append(packet(version30, "user\x00ann\x00database\x00clinic\x00\x00"), chaos.AppendMessage(nil, 'p', []byte("SCRAM-SHA-256\x00\x00\x00\x00\x05n,,n="))...),
	append(packet(version30, "user\x00ann\x00database\x00clinic\x00\x00"), chaos.AppendMessage(nil, 'p', []byte("SCRAM-SHA-256\x00\xff\xff\xff\xff"))...),
	append(packet(version30, "user\x00ann\x00\x00"), 'p', 0x3f, 0xff, 0xff, 0xff), append(packet(version30, "user\x00ann\x00\x00"), 'X', 0, 0, 0, 4),
	append(packet(version30, "user\x00ann\x00\x00"), chaos.AppendMessage(nil, 'Q', []byte("SELECT 1\x00"))...),
	[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), []byte("SSH-2.0-OpenSSH\r\n"),
}

// FuzzFirstBytes opens a connection with any bytes.
func FuzzFirstBytes(f *testing.F) {
	for _, seed := range firstBytes {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, unix bool) {
		p := fuzzedProxy(t, sharedFuzzed)
		if err := p.knock(p.Login(unix, false), data); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// proxySignature begins a header of the PROXY protocol, version 2.
const proxySignature = "\r\n\r\n\x00\r\nQUIT\n"

// FuzzForwarder opens a connection from where headers of the PROXY protocol come.
func FuzzForwarder(f *testing.F) {
	ipv4 := proxySignature + "\x21\x11\x00\x0c\x0a\x01\x02\x03\x7f\x00\x00\x01\x12\x34\x15\x38"
	startup := string(packet(version30, "user\x00ann\x00database\x00clinic\x00\x00"))
	for _, seed := range []string{
		"", "\r\n", proxySignature, ipv4, ipv4 + startup, ipv4 + string(packet(cancelRequest, "12345678")), ipv4 + ipv4,
		proxySignature + "\x20\x00\x00\x00" + startup, proxySignature + "\x20\x11\x00\x0c", proxySignature + "\x21\x21\x00\x24" + string(make([]byte, 36)) + startup,
		proxySignature + "\x21\x31\x00\xd8" + string(make([]byte, 216)) + startup, proxySignature + "\x21\x11\x00\x00" + startup,
		proxySignature + "\x21\x11\xff\xff" + string(make([]byte, 100)), proxySignature + "\x31\x11\x00\x0c" + string(make([]byte, 12)), proxySignature + "\x2f\xff\x00\x00",
		proxySignature + "\x21\x11\x00\x13\x0a\x01\x02\x03\x7f\x00\x00\x01\x12\x34\x15\x38\x04\x00\x04\x00\x00\x00\x00" + startup,
		proxySignature + "\x21\x11\x00\x10\x0a\x01\x02\x03\x7f\x00\x00\x01\x12\x34\x15\x38\x04\xff\xff\x00" + startup,
		"PROXY TCP4 10.1.2.3 127.0.0.1 5000 6432\r\n" + startup, "PROXY UNKNOWN\r\n", "PROXY " + string(bytes.Repeat([]byte{'x'}, 200)), startup,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := fuzzedProxy(t, forwardedFuzzed)
		if err := p.knock(p.Login(false, false), data); err != nil {
			t.Errorf("%q: %v", data, err)
		}
	})
}

// knock sends the first bytes of a connection, and no more. Nobody logs in so.
func (p *fuzzed) knock(to chaos.Login, data []byte) error {
	conn, err := net.Dial(to.Network, to.Address)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(fuzzPatience)); err != nil {
		return err
	}
	heard, err := talk(conn, conn, data, true)
	if err != nil {
		return err
	}
	for range 2 {
		heard, _ = bytes.CutPrefix(heard, []byte{'N'}) // answers to requests for encryption
	}
	if len(heard) > 0 && (heard[0] == 'S' || heard[0] == 0x15 || heard[0] == 0x16) {
		return nil // TLS
	}
	if bytes.HasPrefix(heard, []byte("EFATAL:  ")) {
		return nil // as clients of protocol 2 read it
	}
	all, err := messagesIn(heard, false)
	for _, m := range all {
		if m.kind == 'R' && bytes.Equal(m.body, make([]byte, 4)) || m.kind != 'R' && m.kind != 'E' && m.kind != 'v' {
			return fmt.Errorf("answered by %q %q", m.kind, m.body)
		}
	}
	return errors.Join(err, p.serverFaults())
}

// FuzzLogin logs in with the right password, but changes one of its messages. Nobody
// must be let in whose proof is not the right one.
func FuzzLogin(f *testing.F) {
	for message := range byte(3) {
		for _, change := range []struct {
			at, drop uint16
			put      string
		}{{0, 0, ""}, {0, 1, "x"}, {1, 1, "\x7f"}, {2, 3, "\xff\xff"}, {5, 13, "SCRAM-SHA-256-PLUS"}, {5, 60, ""}, {23, 1, "y"}, {23, 3, "p=tls-unique,,"}, {23, 3, "n,a=ann,"}, {30, 5, ""}, {40, 0, "\x00"}, {1000, 0, "x"}, {60, 1, "A"}, {70, 200, ""}} {
			f.Add(message, change.at, change.drop, []byte(change.put))
		}
	}
	f.Fuzz(func(t *testing.T, message byte, at, drop uint16, put []byte) {
		p := fuzzedProxy(t, sharedFuzzed)
		l := &changedLogin{message: int(message % 3), at: int(at), drop: int(drop), put: put}
		if err := l.run(p.Login(true, false)); err != nil {
			t.Error(err)
		}
		if err := p.serverFaults(); err != nil {
			t.Error(err)
		}
	})
}

// changedLogin is a login of which one message, the startup packet and two of SCRAM, is
// changed: some bytes are replaced.
type changedLogin struct {
	message, at, drop int
	put               []byte

	right, sent []byte // the last message, as it should be and as it was sent
}

// change is what is sent in place of the i-th message.
func (l *changedLogin) change(i int, right []byte) []byte {
	sent := right
	if i == l.message {
		at := min(l.at, len(right))
		sent = append(append(bytes.Clone(right[:at]), l.put...), right[min(at+l.drop, len(right)):]...)
	}
	l.right, l.sent = right, sent
	return sent
}

// same tells whether the last message says what it should: base64 has several ways.
func (l *changedLogin) same() bool {
	if l.message < 2 || bytes.Equal(l.right, l.sent) {
		return l.message == 0 || bytes.Equal(l.right, l.sent)
	}
	before, proof, _ := bytes.Cut(l.right, []byte(",p="))
	beforeSent, proofSent, _ := bytes.Cut(l.sent, []byte(",p="))
	a, _ := base64.StdEncoding.DecodeString(string(proof))
	b, _ := base64.StdEncoding.DecodeString(string(proofSent))
	return bytes.Equal(before[5:], beforeSent[min(5, len(beforeSent)):]) && bytes.Equal(a, b)
}

// run logs in and tells what is wrong with the outcome.
func (l *changedLogin) run(to chaos.Login) error {
	conn, err := net.Dial(to.Network, to.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(fuzzPatience)); err != nil {
		return err
	}
	client, err := xscram.SHA256.NewClient("", to.Password, "")
	if err != nil {
		return err
	}
	client.WithMinIterations(4096)
	conversation := client.NewConversation()
	in := bufio.NewReader(conn)
	send := func(i int, message []byte) {
		changed := l.change(i, message)
		_, _ = conn.Write(changed)
		if !bytes.Equal(changed, message) {
			_ = conn.(*net.UnixConn).CloseWrite() // it may be shorter than it says
		}
	}
	send(0, chaos.StartupPacket(map[string]string{"user": to.User, "database": to.Database}))
	for {
		kind, body, err := chaos.ReadMessage(in)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case err != nil || kind == 'E':
			return nil
		}
		if kind != 'R' || len(body) < 4 {
			continue
		}
		switch binary.BigEndian.Uint32(body) {
		case 0:
			if !l.same() {
				return fmt.Errorf("let in with %q in place of %q", l.sent, l.right)
			}
			return nil
		case 10:
			first, _ := conversation.Step("")
			message := binary.BigEndian.AppendUint32([]byte("SCRAM-SHA-256\x00"), uint32(len(first)))
			send(1, chaos.AppendMessage(nil, 'p', append(message, first...)))
		case 11:
			final, err := conversation.Step(string(body[4:]))
			if err != nil {
				return nil // the changed first message has made the server's another
			}
			send(2, chaos.AppendMessage(nil, 'p', []byte(final)))
		}
	}
}
