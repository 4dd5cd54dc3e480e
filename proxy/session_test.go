package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// markingGate marks what it has let through.
type markingGate struct{ fakeEscaper }

const mark = "/*checked*/"

func (markingGate) Open(_, _ string, parameters map[string]string) (State, map[string]string, error) {
	return fakeOpen(parameters)
}

func (markingGate) Rewrite(sql string, _ State) (Statement, error) {
	if strings.Contains(sql, "r") {
		return Statement{}, refusedText{}
	}
	statement := Statement{SQL: mark + sql, Plans: strings.Contains(sql, "p")}
	if strings.Contains(sql, "s") {
		statement.Effects = []any{fakeEffect{"set", "a"}}
	}
	return statement, nil
}

func (g markingGate) Recall(sql string, in State) (Statement, bool, error) {
	statement, err := g.Rewrite(sql, in)
	return statement, len(sql)%2 == 0, err
}

func (markingGate) Position(string, State, int) int { return 0 }

func (markingGate) ScrubPlan(text string) string { return text }

func (markingGate) ScrubMessage(text string) string { return text }

// fakeServer answers messages by PostgreSQL's rules for pipelines. Texts that
// hold an f fail, and so do refusals' tokens.
type fakeServer struct {
	skipping bool
	judge    func(sql string) (state string) // "" = no error
}

// answer returns the answer to one message.
func (f *fakeServer) answer(kind byte, body []byte) []byte {
	ready := func(out []byte) []byte { return appendFrame(out, 'Z', []byte("I")) }
	if f.skipping && kind != 'S' {
		return nil
	}
	switch kind {
	case 'S':
		f.skipping = false
		return ready(nil)
	case 'Q':
		text := string(bytes.TrimSuffix(body, []byte{0}))
		if state := f.judge(text); state != "" {
			return ready(failure(state, text))
		}
		return ready(appendFrame(appendFrame(nil, 'T', []byte{0, 0}), 'C', []byte("SELECT 0\x00")))
	case 'F':
		return ready(failure(stateFeatureNotSupported, ""))
	case 'P':
		_, text, _ := bytes.Cut(body, []byte{0})
		text, _, _ = bytes.Cut(text, []byte{0})
		if state := f.judge(string(text)); state != "" {
			f.skipping = true
			return failure(state, string(text))
		}
		return appendFrame(nil, '1', nil)
	case 'B':
		return appendFrame(nil, '2', nil)
	case 'C':
		return appendFrame(nil, '3', nil)
	case 'E':
		return appendFrame(appendFrame(nil, 'D', []byte{0, 0}), 'C', []byte("SELECT 1\x00"))
	case 'D':
		if len(body) > 0 && body[0] == 'S' {
			return appendFrame(appendFrame(nil, 't', []byte{0, 0}), 'n', nil)
		}
		return appendFrame(nil, 'T', []byte{0, 0})
	default:
		return nil
	}
}

func failure(state, text string) []byte {
	return report{severity: "ERROR", state: state, message: "syntax error at or near \"" + text + "\""}.append(nil, 'E', utf8Charset)
}

// serve reads messages until Terminate or the end, and checks that each text
// has passed the gate.
func (f *fakeServer) serve(t *testing.T, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		header, err := readFrame(r)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("upstream: %v", err)
			}
			return
		}
		if !strings.ContainsRune("QPBDECSHX", rune(header.kind)) {
			t.Errorf("message of type %c upstream", header.kind)
		}
		body, err := readBody(r, header)
		if err != nil || header.kind == 'X' {
			return
		}
		if answer := f.answer(header.kind, body); len(answer) > 0 {
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}
}

// judgeUpstream checks and judges what the proxy sends.
func judgeUpstream(t *testing.T) func(string) string {
	return func(sql string) string {
		client, checked := strings.CutPrefix(sql, mark)
		switch {
		case checked && strings.Contains(client, "f"):
			return "42601"
		case checked:
			return ""
		case strings.HasPrefix(sql, "SELECT kproxy_refused_"):
			return "42601"
		case strings.Trim(sql, " \t\n\r\f\v;") == "":
			return ""
		default:
			t.Errorf("sent upstream without a check: %q", sql)
			return ""
		}
	}
}

// judgeClient judges what the client sends as it is to be answered.
func judgeClient(sql string) string {
	switch {
	case strings.Contains(sql, "r"):
		return "42501"
	case strings.Contains(sql, "f"):
		return "42601"
	default:
		return ""
	}
}

// talk runs a session in which the client sends bytes and then hangs up, and
// returns all it was sent.
func talk(t *testing.T, bytesSent []byte) []byte {
	config := Config{
		Gate: markingGate{}, MaxStatementBytes: 64, MaxMessageBytes: 1024,
		DrainTimeout: time.Second, Available: func() error { return nil }, Logger: slog.New(slog.DiscardHandler),
	}
	client, proxyClient := sockets(t)
	server, proxyServer := sockets(t)
	fake := &fakeServer{judge: judgeUpstream(t)}
	served, heard := make(chan bool), make(chan []byte, 1)
	go func() { fake.serve(t, server); close(served) }()
	ran := startSession(t, config, fakeState{}, proxyClient, proxyServer)
	go func() {
		all, _ := io.ReadAll(client)
		heard <- all
	}()
	_ = client.SetWriteDeadline(time.Now().Add(patience))
	_, _ = client.Write(bytesSent)
	if !endsInTerminate(bytesSent) {
		_ = client.Close()
	}
	select {
	case reason := <-ran:
		if reason == nil {
			t.Error("the session ended without a reason")
		}
	case <-time.After(patience):
		t.Fatal("the session does not end")
	}
	<-served
	return <-heard
}

// endsInTerminate reports whether the client stays to hear the answers.
func endsInTerminate(sent []byte) bool {
	return bytes.HasSuffix(sent, appendFrame(nil, 'X', nil))
}

// scripted makes well-formed messages of any bytes.
func scripted(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		kind := "QPBDECSHFdcfSQPS"[data[0]%16]
		n := min(int(data[0]/16), len(data)-1)
		text := bytes.Map(func(r rune) rune { return 'a' + r%20 }, data[1:1+n])
		data = data[1+n:]
		var body []byte
		switch kind {
		case 'Q', 'f':
			body = append(bytes.Clone(text), 0)
		case 'P':
			body = append(append([]byte("name\x00"), text...), 0, 0, 0)
		case 'B':
			body = append([]byte("\x00name\x00"), make([]byte, 6)...)
		case 'D', 'C':
			body = append([]byte{"SP"[n%2]}, "name\x00"[4*(n%2):]...)
		case 'E':
			body = make([]byte, 5)
		case 'F':
			body = make([]byte, 10)
		case 'd':
			body = text
		}
		out = appendFrame(out, kind, body)
	}
	return appendFrame(out, 'X', nil)
}

// saidBy writes a stream of messages as types, with the SQLSTATE of errors.
func saidBy(t *testing.T, stream []byte) string {
	var said strings.Builder
	for len(stream) > 0 {
		if len(stream) < headerBytes {
			t.Fatalf("a message was cut off: %q", stream)
		}
		header, err := parseHeader(stream)
		if err != nil || len(stream) < headerBytes+header.size {
			t.Fatalf("a message was cut off: %v, %q", err, stream)
		}
		said.WriteByte(header.kind)
		if header.kind == 'E' {
			said.WriteString(parseReport(stream[headerBytes:headerBytes+header.size], utf8Charset).state + " ")
		}
		stream = stream[headerBytes+header.size:]
	}
	return said.String()
}

// FuzzSession sends any bytes as a client that is logged in. Well-formed ones
// must be answered as PostgreSQL would answer them, were a refusal an error of
// its own.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		"", "\x00", "\x31sss\x02\x04\x30aaa\x06\x30aaa\x31ppp\x02\x04\x06\x31aaa\x33aaa\x02\x04\x06\x30aaa", "\x30sss\x30sss\x02\x04\x31rrr\x06\x30aaa", "\x30abc\x06", "\x31rrr\x02\x05\x06", "\x31frf\x30rrr\x06\x30rrr", "\x31aaa\x02\x03\x05\x04\x06\x06",
		"\x31aaa\x30aaa\x06", "\x09\x0a\x0b\x08\x06", "\x30rrr\x30fff\x31rrr\x30aaa\x06\x31fff\x31rrr\x06",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Add(appendFrame(appendQuery(nil, "SELECT 1"), 'S', nil), true)
	f.Add(appendQuery(nil, strings.Repeat("x", 100)), true)
	f.Add([]byte{'B', 0xff, 0xff, 0xff, 0xff}, true)
	f.Add([]byte{'Q', 0, 0, 0, 6, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, raw bool) {
		if raw {
			_ = talk(t, data)
			return
		}
		script := scripted(data)
		got := saidBy(t, talk(t, script))
		reference := &fakeServer{judge: judgeClient}
		var want []byte
		for rest := script; len(rest) > 0; {
			header, err := parseHeader(rest)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, reference.answer(header.kind, rest[headerBytes:headerBytes+header.size])...)
			rest = rest[headerBytes+header.size:]
		}
		if want := saidBy(t, want); got != want {
			t.Errorf("%q was answered by\n%s, want\n%s", script, got, want)
		}
	})
}
