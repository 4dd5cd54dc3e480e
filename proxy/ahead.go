package proxy

// ahead returns the state in which a text that is sent next will run, if that is
// known. The client may be ahead of the server. Up to the next Sync it is clear
// nevertheless what will be: either all that was sent before succeeds, or the server
// skips the text. Whether an earlier segment, which ends in its own ReadyForQuery,
// succeeds is not known before its end; the text has to wait for it if the segment,
// what was sent since, or what it may take back, has to do with the state.
func (p *pipeline) ahead() (State, bool) {
	if p.segments > 0 && (p.touched || p.unsettled > 0 || p.carried) {
		return nil, false
	}
	if !p.touched {
		return p.done.state, true
	}
	if p.stale {
		p.guess = nil
	}
	return p.foresee().state, true
}

// ended tells whether all segments but the open one have ended, after which the state is
// known. The server ends them without further input.
func (p *pipeline) ended() bool { return p.segments == 0 }

// foresee returns the holdings after all that was sent since the last Sync, provided
// that it succeeds, and that no earlier segment touches them. If the
// guess is stale, its state is not to be relied upon.
func (p *pipeline) foresee() *holdings {
	if !p.touched {
		return &p.done
	}
	if p.guess == nil {
		p.guess = &holdings{under: &p.done, state: p.done.state}
		p.stale = false
		for i := range p.notes.len() {
			if n := p.notes.at(i); n.touches {
				p.guess.apply(n)
			}
		}
	}
	return p.guess
}

// canHold tells whether what the note's message leaves behind can be remembered.
func (p *pipeline) canHold(n *note) bool {
	if n.kind == noteBind {
		return len(p.done.portals) < maxPrepared
	}
	if n.prepared == nil {
		return true
	}
	bytes := p.done.bytes + p.holdingBytes + n.prepared.size() - p.done.statement(n.statement).size()
	return len(p.done.statements) < maxPrepared && bytes <= maxPreparedBytes
}

// behind tells whether segments before the open one have not ended.
func (p *pipeline) behind() bool { return p.segments > 0 }
