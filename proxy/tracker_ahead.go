package proxy

// ahead returns the state in which a text that is sent next will run, if that is known. The client
// may be ahead of the server. Up to the next Sync it is clear nevertheless what will be: either all
// that was sent before succeeds, or the server skips the text. Whether an earlier segment, which
// ends in its own ReadyForQuery, succeeds is not known before its end; the text must wait for it if
// the segment, what was sent since, or what it may take back, affects the state.
func (t *tracker) ahead() (State, bool) {
	if t.segments > 0 && (t.touched || t.unsettled > 0 || t.carried) {
		return nil, false
	}
	if !t.touched {
		return t.done.state, true
	}
	if t.stale {
		t.guess = nil
	}
	return t.foresee().state, true
}

// behind reports whether segments before the open one have not ended.
func (t *tracker) behind() bool { return t.segments > 0 }

// ended reports whether all segments but the open one have ended, after which the state
// is known. The server ends them without further input.
func (t *tracker) ended() bool { return t.segments == 0 }

// idle reports whether the server has answered everything.
func (t *tracker) idle() bool { return !t.running() }

// foresee returns the session state after all that was sent since the last Sync, provided
// that it succeeds and that no earlier segment touches the state. If the guess is stale,
// its state is not to be relied upon.
func (t *tracker) foresee() *sessionState {
	if !t.touched {
		return &t.done
	}
	if t.guess == nil {
		t.guess = &sessionState{under: &t.done, state: t.done.state}
		t.stale = false
		for i := range t.messages.len() {
			if m := t.messages.at(i); m.touches {
				t.guess.apply(m)
			}
		}
	}
	return t.guess
}

// touchedBy reports whether a message may change the session state, or depend on it, once
// the server gets to it.
func (t *tracker) touchedBy(m *message) bool {
	switch {
	case m.kind == messageQuery:
		return m.prepared != nil && m.prepared.effects != nil
	case m.prepared != nil:
		return true
	case t.holding == 0 && len(t.done.statements) == 0 && len(t.done.portals) == 0:
		return false
	case t.unsettled > 0:
		return true // it is not known yet what the names will stand for
	default:
		return t.foresee().touchedBy(m)
	}
}

// canHold reports whether what the message leaves behind can be remembered.
func (t *tracker) canHold(m *message) bool {
	if m.kind == messageBind {
		return len(t.done.portals) < maxPrepared && (m.prepared == nil || t.holdingBytes+m.prepared.size() <= maxPreparedBytes)
	}
	if m.prepared == nil {
		return true
	}
	bytes := t.done.bytes + t.holdingBytes + m.prepared.size() - t.done.statement(m.statement).size()
	return len(t.done.statements) < maxPrepared && bytes <= maxPreparedBytes
}

// resolution returns what is known of a named statement, or nil, if all succeeds that
// is on its way. It is not certain while earlier segments have not ended: a Parse may fail
// where the name is taken.
func (t *tracker) resolution(name string) (known *resolved, certain bool) {
	for i := t.messages.len() - 1; i >= 0; i-- {
		m := t.messages.at(i)
		if m.statement == name && (m.kind == messageParse || m.kind == messageCloseStatement) {
			return m.resolved, t.segments == 0
		}
	}
	return t.named.all[name], true
}

// plans reports whether the rows that come are the output of EXPLAIN. Described says
// that their RowDescription looks like it: a simple query may have other statements.
func (t *tracker) plans(described bool) bool {
	m := t.current()
	switch {
	case m == nil:
		return false
	case m.kind == messageQuery:
		return described && m.prepared != nil && m.prepared.plans
	case m.kind == messageExecute:
		of := t.done.portal(m.portal).prepared
		return of != nil && of.plans
	default:
		return false
	}
}
