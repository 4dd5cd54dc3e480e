package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/proxy/access"
)

// proxyHeader writes a header of the PROXY protocol, version 2, by hand: PROXY protocol,
// 2.2. The command is 0 for LOCAL, 1 for PROXY.
func proxyHeader(command byte, client netip.AddrPort, extensions string) []byte {
	header := []byte("\r\n\r\n\x00\r\nQUIT\n")
	header = append(header, 0x20|command)
	var addresses []byte
	if client.IsValid() {
		family := byte(0x11)
		if client.Addr().Is6() {
			family = 0x21
		}
		header = append(header, family)
		addresses = append(client.Addr().AsSlice(), client.Addr().AsSlice()...)
		addresses = binary.BigEndian.AppendUint16(addresses, client.Port())
		addresses = binary.BigEndian.AppendUint16(addresses, 5432)
	} else {
		header = append(header, 0)
	}
	header = binary.BigEndian.AppendUint16(header, uint16(len(addresses)+len(extensions)))
	return append(append(header, addresses...), extensions...)
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// lockedBuffer is a log that tests read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestForwarded logs in behind a load balancer.
func TestForwarded(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	p := startProxy(t, func(c *Config) {
		c.Forwarders = loopback
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	for name, test := range map[string]struct {
		header []byte
		remote string // in the log
	}{
		"IPv4":        {proxyHeader(1, netip.MustParseAddrPort("203.0.113.7:1234"), ""), "remote=203.0.113.7:1234 forwarder=127.0.0.1:"},
		"IPv6":        {proxyHeader(1, netip.MustParseAddrPort("[2001:db8::7]:1234"), ""), "remote=[2001:db8::7]:1234 forwarder=127.0.0.1:"},
		"mapped IPv4": {proxyHeader(1, netip.MustParseAddrPort("[::ffff:203.0.113.8]:99"), ""), "remote=203.0.113.8:99 forwarder=127.0.0.1:"},
		"longest":     {proxyHeader(1, netip.MustParseAddrPort("203.0.113.9:1"), "\x04\x0f\xf1"+strings.Repeat("x", 4096-12-3)), "remote=203.0.113.9:1 "},
		"nonsense in extensions": {
			proxyHeader(1, netip.MustParseAddrPort("203.0.113.10:1"), "\xff\xff\xff\xff"), "remote=203.0.113.10:1 ",
		},
		"local": {proxyHeader(0, netip.AddrPort{}, ""), "remote=127.0.0.1:"},
	} {
		config, err := pgconn.ParseConfig(p.url("sslmode=disable"))
		if err != nil {
			t.Fatal(err)
		}
		config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err == nil {
				_, err = conn.Write(test.header)
			}
			return conn, err
		}
		conn, err := pgconn.ConnectConfig(deadline(t), config)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := conn.Exec(deadline(t), "SELECT 1").Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close(context.Background())
		eventually(t, name+": the log names the client: "+test.remote, func() bool { return strings.Contains(log.String(), test.remote) })
	}
}

// TestForwardersMustSpeak refuses load balancers that say who the client is in no way or
// a wrong one, and everybody else who does.
func TestForwardersMustSpeak(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Forwarders, c.AuthTimeout = loopback, 300*time.Millisecond })
	client := netip.MustParseAddrPort("203.0.113.7:1234")
	whole := proxyHeader(1, client, "")
	changed := func(at int, to byte) []byte {
		header := bytes.Clone(whole)
		header[at] = to
		return header
	}
	startup := encode(t, nil, &oldproto.StartupMessage{ProtocolVersion: oldproto.ProtocolVersionNumber, Parameters: map[string]string{"user": testUser}})
	for name, sent := range map[string][]byte{
		"nothing":             nil,
		"no header":           startup,
		"version 1":           []byte("PROXY TCP4 203.0.113.7 127.0.0.1 1234 5432\r\n"),
		"half a signature":    whole[:7],
		"half a header":       whole[:20],
		"another version":     changed(12, 0x31),
		"an unknown command":  changed(12, 0x22),
		"an unknown family":   changed(13, 0x41),
		"no family":           changed(13, 0x00),
		"UDP":                 changed(13, 0x12),
		"too short":           changed(15, 11),
		"a Unix socket":       append(append([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x31\x00\xd8"), make([]byte, 216)...), startup...),
		"longer than allowed": append([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x11\xff\xff"), make([]byte, 1<<16)...),
	} {
		w := dialWire(t, p.addr)
		_, _ = w.Write(sent) // it may be refused while it is sent
		if m, err := w.Receive(); err == nil || os.IsTimeout(err) {
			t.Errorf("%s is answered by %#v, %v", name, m, err)
		}
	}
	eventually(t, "all are forgotten", func() bool { return p.Counts() == Counts{} })

	// To those who are no load balancers a header is not a packet of the protocol.
	other := startProxy(t, func(c *Config) { c.Forwarders = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	w := dialWire(t, other.addr)
	_, _ = w.Write(append(whole, startup...))
	if m, err := w.Receive(); err == nil || os.IsTimeout(err) {
		t.Errorf("a header from elsewhere is answered by %#v, %v", m, err)
	}
}

// TestRulesSeeTheClient lets in by the address in the header, not by the load
// balancer's.
func TestRulesSeeTheClient(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) {
		c.Forwarders = loopback
		c.Access.Rules = []access.Rule{{Method: access.Password, Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}}}
	})
	for name, test := range map[string]struct {
		header []byte
		in     bool
	}{
		"within":          {proxyHeader(1, netip.MustParseAddrPort("203.0.113.7:1"), ""), true},
		"within, mapped":  {proxyHeader(1, netip.MustParseAddrPort("[::ffff:203.0.113.7]:1"), ""), true},
		"elsewhere":       {proxyHeader(1, netip.MustParseAddrPort("203.0.114.7:1"), ""), false},
		"by the balancer": {proxyHeader(0, netip.AddrPort{}, ""), false},
	} {
		w := dialWire(t, p.addr)
		if _, err := w.Write(test.header); err != nil {
			t.Fatal(err)
		}
		w.startup(testUser, published)
		switch m := w.scram(testPassword).(type) {
		case *oldproto.AuthenticationOk:
			if !test.in {
				t.Errorf("%s: let in", name)
			}
		case *oldproto.ErrorResponse:
			if test.in || m.Code != stateInvalidAuthorization {
				t.Errorf("%s: %s %s", name, m.Code, m.Message)
			}
		default:
			t.Errorf("%s: %#v", name, m)
		}
	}
}
