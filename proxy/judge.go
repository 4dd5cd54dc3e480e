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

// judgment is what to send for a text and what to remember of it, or its refusal.
type judgment struct {
	note    note
	refused *refusal
	ruling  ruling // with the statement
}

// judge asks the Gate about a text. If that is too early, the message waits: it must be
// known in which state the text will run.
func (r *relay) judge(kind noteKind, sql string) (j judgment, known bool) {
	state, known := r.pipeline.ahead()
	if !known {
		r.until = r.pipeline.ended
		return j, false
	}
	ruling, known := r.rule(sql, state)
	if !known {
		return j, false
	}
	if ruling.refused == nil && len(ruling.statement.Effects) > 1 && ruling.early {
		// What a COMMIT in the middle of a text does depends on whether the
		// transaction has failed by then.
		if r.pipeline.behind() {
			r.until = r.pipeline.ended
			return j, false
		}
		return r.judge(kind, sql)
	}
	j.refused, j.ruling = ruling.refused, ruling
	statement := &j.ruling.statement
	if j.refused == nil && kind == noteQuery {
		if j.refused, known = r.reach(statement.Uses); !known {
			return j, false
		}
	}
	r.traces = r.traces || j.refused == nil && !statement.Traceless
	r.travels(state, statement.Effects)
	j.note = noteOfText(kind, sql, state, *statement)
	return j, true
}

// prepare does what has to come before the message of a note, unless that is refused or
// has to wait.
func (r *relay) prepare(n *note, out *outlet) (refused *refusal, known bool, err error) {
	switch n.kind {
	case noteBind:
		return r.binds(n, out)
	case noteDescribe:
		if n.statement == "" {
			return nil, true, nil
		}
		return r.resolve(n.statement, out)
	case noteExecute:
		refused, known = r.executes(n)
		return refused, known, nil
	default:
		return nil, true, nil
	}
}

// binds prepares for a Bind, unless it is refused or has to wait.
func (r *relay) binds(n *note, out *outlet) (refused *refusal, known bool, err error) {
	if r.moved && n.statement != "" {
		if refused, known, err := r.resolve(n.statement, out); refused != nil || !known || err != nil {
			return refused, known, err
		}
	}
	refused, known = r.hold(n)
	return refused, known, nil
}

// hold returns the refusal to remember what a message leaves behind, if it would be too
// much.
func (r *relay) hold(n *note) (refused *refusal, known bool) {
	switch {
	case r.pipeline.canHold(n):
		return nil, true
	case r.pipeline.behind():
		// What is on its way may have made room.
		r.until = r.pipeline.ended
		return nil, false
	default:
		return newRefusal(errTooMuchHeld, stateProgramLimitExceeded), true
	}
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

// namesMatter tells whether anything has to be known of Bind, Describe, Execute or Close.
func (r *relay) namesMatter(kind byte) bool {
	return r.holding && kind != 'D' || r.naming && (kind == 'C' || r.moved && kind != 'E')
}

// noteOf is what to know of Bind, Describe, Execute or Close with the body that begins
// so; nil = nothing.
func (r *relay) noteOf(f frame, begin []byte) (*note, error) {
	if !r.namesMatter(f.kind) {
		return nil, nil
	}
	n := &note{kind: noteKindOf(f.kind, begin[0])}
	if f.kind == 'C' || f.kind == 'D' {
		begin = begin[1:]
	}
	// Names that do not end in what is looked at are nobody's.
	first, rest, complete := bytes.Cut(begin, []byte{0})
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
