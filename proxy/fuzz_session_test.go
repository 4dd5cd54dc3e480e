package proxy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/proxy/chaos"
)

// FuzzBytes sends any bytes after login. Whatever they are, the session ends when the
// client does, what is heard are messages, and only what the gate has signed goes on.
func FuzzBytes(f *testing.F) {
	for _, seed := range [][]byte{
		{},
		{0},
		{'Q'},
		{'Q', 0, 0, 0, 3},
		{'B', 0xff, 0xff, 0xff, 0xff},
		{'P', 0x3f, 0xff, 0xff, 0xff, 'a'},
		{'d', 0x7f, 0xff, 0xff, 0xff},
		{'Q', 0, 0, 0, 6, 0, 0},
		{'p', 0, 0, 0, 4},
		{0x16, 3, 1, 0, 5, 1},
		{0, 0, 0, 8, 4, 210, 22, 47},
		chaos.AppendMessage(nil, 'Q', []byte("SELECT 1\x00")),
		chaos.AppendMessage(nil, 'Q', []byte("/*rows 1 2 3*/\x00")),
		chaos.AppendMessage(chaos.AppendMessage(nil, 'P', []byte("\x00/*refused 1 0 0*/\x00\x00\x00")), 'S', nil),
		chaos.AppendMessage(chaos.AppendMessage(nil, 'P', []byte("a\x00/*copy 1 2 2*/\x00\x00\x00")), 'X', nil),
		chaos.AppendMessage(chaos.AppendMessage(nil, 'F', make([]byte, 10)), 'X', nil),
		chaos.AppendMessage(nil, 'Q', append(bytes.Repeat([]byte{'x'}, fuzzMaxStatement), 0)),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := fuzzedProxy(t, sharedFuzzed).hear(data); err != nil {
			t.Error(err)
		}
	})
}

// hear plays one case of FuzzBytes.
func (p *fuzzed) hear(data []byte) error {
	client, err := p.login()
	if err != nil {
		return err
	}
	heard, err := talk(client.Conn, client.In, data, true)
	if err != nil {
		return err
	}
	_, err = messagesIn(heard, true)
	return errors.Join(err, p.serverFaults())
}

// FuzzConversation has a client send messages that make some sense, among them malformed
// ones, and expects what PostgreSQL would answer, were a refusal an error of its own.
func FuzzConversation(f *testing.F) {
	for _, seed := range conversationSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := fuzzedProxy(t, sharedFuzzed).converse(data); err != nil {
			t.Error(err)
		}
	})
}

// converse plays one case of FuzzConversation.
func (p *fuzzed) converse(data []byte) error {
	c := newConversation(data)
	client, err := p.login()
	if err != nil {
		return err
	}
	stream, err := talk(client.Conn, client.In, c.sent, false)
	if err != nil {
		return err
	}
	heard, err := messagesIn(stream, false)
	return errors.Join(err, c.check(heard), p.serverFaults())
}

// conversation is what a client sends, with what it must hear.
type conversation struct {
	data  []byte // what is left of the case
	model *chaos.Model
	sent  []byte
	want  []byte
	until int // of want: at the last malformed message, any of which may end the session; -1 = none
	texts int
	log   []string
}

var fuzzNames = []string{"", "a", "b", strings.Repeat("n", 70) + "1", strings.Repeat("n", 70) + "2"}

// newConversation draws messages from the bytes of a case.
func newConversation(data []byte) *conversation {
	c := &conversation{data: data, until: -1, model: &chaos.Model{
		Refuse: chaos.RefusalBehind, Rewriting: true, MaxText: fuzzMaxStatement,
	}}
	for len(c.data) > 0 {
		c.message()
	}
	c.send('S', nil)
	c.sent = chaos.AppendMessage(c.sent, 'X', nil)
	return c
}

// draw takes a number below n from the case.
func (c *conversation) draw(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *conversation) name() string { return fuzzNames[c.draw(len(fuzzNames))] }

func (c *conversation) send(kind byte, body []byte) {
	c.sent = chaos.AppendMessage(c.sent, kind, body)
	c.want = append(c.want, c.model.Step(kind, body)...)
	c.log = append(c.log, fmt.Sprintf("%c %.80q", kind, body))
}

// reach sends Describe or Execute, unless of a portal that kproxy has a mind of its own
// about.
func (c *conversation) reach(kind byte, body []byte) {
	if c.model.Unbound() && (kind == 'E' && body[0] == 0 || kind == 'D' && body[0] == 'P' && body[1] == 0) {
		return
	}
	c.send(kind, body)
}

// malformed sends what may end the session.
func (c *conversation) malformed(kind byte, body []byte) {
	c.until = len(c.want)
	c.send(kind, body)
}

var fuzzVerbs = []chaos.Verb{
	chaos.Rows, chaos.Fails, chaos.Parameter, chaos.Begin, chaos.Commit, chaos.Rollback, chaos.Savepoint,
	chaos.Release, chaos.Back, chaos.Style, chaos.Path, chaos.Where, chaos.Copy, chaos.CopyFails, chaos.Notice,
	chaos.Explain, chaos.Forget, chaos.Missing, chaos.Syntax, chaos.Refused,
}

func (c *conversation) text() string {
	c.texts++
	s := chaos.Statement{Verb: fuzzVerbs[c.draw(len(fuzzVerbs))], ID: c.texts}
	switch s.Verb {
	case chaos.Rows, chaos.Fails, chaos.Copy, chaos.CopyFails:
		s.A, s.B = c.draw(5), 1+c.draw(5)
	case chaos.Savepoint, chaos.Release, chaos.Back, chaos.Refused:
		s.A = c.draw(2)
	case chaos.Style:
		s.A = c.draw(len(chaos.Styles))
	case chaos.Path:
		s.A = 1 + c.draw(chaos.Schemas)
	}
	return s.Text()
}

// message draws one message.
func (c *conversation) message() {
	switch c.draw(16) {
	case 0, 1:
		c.query()
	case 2, 3, 4:
		c.parse()
	case 5, 6:
		c.bind()
	case 7:
		c.reach('D', []byte(string("SP"[c.draw(2)])+c.name()+"\x00"))
	case 8, 9:
		c.reach('E', binary.BigEndian.AppendUint32([]byte(c.name()+"\x00"), uint32([]int{0, 1, 2, 1 << 31}[c.draw(4)])))
	case 10:
		c.send('C', []byte(string("SP"[c.draw(2)])+c.name()+"\x00"))
	case 11, 12:
		c.send('S', nil)
	case 13:
		c.send('H', nil)
	case 14:
		c.other()
	default:
		c.broken()
	}
}

func (c *conversation) query() {
	var texts []string
	for range c.draw(4) {
		texts = append(texts, c.text())
	}
	c.send('Q', []byte(strings.Join(texts, ";")+"\x00"))
}

func (c *conversation) parse() {
	types := [][]byte{{0, 0}, {0, 1, 0, 0, 0, 23}, {0, 0}, {0, 0}}[c.draw(4)]
	c.send('P', append([]byte(c.name()+"\x00"+c.text()+"\x00"), types...))
}

func (c *conversation) bind() {
	body := []byte(c.name() + "\x00" + c.name() + "\x00")
	format := byte(c.draw(2))
	body = append(body, 0, 1, 0, format)
	switch c.draw(3) {
	case 0:
		body = append(body, 0, 0)
	case 1:
		body = append(body, 0, 1, 0, 0, 0, 4, '1', '2', '3', '4')
	default:
		body = append(body, 0, 2, 0, 0, 0, 1, '1', 0, 0, 0, 1, '2')
	}
	c.send('B', append(body, [][]byte{{0, 0}, {0, 1, 0, 1}, {0, 3, 0, 1, 0, 0, 0, 0}, {0, 2, 0, 1, 0, 0}}[c.draw(4)]...))
}

// other sends what has no place, and texts that are no good.
func (c *conversation) other() {
	switch c.draw(8) {
	case 0:
		c.send('d', []byte("data"))
	case 1:
		c.send('c', nil)
	case 2:
		c.send('f', []byte("no\x00"))
	case 3:
		c.send('F', make([]byte, 10))
	case 4:
		c.send('Q', []byte("/*rows 1 1 1*/\xff\x00"))
	case 5:
		c.send('P', []byte(c.name()+"\x00\xff\x00\x00\x00"))
	case 6:
		c.send('Q', append(bytes.Repeat([]byte{' '}, fuzzMaxStatement), 0))
	default:
		c.send('P', append([]byte(c.name()+"\x00"), make([]byte, fuzzMaxStatement)...))
	}
}

// broken sends a message that is malformed: of any type, with a body from the case.
func (c *conversation) broken() {
	kind := "QPBDECSHFdcfXpZ\x00"[c.draw(16)]
	if kind == 'X' {
		return
	}
	n := min(c.draw(40), len(c.data))
	body := c.data[:n]
	c.data = c.data[n:]
	if kind == 'Q' || kind == 'P' {
		// Texts are refused, or are no texts.
		body = append([]byte("\x00\x00"), body...)
	}
	c.malformed(kind, body)
}

// check compares what was heard with what PostgreSQL would have said.
func (c *conversation) check(heard []said) error {
	want, err := messagesIn(c.want, false)
	if err != nil {
		return err
	}
	for i, m := range heard {
		if c.until >= 0 && i == len(heard)-1 && isViolation(m) {
			if before, _ := messagesIn(c.want[:c.until], false); i <= len(before) {
				return nil
			}
		}
		if i >= len(want) || !similar(want[i], m) {
			return fmt.Errorf("message %d is %c %.200q, want %.200q of\n%s", i, m.kind, m.body, show(want, i), strings.Join(c.log, "\n"))
		}
	}
	if len(heard) < len(want) {
		return fmt.Errorf("the end after %d messages, want %.200q of\n%s", len(heard), show(want, len(heard)), strings.Join(c.log, "\n"))
	}
	return nil
}

// isViolation tells whether a message ends the session of a client that breaks the
// protocol.
func isViolation(m said) bool {
	r := chaos.ReportOf(m.body)
	return m.kind == 'E' && r.Severity == "FATAL" && r.State == "08P01"
}

// similar compares two messages; of errors and notices severity and SQLSTATE.
func similar(a, b said) bool {
	if a.kind == b.kind && (a.kind == 'E' || a.kind == 'N') {
		x, y := chaos.ReportOf(a.body), chaos.ReportOf(b.body)
		return x.Severity == y.Severity && x.State == y.State
	}
	return a.kind == b.kind && bytes.Equal(a.body, b.body)
}

func show(all []said, i int) string {
	if i >= len(all) {
		return "the end"
	}
	return string(all[i].kind) + " " + string(all[i].body)
}

// conversationSeeds are cases that reach every message in every state.
var conversationSeeds = []string{
	"",
	"\x00\x01\x00\x02\x03",
	"\x02\x00\x00\x00\x05\x00\x00\x00\x00\x07\x01\x00\x08\x00\x00\x0b",
	"\x00\x01\x03\x02\x00\x01\x01\x00\x00\x01\x01\x05",
	"\x02\x01\x00\x0b\x03\x02\x01\x00\x05\x01\x01\x08\x01\x00\x0b",
	"\x0f\x02\x05abcde\x0b",
	"\x0e\x00\x0e\x01\x0e\x02\x0e\x03\x0e\x04\x0e\x05\x0e\x06\x0e\x07\x0b",
}
