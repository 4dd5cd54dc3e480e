package proxy

import (
	"bytes"
	"errors"
)

// errTooMuchHeld refuses to remember more of a session.
var errTooMuchHeld error = tooMuchHeld{errors.New("too many prepared statements or portals that change the session or show plans")}

type tooMuchHeld struct{ error }

// Hint tells what to do instead.
func (tooMuchHeld) Hint() string {
	return "Close those that are not needed any more, or DEALLOCATE ALL."
}

// judge asks the Gate about a text, once it is known in which state the text will
// run, and returns what to send and what to remember of it.
func (s *session) judge(kind noteKind, sql string) (Statement, note, *refusal, error) {
	state, known := s.pipeline.ahead()
	if !known {
		if err := s.await(s.pipeline.waitForEnd); err != nil {
			return Statement{}, note{}, nil, err
		}
		state, _ = s.pipeline.ahead()
	}
	statement, refused := s.decide(sql, state)
	if refused == nil && len(statement.Effects) > 1 && s.pipeline.behind() {
		// What a COMMIT in the middle of a text does depends on whether the
		// transaction has failed by then.
		if err := s.await(s.pipeline.waitForEnd); err != nil {
			return Statement{}, note{}, nil, err
		}
		state, _ = s.pipeline.ahead()
		statement, refused = s.decide(sql, state)
	}
	if refused == nil && kind == noteQuery {
		var err error
		if refused, err = s.reach(statement.Uses); err != nil {
			return Statement{}, note{}, nil, err
		}
	}
	s.travels(state, statement.Effects)
	return statement, noteOfText(kind, sql, state, statement), refused, nil
}

// prepare does what has to come before the message of a note, unless that is refused.
func (s *session) prepare(n *note) (*refusal, error) {
	switch n.kind {
	case noteBind:
		return s.binds(n)
	case noteDescribe:
		if n.statement == "" {
			return nil, nil
		}
		return s.resolve(n.statement)
	case noteExecute:
		return s.executes(n)
	default:
		return nil, nil
	}
}

// binds prepares for a Bind, unless it is refused.
func (s *session) binds(n *note) (*refusal, error) {
	if s.moved && n.statement != "" {
		if refused, err := s.resolve(n.statement); refused != nil || err != nil {
			return refused, err
		}
	}
	return s.hold(n)
}

// hold returns the refusal to remember what a message leaves behind, if it would be too
// much.
func (s *session) hold(n *note) (*refusal, error) {
	if s.pipeline.canHold(n) {
		return nil, nil
	}
	// What is on its way may have made room.
	if err := s.await(s.pipeline.waitForEnd); err != nil {
		return nil, err
	}
	if s.pipeline.canHold(n) {
		return nil, nil
	}
	return newRefusal(errTooMuchHeld, stateProgramLimitExceeded), nil
}

// noteOfText is what to remember of a text that is to be sent.
func noteOfText(kind noteKind, sql string, in State, statement Statement) note {
	n := note{kind: kind, sql: sql, in: in, sent: fingerprint(statement.SQL)}
	if statement.Effects != nil || statement.Plans || statement.Uses != nil {
		n.prepared = &prepared{effects: statement.Effects, plans: statement.Plans, uses: statement.Uses, bytes: heldOverhead}
		if statement.Effects != nil || statement.Uses != nil {
			n.prepared.bytes += len(sql)
		}
	}
	return n
}

// noteOf is what to know of Bind, Describe, Execute or Close, whose body is yet to be
// read; nil = nothing.
func (s *session) noteOf(f frame) (*note, error) {
	switch {
	case s.holding && f.kind != 'D':
	case s.naming && (f.kind == 'C' || s.moved && f.kind != 'E'):
	default:
		return nil, nil
	}
	// Names longer than the buffer are nobody's.
	body, err := s.clientIn.Peek(min(f.size, relayBufferBytes))
	if err != nil {
		return nil, unexpected(err)
	}
	n := &note{kind: noteKindOf(f.kind, body[0])}
	if f.kind == 'C' || f.kind == 'D' {
		body = body[1:]
	}
	first, rest, complete := bytes.Cut(body, []byte{0})
	switch n.kind {
	case noteCloseStatement, noteDescribe:
		n.statement = held(first)
	default:
		n.portal = held(first)
	}
	if n.kind == noteBind && complete {
		first, _, complete = bytes.Cut(rest, []byte{0})
		n.statement = held(first)
	}
	if !complete {
		return nil, violation("invalid name of a statement or portal")
	}
	return n, nil
}

// noteKindOf is the kind of a message by its type and the first byte of its body.
func noteKindOf(message, first byte) noteKind {
	switch {
	case message == 'B':
		return noteBind
	case message == 'C' && first == 'S':
		return noteCloseStatement
	case message == 'C':
		return noteClosePortal
	case message == 'D' && first == 'S':
		return noteDescribe
	case message == 'D':
		return noteDescribePortal
	default:
		return noteExecute
	}
}
