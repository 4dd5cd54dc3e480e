package proxy

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// modelMessage is a message with what the client was told of the state by then.
type modelMessage struct {
	kind       stepKind
	note       message // without a kind: Describe
	statements []modelStatement
}

// modelStatement is a statement of a text.
type modelStatement struct {
	effect fakeEffect // no verb: none
	fails  bool
	path   string // the search path that it was rewritten for
}

// modelServer follows PostgreSQL's rules about what a message does, one at a time.
type modelServer struct {
	t        testing.TB
	state    fakeState
	status   byte
	skipping bool
	failed   bool // since the last ReadyForQuery
	prepared map[string][]modelStatement
	portals  map[string]*modelPortal
	checked  int // texts that ran in the state that they were rewritten for
}

type modelPortal struct {
	statements []modelStatement
	ran        bool
}

func newModelServer(t testing.TB) *modelServer {
	return &modelServer{
		t: t, status: 'I', state: fakeState{path: fakePath{"public", "public"}},
		prepared: map[string][]modelStatement{}, portals: map[string]*modelPortal{},
	}
}

// run executes one statement and tells whether it succeeds.
func (m *modelServer) run(s modelStatement) bool {
	ends := s.effect.verb == "commit" || s.effect.verb == "rollback"
	if s.fails || m.status == 'E' && !ends && s.effect.verb != "back" {
		return false
	}
	switch s.effect.verb {
	case "savepoint", "back":
		if m.status == 'I' || s.effect.verb == "back" && !m.has(s.effect.name) {
			return false
		}
		m.status = 'T'
	case "begin":
		m.status = 'T'
	case "commit", "rollback":
		m.status = 'I'
	}
	if s.effect.verb != "" {
		m.state = m.state.After(s.effect).(fakeState)
	}
	return true
}

func (m *modelServer) has(savepoint string) bool {
	for _, l := range m.state.levels[min(1, len(m.state.levels)):] {
		if l.name == savepoint {
			return true
		}
	}
	return false
}

// check compares the path that a text was rewritten for with the one it meets.
func (m *modelServer) check(s modelStatement) {
	if m.status == 'E' {
		return // it fails, or ends the transaction without reading anything
	}
	m.checked++
	if s.path != m.state.path.now {
		m.t.Fatalf("a text for the path %q met %q", s.path, m.state.path.now)
	}
}

// answer executes a message and tells the pipeline what comes of it.
func (m *modelServer) answer(message modelMessage, p *tracker) {
	if m.skipping && message.kind != stepSync {
		return
	}
	fail := func() {
		m.failed = true
		if m.status == 'T' {
			m.status = 'E'
		}
		p.fail("", "an error")
	}
	switch message.kind {
	case stepExtended:
		if m.extended(&message) {
			p.answered('1', nil)
			return
		}
		m.skipping = true
		fail()
		return
	case stepQuery:
		for _, s := range message.statements {
			m.check(s)
			if !m.run(s) {
				fail()
				break
			}
			p.answered('C', nil)
		}
	}
	m.skipping = false
	m.state = m.state.Synced(m.status, m.failed).(fakeState)
	m.failed = false
	if m.status == 'I' {
		clear(m.portals)
	}
	if err := p.ready(m.status); err != nil {
		m.t.Fatal(err)
	}
}

// extended executes a message of a run and tells whether it succeeds.
func (m *modelServer) extended(message *modelMessage) bool {
	n := &message.note
	switch n.kind {
	case messageParse:
		s := message.statements[0]
		if _, taken := m.prepared[n.statement]; taken && n.statement != "" || s.fails {
			return false
		}
		m.check(s)
		m.prepared[n.statement] = message.statements
	case messageBind:
		of, known := m.prepared[n.statement]
		if !known {
			return false
		}
		m.portals[n.portal] = &modelPortal{statements: of}
	case messageExecute:
		of := m.portals[n.portal]
		if of == nil {
			return false
		}
		if !of.ran && !m.run(of.statements[0]) {
			return false
		}
		of.ran = true
	case messageCloseStatement:
		delete(m.prepared, n.statement)
	case messageClosePortal:
		delete(m.portals, n.portal)
	}
	return true
}

// modelClient draws messages from bytes.
type modelClient struct {
	p     *tracker
	bytes []byte
	then  []modelMessage // to be sent next: what executes the last Parse
}

func (c *modelClient) draw(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := int(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b % n
}

// statement draws a statement, to be rewritten for a path.
func (c *modelClient) statement(in *fakeState) modelStatement {
	s := modelStatement{path: in.path.now}
	name := "abc"[c.draw(3):][:1]
	switch c.draw(16) {
	case 0, 1, 2:
		s.effect = fakeEffect{"set", name}
	case 3:
		s.effect = fakeEffect{"local", name}
	case 4, 5:
		s.effect = fakeEffect{"begin", ""}
	case 6:
		s.effect = fakeEffect{"commit", ""}
	case 7:
		s.effect = fakeEffect{"rollback", ""}
	case 8:
		s.effect = fakeEffect{"savepoint", name}
	case 9:
		s.effect = fakeEffect{"back", name}
	case 10:
		s.fails = true
	}
	if s.effect.verb != "" {
		*in = in.After(s.effect).(fakeState)
	}
	return s
}

// message draws a message; in is the state for a text.
func (c *modelClient) message(kind int, in fakeState) modelMessage {
	statement, other := []string{"", "s", "t"}[c.draw(3)], []string{"", "p"}[c.draw(2)]
	switch kind {
	case 0:
		next := modelMessage{kind: stepQuery, note: message{kind: messageQuery}}
		for range 1 + c.draw(3) {
			next.statements = append(next.statements, c.statement(&in))
		}
		next.note.prepared = preparedOf(next.statements)
		return next
	case 1:
		next := modelMessage{note: message{kind: messageParse, statement: statement}}
		next.statements = []modelStatement{c.statement(&in)}
		next.note.prepared = preparedOf(next.statements)
		if c.draw(2) == 0 {
			c.then = []modelMessage{
				{note: message{kind: messageBind, statement: statement, portal: other}},
				{note: message{kind: messageExecute, portal: other}},
			}
		}
		return next
	case 2:
		return modelMessage{note: message{kind: messageBind, statement: statement, portal: other}}
	case 3:
		return modelMessage{note: message{kind: messageExecute, portal: other}}
	case 4:
		return modelMessage{note: message{kind: messageCloseStatement, statement: statement}}
	case 5:
		return modelMessage{note: message{kind: messageClosePortal, portal: other}}
	case 6:
		return modelMessage{} // Describe
	default:
		return modelMessage{kind: stepSync}
	}
}

// next draws a message, unless its text has to wait.
func (c *modelClient) next() (m modelMessage, waits bool) {
	if len(c.then) > 0 {
		m, c.then = c.then[0], c.then[1:]
		return m, false
	}
	before := c.bytes
	kind := c.draw(9)
	var state fakeState
	if kind < 2 {
		in, known := c.p.ahead()
		if !known {
			c.bytes = before
			return m, true
		}
		state = in.(fakeState)
	}
	m = c.message(kind, state)
	if p := m.note.prepared; p != nil && len(p.effects) > 1 && c.p.behind() {
		c.bytes = before
		return m, true
	}
	return m, false
}

func preparedOf(statements []modelStatement) *prepared {
	p := &prepared{}
	touches := false
	for _, s := range statements {
		if s.effect.verb == "" {
			p.effects = append(p.effects, nil)
		} else {
			p.effects, touches = append(p.effects, s.effect), true
		}
	}
	if !touches {
		return nil
	}
	return p
}

// play lets a client send what it draws while the server answers when it likes, and
// returns how many texts ran in the state that they were rewritten for.
func play(t testing.TB, bytes []byte) int {
	m := newModelServer(t)
	c := &modelClient{p: newTracker(m.state, nil), bytes: bytes}
	var sent []modelMessage
	answer := func() {
		m.answer(sent[0], c.p)
		sent = sent[1:]
	}
	for len(c.bytes) > 0 {
		if len(sent) > 0 && c.draw(3) == 0 {
			answer()
			continue
		}
		message, waits := c.next()
		for ; waits; message, waits = c.next() {
			if !c.p.behind() {
				t.Fatal("a text waits for the open segment")
			}
			answer()
		}
		n := &message.note
		if n.kind == 0 {
			n = nil
		}
		c.p.send(message.kind, n)
		sent = append(sent, message)
	}
	for len(sent) > 0 {
		answer()
	}
	if left := c.p; left.messages.len()+left.holding+left.unsettled+left.segments+left.textBytes > 0 {
		t.Fatalf("all is answered and %+v is left", left)
	}
	if got := c.p.done.state; fmt.Sprint(got) != fmt.Sprint(m.state) {
		t.Fatalf("the state is %v, want %v", got, m.state)
	}
	return m.checked
}

// FuzzAhead compares what is foreseen of the session's state with a server that
// executes one message after the other.
func FuzzAhead(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 0, 0, 0, 2, 0, 0, 1, 3, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) { play(t, data) })
}

// TestAhead plays random scripts, of which most have texts that must wait.
func TestAhead(t *testing.T) {
	t.Parallel()
	checked := 0
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		script := make([]byte, 20+rng.IntN(400))
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		checked += play(t, script)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if checked < 100_000 {
		t.Errorf("only %d texts ran", checked)
	}
}

// TestCommitBehindAFailure has a COMMIT on its way while it is open whether it will
// be a rollback: what follows it in its segment has to wait.
func TestCommitBehindAFailure(t *testing.T) {
	t.Parallel()
	var state State = fakeState{path: fakePath{"public", "public"}}
	p := newTracker(state.After(fakeEffect{"begin", ""}).After(fakeEffect{"set", "a"}), nil)
	p.send(stepQuery, &message{kind: messageQuery}) // which fails
	p.send(stepExtended, &message{kind: messageParse, prepared: &prepared{effects: []any{fakeEffect{"commit", ""}}}})
	p.send(stepExtended, &message{kind: messageBind})
	p.send(stepExtended, &message{kind: messageExecute})
	if _, known := p.ahead(); known {
		t.Error("the state is known too early")
	}
	p.fail("", "an error")
	if err := p.ready('E'); err != nil {
		t.Fatal(err)
	}
	got, known := p.ahead()
	if !known || got.(fakeState).path.now != "public" {
		t.Errorf("the state is %v, %t; want the path public", got, known)
	}
}

func TestPortalsEndWithTheirTransaction(t *testing.T) {
	t.Parallel()
	p := newTracker(fakeState{}, nil)
	p.send(stepExtended, &message{kind: messageParse, prepared: &prepared{plans: true}})
	p.send(stepExtended, &message{kind: messageBind, portal: "p"})
	p.send(stepSync, nil)
	p.answered('1', nil)
	p.answered('2', nil)
	if len(p.done.portals) != 1 {
		t.Error("the portal is not remembered")
	}
	if err := p.ready('I'); err != nil || len(p.done.portals) != 0 || len(p.done.statements) != 1 {
		t.Error(p.done, err)
	}
	p.answered('C', []byte("DISCARD ALL\x00"))
	if len(p.done.statements) != 0 {
		t.Error("the statement is still remembered")
	}
}
