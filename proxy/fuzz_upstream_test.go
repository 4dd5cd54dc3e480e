package proxy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/proxy/chaos"
)

// hostileFuzzed has a server that is hostile.
var hostileFuzzed = sync.OnceValues(func() (*fuzzed, error) { return startFuzzed(nil) })

// serverBytes are what servers send, and what none should.
func serverBytes() [][]byte {
	ready := chaos.AppendMessage(nil, 'Z', []byte("I"))
	message := func(kind byte, body string) []byte { return chaos.AppendMessage(nil, kind, []byte(body)) }
	return [][]byte{
		{},
		{'Z'},
		ready, bytes.Repeat(ready, 3), message('Z', "IT"), message('Z', ""), message('Z', "?"),
		{'D', 0, 0, 0, 3},
		{'D', 0xff, 0xff, 0xff, 0xff},
		{'D', 0x3f, 0xff, 0xff, 0xff, 1},
		{'E', 0x3f, 0xff, 0xff, 0xff, 'S'},
		{'S', 0x3f, 0xff, 0xff, 0xff, 'S'},
		{'T', 0x3f, 0xff, 0xff, 0xff, 0},
		{'R', 0x3f, 0xff, 0xff, 0xff, 0},
		message('R', "\x00\x00\x00\x00"), message('R', "\x00\x00\x00\x03"), message('R', "\x00\x00\x00\x05salt"),
		message('R', "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"), message('K', "\x00\x00\x00\x01\x00\x00\x00\x02"), message('v', "\x00\x03\x00\x00\x00\x00\x00\x00"),
		message('G', "\x00\x00\x00"), message('W', "\x00\x00\x00"), message('A', "\x00\x00\x00\x01a\x00b\x00"), message('V', "\x00\x00\x00\x00"),
		message('S', "client_encoding\x00LATIN1\x00"), message('S', "a\x00b"), message('S', ""), message('S', "search_path\x00secret\x00"),
		message('E', "SERROR\x00C42601\x00Mtext\x00\x00"), message('E', "SFATAL\x00VFATAL\x00C57P01\x00Mend\x00\x00"), message('E', ""), message('E', "S"),
		message('N', "SNOTICE\x00VNOTICE\x00C00000\x00Mnote\x00\x00"), message('N', "SLOG\x00VLOG\x00C00000\x00Mduration: 1 plan:\n\x00\x00"),
		append(message('T', "\x00\x01QUERY PLAN\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"), message('D', "\x00\x01\x00\x00\x00\x06Result")...),
		append(message('T', "\x00\x01QUERY PLAN\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"), message('D', "\x00\x02\x7f\xff\xff\xff")...),
		append(append(message('T', "\x00\x00"), message('C', "SELECT 1\x00")...), ready...),
		append(append(message('E', "SERROR\x00C42601\x00M\x00\x00"), ready...), message('1', "")...),
		append(message('H', "\x00\x00\x00"), message('d', "copied")...), message('C', "DISCARD ALL\x00"), message('C', ""),
		message('1', ""), message('2', "x"), message('3', ""), message('s', ""), message('n', ""), message('t', "\x00\x01"), message('I', ""),
	}
}

// FuzzUpstream has the server send any bytes in place of an answer. The client gets
// messages that have a place there, and an end.
func FuzzUpstream(f *testing.F) {
	for _, seed := range serverBytes() {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, simple bool) {
		p := fuzzedProxy(t, hostileFuzzed)
		p.server.Turn(&chaos.Hostility{Bytes: data})
		if err := p.suffer(simple); err != nil {
			t.Errorf("server's %q: %v", data, err)
		}
	})
}

// FuzzUpstreamLogin has the server answer a login with any bytes. Each case has a proxy of
// its own: one that has failed with a server does not ask it again at once.
func FuzzUpstreamLogin(f *testing.F) {
	for _, seed := range serverBytes() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := startFuzzed(nil)
		if err != nil {
			t.Fatal(err)
		}
		p.server.Turn(&chaos.Hostility{Bytes: data, AtLogin: true})
		if err := p.suffer(true); err != nil {
			t.Errorf("server's %q: %v", data, err)
		}
		if err := errors.Join(p.Stop(), p.server.Close()); err != nil {
			t.Error(err)
		}
	})
}

// suffer plays one case of FuzzUpstream, by a simple query or the extended protocol.
func (p *fuzzed) suffer(simple bool) error {
	client, err := p.login()
	if err != nil {
		if strings.Contains(err.Error(), "FATAL") {
			return nil // the server was hostile at the login
		}
		return err
	}
	text := chaos.Statement{Verb: chaos.Rows, A: 1}.Text()
	sent := chaos.AppendMessage(nil, 'Q', []byte(text+"\x00"))
	if !simple {
		sent = chaos.AppendMessage(nil, 'P', []byte("a\x00"+text+"\x00\x00\x00"))
		sent = chaos.AppendMessage(sent, 'B', []byte("\x00a\x00\x00\x00\x00\x00\x00\x00"))
		sent = chaos.AppendMessage(sent, 'E', []byte("\x00\x00\x00\x00\x00"))
		sent = chaos.AppendMessage(sent, 'S', nil)
	}
	heard, err := talk(client.Conn, client.In, sent, false)
	if err != nil {
		return err
	}
	return framesIn(heard)
}

// framesIn takes a stream apart that may be cut off. Bodies, and how long the last one is
// said to be, are the server's.
func framesIn(stream []byte) error {
	for last := false; len(stream) >= 5; {
		kind, size := stream[0], int64(binary.BigEndian.Uint32(stream[1:]))+1
		switch {
		case last:
			return fmt.Errorf("a message %q after FATAL", kind)
		case !strings.ContainsRune("123CDEHINSTZcdnst", rune(kind)):
			return fmt.Errorf("a message %q came through", kind)
		case size < 5 || size > 1<<31:
			return fmt.Errorf("a message of %d bytes", size)
		case size > int64(len(stream)):
			return nil
		}
		body := stream[5:size]
		if kind == 'S' && !bytes.HasSuffix(body, []byte{0}) {
			return fmt.Errorf("ParameterStatus %q", body)
		}
		last = kind == 'E' && chaos.ReportOf(body).Severity == "FATAL"
		stream = stream[size:]
	}
	return nil
}
