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

// errTaken refuses another statement under the name of one that the client takes to be
// there while the server has lost it.
type errTaken string

func (e errTaken) Error() string { return `prepared statement "` + string(e) + `" already exists` }

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
// the client. It is a copy, for the other may be in notes as well.
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
// is on its way. It is not certain while earlier segments have not ended: a Parse may fail
// where the name is taken.
func (p *pipeline) resolution(name string) (known *resolved, certain bool) {
	for i := p.notes.len() - 1; i >= 0; i-- {
		n := p.notes.at(i)
		if n.statement == name && (n.kind == noteParse || n.kind == noteCloseStatement) {
			return n.resolved, p.segments == 0
		}
	}
	return p.named.all[name], true
}

// forgetNames forgets all named statements that the server has.
func (p *pipeline) forgetNames() {
	p.named.forget()
}

// travels takes note of the search path after a text: once it is another one than at
// first, statements must be looked at when they are bound.
func (r *relay) travels(in State, effects []any) {
	for _, effect := range effects {
		if effect != nil {
			in = in.After(effect)
			r.moved = r.moved || in.SearchPath() != r.begunPath
		}
	}
}

// resolve sees to it that a statement that is about to be bound or described means what
// it means in the search path of now: it is parsed again if it does not, or if that
// failed the last time. It returns the refusal of the text, if it is refused now; the
// message waits until what the statement is now is known for certain.
func (r *relay) resolve(name string, out *outlet) (refused *refusal, known bool, err error) {
	before, certain := r.pipeline.resolution(name)
	if before == nil {
		return nil, true, nil
	}
	state, foreseen := r.pipeline.ahead()
	if !foreseen || !certain {
		r.until = r.pipeline.ended
		return nil, false, nil
	}
	if before.path == state.SearchPath() && !before.gone {
		return nil, true, nil
	}
	ruling, known := r.rule(before.sql, state)
	switch {
	case !known:
		return nil, false, nil
	case ruling.refused != nil:
		return ruling.refused, true, nil
	case ruling.statement.SQL == before.sent && !before.gone:
		return nil, true, nil
	case r.status == 'E' && !before.gone && !r.pipeline.touched:
		// The server refuses it, whatever its names are, and would lose the statement.
		return nil, true, nil
	case r.pipeline.running():
		// What is on its way may fail, or be a PREPARE under the name.
		r.flush(out)
		r.until = func() bool { return !r.pipeline.running() }
		return nil, false, nil
	}
	r.parseAgain(name, before, ruling.statement, state, out)
	return nil, true, nil
}

// parseAgain replaces a statement, of which the client hears nothing. Nothing is on its
// way, so that there is room in the pipeline.
func (r *relay) parseAgain(name string, before *resolved, now Statement, in State, out *outlet) {
	r.push(stepExtended, nil, &note{kind: noteCloseStatement, statement: name, hidden: true})
	out.set(appendFrame(out.buffer(), 'C', append([]byte("S"+name), 0)))
	message := parseMessage{name: []byte(name), sql: before.sql, types: before.types}
	parsing := noteOfText(noteParse, before.sql, in, now)
	parsing.hidden = true
	parsing.name(message, now)
	r.push(stepExtended, nil, &parsing)
	out.set(appendParse(out.buffer(), message, now.SQL))
}

// name makes n the note of a Parse under a name.
func (n *note) name(message parseMessage, sent Statement) {
	n.statement = held(message.name)
	n.resolved = &resolved{sql: message.sql, sent: sent.SQL, types: bytes.Clone(message.types), path: n.in.SearchPath()}
}
