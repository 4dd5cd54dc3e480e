package proxy

// Bounds of what is remembered of a session.
const (
	// maxNotes caps the notes; a client that is ahead by as many waits.
	maxNotes = 1024

	// maxTexts and maxTextBytes cap the texts that are kept while they are
	// unanswered. Errors about texts beyond them have no position, and named
	// statements with such texts keep the meaning they had when they were parsed.
	maxTexts     = 256
	maxTextBytes = 256 << 10

	// maxPrepared caps the prepared statements, and the portals, that are remembered
	// because they change the session or show plans, and maxPreparedBytes the
	// statements' texts. What exceeds them is refused.
	maxPrepared      = 1000
	maxPreparedBytes = 1 << 20
)

type noteKind byte

const (
	noteQuery noteKind = iota + 1
	noteParse
	noteBind
	noteExecute
	noteCloseStatement
	noteClosePortal
	noteDescribe // of a statement; nothing is kept of it
	noteDescribePortal
)

// note is what must be known of a message until it has been answered.
type note struct {
	kind    noteKind
	touches bool   // the message may change the holdings, or depend on them
	message uint64 // its number

	statement, portal string // the names in it

	hidden   bool      // the message is not the client's, nor is its answer
	resolved *resolved // of a noteParse with a name
	prepared *prepared // what its text is, for noteQuery and noteParse
	ran      int       // statements of it that have run, for noteQuery

	// The text and the state that it was rewritten in, for the position of its error;
	// "" = not kept.
	sql  string
	in   State
	sent uint64 // the fingerprint of the text in its place
}

// remember takes note of the message with the number p.sent.
func (p *pipeline) remember(n *note) {
	n.message = p.sent
	n.touches = p.touchedBy(n)
	if n.sql != "" && (p.notes.len() >= maxTexts || p.textBytes+len(n.sql) > maxTextBytes) {
		n.sql, n.in = "", nil
	}
	if p.textBytes+len(n.sql)+n.resolved.size() > maxTextBytes {
		n.resolved = nil
	}
	if n.touches {
		p.touched = true
		if n.kind != noteQuery {
			p.holding++
			p.holdingBytes += n.prepared.size()
			if p.unsettled == 0 {
				p.foresee().apply(n)
			}
		}
	}
	if n.touches || n.hidden || n.prepared != nil || n.sql != "" || n.statement != "" && n.kind != noteBind {
		p.textBytes += len(n.sql) + n.resolved.size()
		p.notes.push(*n)
	}
}

// touchedBy tells whether the message of a note may change the holdings, or depend
// on them, once the server gets to it.
func (p *pipeline) touchedBy(n *note) bool {
	switch {
	case n.kind == noteQuery:
		return n.prepared != nil && n.prepared.effects != nil
	case n.prepared != nil:
		return true
	case p.holding == 0 && len(p.done.statements) == 0 && len(p.done.portals) == 0:
		return false
	case p.unsettled > 0:
		return true // it is not known yet what the names will stand for
	default:
		return p.foresee().touchedBy(n)
	}
}

// current returns the note of the message that the server is at, or nil.
func (p *pipeline) current() *note {
	if p.notes.len() > 0 && p.notes.at(0).message == p.at {
		return p.notes.at(0)
	}
	return nil
}

// forget drops the notes of messages before the one that the server is at.
func (p *pipeline) forget() {
	for p.notes.len() > 0 && p.notes.at(0).message < p.at {
		n := p.notes.at(0)
		p.textBytes -= len(n.sql) + n.resolved.size()
		if n.touches && n.kind != noteQuery {
			p.holding--
			p.holdingBytes -= n.prepared.size()
		}
		p.notes.pop()
	}
}
