package proxy_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"

	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/proxy/chaos"
)

const (
	// fuzzPatience bounds one case, which takes less than a millisecond.
	fuzzPatience = time.Minute

	fuzzMaxStatement = 400
	fuzzMaxMessage   = 3000
)

// fuzzed is a proxy that is fuzzed, before a server that is a model.
type fuzzed struct {
	*chaos.Front
	server *chaos.Server
}

// startFuzzed runs a proxy that stays for all cases.
func startFuzzed(change func(*proxy.Config)) (*fuzzed, error) {
	gate := chaos.NewJudgingGate()
	server, err := chaos.Listen(gate)
	if err != nil {
		return nil, err
	}
	upstream, err := server.Upstream()
	if err != nil {
		return nil, err
	}
	config, err := chaos.Config(gate, upstream)
	if err != nil {
		return nil, err
	}
	config.MaxStatementBytes, config.MaxMessageBytes = fuzzMaxStatement, fuzzMaxMessage
	config.AuthTimeout = fuzzPatience / 2
	if change != nil {
		change(&config)
	}
	front, err := chaos.Start(config)
	return &fuzzed{front, server}, err
}

var sharedFuzzed = sync.OnceValues(func() (*fuzzed, error) { return startFuzzed(nil) })

// forwardedFuzzed expects headers of the PROXY protocol.
var forwardedFuzzed = sync.OnceValues(func() (*fuzzed, error) {
	return startFuzzed(func(c *proxy.Config) { c.Forwarders = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
})

func fuzzedProxy(t testing.TB, start func() (*fuzzed, error)) *fuzzed {
	t.Helper()
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// login opens a session over a Unix socket.
func (p *fuzzed) login() (*chaos.Client, error) {
	client, err := p.Login(true, false).Dial()
	if err != nil {
		return nil, fmt.Errorf("login: %w", err)
	}
	return client, client.SetDeadline(time.Now().Add(fuzzPatience))
}

// serverFaults are what has reached the server and must not.
func (p *fuzzed) serverFaults() error {
	var all []error
	for _, fault := range p.server.Faults() {
		all = append(all, errors.New(fault))
	}
	return errors.Join(all...)
}

// talk sends bytes while it reads all up to the end of the connection. It stops sending
// then, if it is to.
func talk(conn net.Conn, in io.Reader, sent []byte, halfClose bool) ([]byte, error) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		if _, err := conn.Write(sent); err == nil && halfClose {
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		}
	}()
	heard, err := io.ReadAll(in)
	_ = conn.Close()
	<-written
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return heard, fmt.Errorf("%q does not end; heard %q", sent, heard)
	}
	return heard, nil
}

// said is a message from the proxy.
type said struct {
	kind byte
	body []byte
}

// messagesIn takes a stream apart, of which the last message may be cut off if it is to.
// The independent codec must know each message, and nothing may come after FATAL.
func messagesIn(stream []byte, cut bool) (all []said, err error) {
	in := bufio.NewReader(bytes.NewReader(stream))
	last := false
	for {
		kind, body, err := chaos.ReadMessage(in)
		if errors.Is(err, io.EOF) || cut && errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("the stream is not of messages: %w, %q", err, stream)
		}
		if last {
			return all, fmt.Errorf("a message %q after FATAL: %q", kind, stream)
		}
		if err := decode(kind, body); err != nil {
			return all, fmt.Errorf("message %q %q: %w", kind, body, err)
		}
		last = kind == 'E' && chaos.ReportOf(body).Severity == "FATAL"
		all = append(all, said{kind, body})
	}
}

// decode reads a message with the independent codec.
func decode(kind byte, body []byte) error {
	if kind == 'v' {
		return nil // NegotiateProtocolVersion, which that codec does not know
	}
	message := bytes.NewReader(chaos.AppendMessage(nil, kind, body))
	_, err := oldproto.NewFrontend(oldproto.NewChunkReader(message), io.Discard).Receive()
	return err
}
