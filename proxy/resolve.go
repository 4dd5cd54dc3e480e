package proxy

import (
	"bytes"
)

// maxResolvedBytes caps the texts of named statements that are remembered. Beyond it
// they are forgotten, and mean what they meant when they were parsed.
const maxResolvedBytes = 512 << 10

// resolved is a named statement as it was sent. PostgreSQL looks the names in a
// prepared statement up again where search_path has changed since (PostgreSQL
// documentation, PREPARE); what the server has is a text without such names.
type resolved struct {
	sql, sent string // the client's text and the one in its place
	types     []byte // as in parseMessage
	path      string // that the names were looked up in
	gone      bool   // the server has closed it, and could not parse it again
}

func (r *resolved) size() int {
	if r == nil {
		return 0
	}
	return heldOverhead + len(r.sql) + len(r.sent) + len(r.types) + len(r.path)
}

// resolutions are the named statements of a session by name.
type resolutions struct {
	all   map[string]*resolved
	bytes int
}

func (r *resolutions) put(name string, statement *resolved) {
	r.remove(name)
	if r.bytes += statement.size(); r.bytes > maxResolvedBytes || r.all == nil {
		*r = resolutions{all: make(map[string]*resolved), bytes: statement.size()}
	}
	r.all[name] = statement
}

func (r *resolutions) remove(name string) {
	if before := r.all[name]; before != nil {
		r.bytes -= before.size()
		delete(r.all, name)
	}
}

// lose takes note that the server does not have a statement any more that it has for
// the client. It is a copy, for relayClient may be looking at the other.
func (r *resolutions) lose(name string) {
	if before := r.all[name]; before != nil {
		lost := *before
		lost.gone = true
		r.all[name] = &lost
	}
}

// forget forgets what the server has: another statement may have the name.
func (r *resolutions) forget() {
	for name, statement := range r.all {
		if !statement.gone {
			r.remove(name)
		}
	}
}

// namesStatements tells whether a command tag is that of a statement that makes or
// drops prepared statements by names which it does not tell.
func namesStatements(tag []byte) bool {
	return bytes.HasPrefix(tag, []byte("PREPARE\x00")) || bytes.HasPrefix(tag, []byte("DEALLOCATE\x00"))
}

// resolution returns what is known of a named statement, or nil, if all succeeds that
// is on its way. It is certain unless that is a Parse of an earlier segment of which the
// client does not know, and which may have left nothing.
func (p *pipeline) resolution(name string) (known *resolved, certain bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := p.notes.len() - 1; i >= 0; i-- {
		n := p.notes.at(i)
		if n.statement == name && (n.kind == noteParse || n.kind == noteCloseStatement) {
			return n.resolved, !n.hidden || p.segments == 0
		}
	}
	return p.named.all[name], true
}

// forgetNames forgets all named statements that the server has.
func (p *pipeline) forgetNames() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named.forget()
}

// waitForAll waits until everything that was sent has been answered, for which the
// server must have been asked to flush.
func (p *pipeline) waitForAll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.head() != nil && !p.closed {
		p.room.Wait()
	}
	if p.closed {
		return errPipelineClosed
	}
	return nil
}

// travels takes note of the search path after a text: once it is another one than at
// first, statements must be looked at when they are bound.
func (s *session) travels(in State, effects []any) {
	for _, effect := range effects {
		if effect != nil {
			in = in.After(effect)
			s.moved = s.moved || in.SearchPath() != s.begunPath
		}
	}
}

// resolve sees to it that a statement that is about to be bound or described means what
// it means in the search path of now: it is parsed again if it does not, or if that
// failed the last time. It returns the refusal of the text, if it is refused now.
func (s *session) resolve(name string) (*refusal, error) {
	for again := false; ; again = true {
		before, certain := s.pipeline.resolution(name)
		if before == nil {
			return nil, nil
		}
		state, known := s.pipeline.ahead()
		if !known || !certain {
			if err := s.await(s.pipeline.waitForEnd); err != nil {
				return nil, err
			}
			state, _ = s.pipeline.ahead()
			before, _ = s.pipeline.resolution(name)
		}
		if before == nil || before.path == state.SearchPath() && !before.gone {
			return nil, nil
		}
		statement, refused := s.decide(before.sql, state)
		if refused != nil {
			return refused, nil
		}
		if statement.SQL == before.sent && !before.gone {
			return nil, nil
		}
		if again {
			return nil, s.parseAgain(name, before, statement, state)
		}
		// What is on its way may fail, or be a PREPARE under the name.
		if err := send(s.up.w, appendFrame(nil, 'H', nil)); err != nil {
			return nil, err
		}
		if err := s.await(s.pipeline.waitForAll); err != nil {
			return nil, err
		}
	}
}

// parseAgain replaces a statement, of which the client hears nothing.
func (s *session) parseAgain(name string, before *resolved, now Statement, in State) error {
	closing := note{kind: noteCloseStatement, statement: name, hidden: true}
	if err := s.push(stepExtended, nil, &closing); err != nil {
		return err
	}
	if err := send(s.up.w, appendFrame(nil, 'C', append([]byte("S"+name), 0))); err != nil {
		return err
	}
	message := parseMessage{name: []byte(name), sql: before.sql, types: before.types}
	parsing := noteOfText(noteParse, before.sql, in, now)
	parsing.hidden = true
	parsing.name(message, now)
	if err := s.push(stepExtended, nil, &parsing); err != nil {
		return err
	}
	return send(s.up.w, appendParse(nil, message, now.SQL))
}

// name makes n the note of a Parse under a name.
func (n *note) name(message parseMessage, sent Statement) {
	n.statement = held(message.name)
	n.resolved = &resolved{sql: message.sql, sent: sent.SQL, types: bytes.Clone(message.types), path: n.in.SearchPath()}
}
