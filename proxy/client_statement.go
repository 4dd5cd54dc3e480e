package proxy

import "errors"

// errTooMuchHeld refuses to remember more of a session.
var errTooMuchHeld error = tooMuchHeld{errors.New("too many prepared statements or portals that change the session or show plans")}

type tooMuchHeld struct{ error }

// Hint says what to do instead.
func (tooMuchHeld) Hint() string {
	return "Close those that are not needed any more, or DEALLOCATE ALL."
}

// errReached refuses what would run a statement of the protocol unseen.
var errReached error = reached{errors.New("EXECUTE, FETCH and MOVE do not reach statements and portals of the protocol that change the session or show plans")}

type reached struct{ error }

// Hint says what to do instead.
func (reached) Hint() string {
	return "Send Execute for it, or run its text as a statement of its own."
}

// judgment is what to send for a text and what to remember of it, or its refusal.
type judgment struct {
	sql     string // the text in UTF-8
	message message
	refused *refusal
	ruling  ruling // with the statement
}

// judge asks the Gate about a text in the session's encoding. If that is too early, the
// message waits: it must be known in which state the text will run.
func (c *clientSide) judge(kind messageKind, text string) (j judgment, known bool) {
	state, known := c.tracker.ahead()
	if !known {
		c.until = c.tracker.ended
		return j, false
	}
	sql, err := c.tracker.decodeText(state, text)
	if err != nil {
		j.refused, j.message = newRefusal(err, stateCharacterNotInEncoding), textMessage(kind, "", state, Statement{})
		return j, true
	}
	ruling, known := c.rule(sql, state)
	if !known {
		return j, false
	}
	if ruling.refused == nil && len(ruling.statement.Effects) > 1 && ruling.early {
		// What a COMMIT in the middle of a text does depends on whether the
		// transaction has failed by then.
		if c.waitForSegments() {
			return j, false
		}
		return c.judge(kind, text)
	}
	j.sql, j.refused, j.ruling = sql, ruling.refused, ruling
	statement := &j.ruling.statement
	if j.refused == nil && kind == messageQuery {
		if j.refused, known = c.reach(statement.Uses); !known {
			return j, false
		}
	}
	c.traces = c.traces || j.refused == nil && !statement.Traceless
	c.travels(state, statement.Effects)
	j.message = textMessage(kind, sql, state, *statement)
	j.message.escaped = ruling.sent != statement.SQL
	return j, true
}

// rule asks the Gate about a text in a state. If it has to think, the message waits.
func (c *clientSide) rule(sql string, in State) (ruling, bool) {
	r, known := c.gate.rule(sql, in, c.tracker)
	if !known {
		c.until = c.gate.answered
	}
	return r, known
}

// namesMatter reports whether the names in Bind, Describe, Execute or Close must be known.
func (c *clientSide) namesMatter(kind byte) bool {
	return c.holding && kind != 'D' || c.naming && (kind == 'C' || c.moved && kind != 'E')
}

// namesObserved reports whether Bind, Execute or Close must be reported to the Observer.
func (c *clientSide) namesObserved(kind byte) bool {
	return c.tracker.observation != nil && kind != 'D'
}

// prepare does what must come before a message, unless the message is refused or must wait.
func (c *clientSide) prepare(m *message, out *writeBuffer) (refused *refusal, known bool) {
	switch m.kind {
	case messageBind:
		if c.moved && m.statement != "" {
			if refused, known := c.resolve(m.statement, out); refused != nil || !known {
				return refused, known
			}
		}
		return c.hold(m)
	case messageDescribe:
		if m.statement != "" {
			return c.resolve(m.statement, out)
		}
	case messageExecute:
		if c.reaching {
			if c.waitForSegments() {
				return nil, false
			}
			return c.reach(c.tracker.foresee().uses(m.portal))
		}
	}
	return nil, true
}

// hold returns the refusal to remember what a message leaves behind, if it would be too
// much.
func (c *clientSide) hold(m *message) (refused *refusal, known bool) {
	switch {
	case c.tracker.canHold(m):
		return nil, true
	case c.waitForSegments(): // what is on its way may have made room
		return nil, false
	default:
		return newRefusal(errTooMuchHeld, stateProgramLimitExceeded), true
	}
}

// reach returns the refusal of a text that is about to run and that uses prepared statements or
// portals by these names in SQL, if one of them is held: the effects and results would have to be
// known, as for Execute. If it is too early for that, the message waits: earlier segments may fail,
// and leave what they would have closed.
func (c *clientSide) reach(names []string) (refused *refusal, known bool) {
	switch {
	case len(names) == 0 || !c.holding:
		return nil, true
	case c.waitForSegments():
		return nil, false
	case c.tracker.foresee().holds(names):
		return newRefusal(errReached, stateFeatureNotSupported), true
	default:
		return nil, true
	}
}
